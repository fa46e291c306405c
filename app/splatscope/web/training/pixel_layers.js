// What a pixel of a training run is made of, as numbers and in words: which of its layers count.

/**
 * A Gaussian at the pixel: its number, its colour as CSS, α, T before it and behind it.
 * @typedef {[id: number, colour: string, alpha: number, before: number, after: number]} Layer
 */

const MOST = 9 // layers that have a row of their own
const LEAST = 0.001 // a share of the pixel below which a layer has none

export const percent = (/** @type {number} */ part) => `${(100 * part).toFixed(1)}%`
export const times = (/** @type {number} */ n, /** @type {string} */ word) => `${n} ${word}${n === 1 ? "" : "s"}`
export const share = (/** @type {Layer} */ [, , , before, after]) => before - after

/**
 * The layers that have a row of their own, front to back, and how many others can be seen, or cannot.
 * @param {Layer[]} layers
 */
export function chosenLayers(layers) {
  const visible = [...layers].sort((a, b) => share(b) - share(a)).filter((layer) => share(layer) >= LEAST)
  const own = new Set(visible.slice(0, MOST))
  return {own, fainter: visible.length - own.size, unseen: layers.length - visible.length}
}

/**
 * What the pixel is made of, in words.
 * @param {Layer[]} layers
 */
export function sentence(layers) {
  if (!layers.length) return "No Gaussian touches this pixel's tile: the white paper shows."
  const shares = layers.map(share)
  const {own, fainter} = chosenLayers(layers)
  const seen = `${own.size + fainter} can be seen in this pixel${fainter ? `, and the ${own.size} that give most have a row` : ""}`
  const best = shares.indexOf(Math.max(...shares))
  const [id] = layers[best]
  const list = times(layers.length, "Gaussian") // longer than that of the kernels that train, which leave out what nobody could see
  return `The tiled kernels list ${list} for the tile; ${seen}. Each takes the share α of the light T that those in front of it let through. Gaussian ${id} gives most, ${percent(shares[best])} of the pixel.`
}
