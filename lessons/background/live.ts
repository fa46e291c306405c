// One Gaussian on white paper, in the reader's browser: what lesson.py gives its kernel, and what the drawing shows.
import kernel from "./kernel.wgsl.json" with {type: "json"}
import {type Live, rawOf, sceneOf} from "#web/drawing/live.ts"
import type {Facts} from "./drawing.ts"

interface Values {
  T: number
  colour: keyof typeof COLOURS
}

const COLOURS = {white: [1, 1, 1], orange: [0.9, 0.6, 0.1], pink: [0.85, 0.4, 0.6], grey: [0.5, 0.5, 0.5]}
const SIZE: [number, number] = [8, 4] // of the tile, in pixels
const LAST = SIZE[0] * SIZE[1] - 1 // thread

export const live: Live<Facts, Values> = {
  kernel,

  inputs({T, colour}) {
    const outputs = () => new Float32Array(4 * (LAST + 1))
    const gaussian = {center: [3, 1], size: [1.8, 1], angle: 0.35, color: COLOURS[colour], alpha: 1 - T}
    return {
      buffers: {blobsBuffer: rawOf([gaussian]), gathered: outputs(), asItShould: outputs(), inSample: outputs()},
      uniforms: {...sceneOf(SIZE, 1), "scene.maxWeight": [1]},
      groups: [1, 1, 1],
      group: [0, 0, 0],
    }
  },

  facts(found, _, before) {
    const pixels = (name: string) => {
      const floats = found.floats(name)
      return Array.from({length: LAST + 1}, (_, pixel) => [...floats.subarray(4 * pixel, 4 * pixel + 4)])
    }
    return {
      ...before,
      T: pixels("gathered").map(([, , , T]) => T),
      right: pixels("asItShould").map((pixel) => pixel.slice(0, 3)),
      inSample: pixels("inSample").map((pixel) => pixel.slice(0, 3)),
    }
  },

  stops(found) {
    const layer = found.byThread("layOnWhite", "layer")[LAST].at(-1)?.step ?? 0
    return [layer, ...["gathered", "asItShould", "inSample"].map((name) => found.writes(name, LAST).at(-1) ?? 0)]
  },
}
