// What the section on blending shows: its layers, and what each did to the chosen pixel.
import type {Followed, PickerFacts} from "#web/drawing/pixel_picker.ts"
import type {Pixel} from "#web/runtime/followed_pixel.ts"

export interface Layer {
  /** #rrggbb. */
  colour: string
  alpha: number
  /** Number of its ellipse: a layer's own for good. */
  shape: number
}

export interface Values extends Followed {
  layers: Layer[]
  pixel: Pixel
}

export interface Blend {
  /** At the pixel. */
  alpha: number
  /** Red, green, blue, T. */
  before: number[]
  after: number[]
  /** Step at which it is blended. */
  end: number
}

/** Over: r, g, b over white. */
export type Facts = PickerFacts & {layers: Blend[]; over: number[]; stack: Layer[]}

export interface Options {
  /** The largest number of layers. */
  most: number
  /** Where a layer lies, by its `shape`: centre and size in pixels, angle. */
  shapes: [x: number, y: number, sigmaX: number, sigmaY: number, angle: number][]
}
