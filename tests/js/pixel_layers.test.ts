// What a pixel of a training run is made of: the numbers of its sentence and of its rows agree.
import assert from "node:assert/strict"
import {test} from "node:test"
import {chosenLayers, sentence, summary} from "#web/training/pixel_layers.ts"

/** Layers of these shares, front to back. */
const layersOf = (shares: number[]): [number, string, number, number, number][] => {
  let left = 1
  return shares.map((share, id) => {
    const before = left
    left -= share
    return [id, "red", share / before, before, left]
  })
}

test("all that can be seen are counted: those with a row, and those without", () => {
  const layers = layersOf([...Array(9).fill(0.05), ...Array(4).fill(0.01), ...Array(59).fill(0.0001)])
  const {own, fainter, unseen} = chosenLayers(layers)
  assert.deepEqual([own.size, fainter, unseen], [9, 4, 59])
  assert.match(
    sentence(layers),
    /list 72 Gaussians for the tile: .*\) 13 can be seen in this pixel, and the 9 with the largest shares have a row\. /,
  )
})

test("where each that can be seen has a row, nothing is said of rows", () => {
  const layers = layersOf([0.5, 0.0001, 0.2])
  assert.deepEqual(chosenLayers(layers).own, new Set([layers[0], layers[2]]))
  assert.match(sentence(layers), /\) 2 can be seen in this pixel\. Each/)
  assert.match(sentence(layers, true), /^3 Gaussians are blended here\. 2 can be seen in this pixel\. Each/)
  assert.equal(summary(layers), "2 of 3 Gaussians can be seen in this pixel. Gaussian 0 has the largest share, 50.0% of the pixel.")
})
