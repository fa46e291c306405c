// What the kernel finds out about the chosen pixel, in which order, and how its parts are written.

/** What the kernel finds out about the chosen pixel. */
export interface Seen {
  /** Size of the Gaussian along its axes, in pixels. */
  size: [number, number]
  opacity: number
  /** From the centre, in pixels. */
  offset: [number, number]
  turned: [number, number]
  scaled: [number, number]
  /** In sizes. */
  distance: number
  falloff: number
  alpha: number
  /** The share of the paper. */
  light: number
  color: [number, number, number]
}

export interface Facts {
  /** Size of the picture. */
  size: [number, number]
  pixel: [number, number]
  /** The nine. */
  numbers: number[]
  /** Ranges of the nine. */
  ranges: [low: number, high: number][]
  /** What the kernel adds to each size, in pixels. */
  thinnest: number
  /** RGB bytes, in base 64 from Python. */
  picture: string | Uint8Array<ArrayBuffer>
  dots: [distance: number, falloff: number, alpha: number][]
  seen: Seen
  /** The step that ends each stage. */
  ends: number[]
}

/** Stages of the kernel, in order, by which parts of the drawing become known. */
export const STAGE = {numbers: 0, size: 1, offset: 2, turned: 3, distance: 4, falloff: 5, alpha: 6, layer: 7, color: 8}

/** A share from 0 to 1 in words; a small one is not said to be none. */
export const shareText = (share: number) => (share > 0 && share < 0.0005 ? "< 0.001" : share.toFixed(3))

export const cssOf = (colour: number[]) =>
  `rgb(${colour.map((part) => Math.round(255 * Math.min(1, Math.max(0, part)))).join(" ")})`
