// The layers of a pixel of a training run, as numbers and in words, and which of them matter.
import type {Layer} from "#components"

const MOST = 9 // layers that get their own row
const LEAST = 0.001 // the share of the pixel below which a layer gets no row

export const percent = (part: number) => `${(100 * part).toFixed(1)}%`
export const times = (n: number, word: string) => `${n} ${word}${n === 1 ? "" : "s"}`
export const share = ([, , , before, after]: Layer) => before - after

/** The layers that get their own row, front to back, and how many others can and cannot be seen. */
export function chosenLayers(layers: Layer[]) {
  const visible = [...layers].sort((a, b) => share(b) - share(a)).filter((layer) => share(layer) >= LEAST)
  const own = new Set(visible.slice(0, MOST))
  return {own, fainter: visible.length - own.size, unseen: layers.length - visible.length}
}

/**
 * The pixel's layers in words.
 * @param here  whether they are those of a run in this browser: of the pixel alone, without its tile's list
 */
export function sentence(layers: Layer[], here = false) {
  if (!layers.length)
    return `No Gaussian ${here ? "covers this pixel" : "touches this pixel's tile"}, so only the white paper shows.`
  const {own, fainter} = chosenLayers(layers)
  const seen = `${own.size + fainter} can be seen in this pixel${fainter ? `, and the ${own.size} with the largest shares have a row` : ""}`
  const list = times(layers.length, "Gaussian")
  if (here)
    return `${list} ${layers.length === 1 ? "is" : "are"} blended here. ${seen}. Each takes the share α of the light T that those in front of it let through. ${largest(layers)}`
  return `The tiled kernels, which are shown here, list ${list} for the tile: all whose box reaches it. (The binned kernels have other lists: for tiles of 8 × 8 pixels, without Gaussians whose α stays below 1/255 there.) ${seen}. Each takes the share α of the light T that those in front of it let through. ${largest(layers)}`
}

/** The same in short, as it is announced. */
export function summary(layers: Layer[], here = false) {
  if (!layers.length) return sentence(layers, here)
  const {own, fainter} = chosenLayers(layers)
  return `${own.size + fainter} of ${times(layers.length, "Gaussian")} can be seen in this pixel. ${largest(layers)}`
}

function largest(layers: Layer[]) {
  const shares = layers.map(share)
  const best = shares.indexOf(Math.max(...shares))
  return `Gaussian ${layers[best][0]} has the largest share, ${percent(shares[best])} of the pixel.`
}
