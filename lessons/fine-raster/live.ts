// A tile that blends its list, in the reader's browser: what lesson.py gives its kernel, and what the drawing shows.
import kernel from "./kernel.wgsl.json" with {type: "json"}
import {type Live, rawOf, sceneOf} from "#web/drawing/live.ts"
import type {Facts} from "./drawing.ts"

interface Values {
  count: number
  opacity: number
  spread: number
  seed: number
}

const SMALLEST = 0.31 // pixels

export const live: Live<Facts, Values> = {
  kernel,

  inputs({count, opacity, spread, seed}, _, {size, scene}) {
    if (seed !== scene.seed) return null // the server draws the places
    const gaussians = scene.gaussians.slice(0, count).map(([x, y, first, second, angle, ...color]) => ({
      center: [x, y],
      size: [first, second].map((one) => Math.max(SMALLEST, spread * one)),
      angle,
      color,
      alpha: opacity,
    }))
    return {
      buffers: {
        blobsBuffer: rawOf(gaussians),
        ids: Uint32Array.from({length: count}, (_, id) => id),
        picture: new Float32Array(4 * size[0] * size[1]),
      },
      uniforms: {...sceneOf(size, count), count: [count]},
      groups: [1, 1, 1],
      group: [0, 0, 0],
    }
  },

  facts(found, {count}, before) {
    const numbers = (of: string, name: string) => found.byThread(of, name).map((values) => values.map((value) => value.numbers))
    const counts = found.byThread("fineRasterize", "state.finalCount")
    return {
      ...before,
      count,
      states: numbers("fineRasterize", "state.value"),
      layers: numbers("transformPixelState", "gval"),
      counts: counts.map((values) => values.map((value) => value.numbers[0])),
      ends: counts.map((values) => values.map((value) => value.step)),
    }
  },

  stops(found, {ends}) {
    const last = ends.length - 1
    return [...ends[last].slice(1), found.writes("finalVal", last).at(-1) ?? 0]
  },
}
