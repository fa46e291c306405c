// One Gaussian's kernel in the reader's browser: what lesson.py gives it, and what the drawing shows of its recording.
import kernel from "./kernel.wgsl.json" with {type: "json"}
import {bytesIn, type Found, type Live, sceneOf} from "#web/drawing/live.ts"
import type {Followed} from "#web/drawing/pixel_picker.ts"
import type {Facts, Seen} from "./stages.ts"

export interface Values extends Followed {
  /** The nine. */
  numbers: number[]
  pixel: [x: number, y: number]
}

const SIZE: [number, number] = [60, 40] // of the picture, in pixels
const DOTS = 240 // pixels of the picture that the bell curve shows, at most
const FARTHEST = 4 // in sizes

export const live: Live<Facts, Values> = {
  kernel,

  inputs: ({numbers, pixel}) => ({
    buffers: {
      blobsBuffer: Float32Array.from(numbers),
      picture: new Float32Array(4 * SIZE[0] * SIZE[1]),
      curve: new Float32Array(4 * SIZE[0] * SIZE[1]),
    },
    uniforms: sceneOf(SIZE, 1),
    groups: [...SIZE, 1],
    group: [...pixel, 0],
  }),

  facts: (found, {numbers, pixel}, before) => ({
    ...before,
    pixel,
    numbers,
    picture: bytesIn(found.floats("picture")),
    dots: dotsOf(found.floats("curve")),
    seen: seenIn(found),
  }),
}

/** Distance, fall-off and alpha of so many pixels, the nearest first. */
function dotsOf(curve: Float32Array): Facts["dots"] {
  const near: Facts["dots"] = []
  for (let i = 0; i < curve.length; i += 4) if (curve[i] <= FARTHEST) near.push([curve[i], curve[i + 1], curve[i + 2]])
  near.sort((a, b) => a[0] - b[0])
  const count = Math.min(DOTS, near.length)
  const every = new Set(Array.from({length: count}, (_, i) => Math.floor((i * (near.length - 1)) / Math.max(1, count - 1))))
  return [...every].map((i) => near[i])
}

/** What the kernel found out about the recorded pixel. */
function seenIn(found: Found): Seen {
  const of = (name: string) => found.last("splatPixel", name)
  return {
    size: pair(of("size")),
    opacity: of("opacity")[0],
    offset: pair(of("offset")),
    turned: pair(of("turned")),
    scaled: pair(of("scaled")),
    distance: of("distance")[0],
    falloff: of("falloff")[0],
    alpha: of("alpha")[0],
    light: of("pixel")[3],
    color: [of("color")[0], of("color")[1], of("color")[2]],
  }
}

const pair = ([first, second]: number[]): [number, number] => [first, second]
