// The stack's kernel in the reader's browser: what lesson.py gives it, and what the drawing shows of its recording.
import kernel from "./kernel.wgsl.json" with {type: "json"}
import {bytesIn, type Found, type Live, rawOf, sceneOf} from "#web/drawing/live.ts"
import type {Blend, Facts, Layer, Options, Values} from "./stack.ts"

const SIZE: [number, number] = [40, 30] // of the picture, in pixels

export const live: Live<Facts, Values, Options> = {
  kernel,

  inputs: ({layers, pixel}, {shapes}) => ({
    buffers: {
      blobsBuffer: rawOf(layers.map((layer) => gaussianOf(layer, shapes))),
      picture: new Float32Array(4 * SIZE[0] * SIZE[1]),
    },
    uniforms: sceneOf(SIZE, layers.length),
    groups: [...SIZE, 1],
    group: [...pixel, 0],
  }),

  facts(found, {layers, pixel}, before, {shapes}) {
    const picture = found.floats("picture")
    const at = 4 * (pixel[1] * SIZE[0] + pixel[0])
    return {
      ...before,
      pixel,
      picture: bytesIn(picture),
      layers: blendsIn(found),
      over: [...picture.subarray(at, at + 3)],
      stack: layers,
      ellipses: layers.map(({shape}) => shapes[shape]),
    }
  },

  stops: (_, {layers}) => layers.map(({end}) => end),
}

function gaussianOf({colour, alpha, shape}: Layer, shapes: Options["shapes"]) {
  const [x, y, first, second, angle] = shapes[shape]
  const color = [1, 3, 5].map((i) => Number.parseInt(colour.slice(i, i + 2), 16) / 255)
  return {center: [x, y], size: [first, second], angle, color, alpha}
}

/** What each layer did to the recorded pixel. */
function blendsIn(found: Found): Blend[] {
  const before = found.all("transformPixelState", "pixel.value")
  const after = found.all("blendPixel", "state.value").slice(1)
  const ends = found.all("blendPixel", "state.finalCount").slice(1)
  return found.all("blendPixel", "gval").map(({numbers: [, , , alpha]}, i) => ({
    alpha,
    before: before[i].numbers,
    after: after[i].numbers,
    end: ends[i].step,
  }))
}
