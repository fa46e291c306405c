// What the kernel finds out about the chosen pixel, in which order, and how its parts are written.

/**
 * @typedef {object} Seen  what the kernel finds out about the chosen pixel
 * @property {[number, number]} size  of the Gaussian along its axes, in pixels
 * @property {number} opacity
 * @property {[number, number]} offset  from the centre, in pixels
 * @property {[number, number]} turned
 * @property {[number, number]} scaled
 * @property {number} distance  in sizes
 * @property {number} falloff
 * @property {number} alpha
 * @property {number} light  the share of the paper
 * @property {[number, number, number]} color
 *
 * @typedef {object} Facts
 * @property {[number, number]} size  of the picture
 * @property {[number, number]} pixel
 * @property {number[]} numbers  the nine
 * @property {[low: number, high: number][]} ranges  of the nine
 * @property {number} thinnest  what the kernel adds to each size, in pixels
 * @property {string} picture  RGB bytes in base 64
 * @property {[distance: number, falloff: number, alpha: number][]} dots
 * @property {Seen} seen
 * @property {number[]} ends  the step that ends each stage
 */

/** Stages of the kernel, in order, by which parts of the drawing become known. */
export const STAGE = {numbers: 0, size: 1, offset: 2, turned: 3, distance: 4, falloff: 5, alpha: 6, layer: 7, color: 8}

/**
 * A share from 0 to 1 in words; a small one is not said to be none.
 * @param {number} share
 */
export const shareText = (share) => (share > 0 && share < 0.0005 ? "< 0.001" : share.toFixed(3))

/** @param {number[]} colour */
export const cssOf = (colour) => `rgb(${colour.map((part) => Math.round(255 * Math.min(1, Math.max(0, part)))).join(" ")})`
