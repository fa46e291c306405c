// A pixel's way through its layers and back, in the reader's browser: what lesson.py gives its kernel, and what the drawing shows.
import kernel from "./kernel.wgsl.json" with {type: "json"}
import type {Live} from "#web/drawing/live.ts"
import type {Facts, Values} from "./drawing.ts"

const CLAMP = 0.99
const COLOURS = [
  [0, 114, 178],
  [230, 159, 0],
  [0, 158, 115],
  [204, 121, 167],
  [86, 180, 233],
  [213, 94, 0],
  [240, 228, 66],
  [140, 140, 140],
]

export const live: Live<Facts, Values> = {
  kernel,

  inputs({count, clamped, alphas}) {
    const layers = alphas.slice(0, count).flatMap((alpha, i) => [...COLOURS[i].map((part) => part / 255), alpha])
    return {
      buffers: {
        layers: Float32Array.from(layers),
        forward: new Float32Array(4 * (count + 1)),
        backward: new Float32Array(4 * (count + 1)),
        apart: new Float32Array(4 * count),
      },
      uniforms: {count: [count], maxWeight: [clamped ? CLAMP : 1]},
      groups: [1, 1, 1],
      group: [0, 0, 0],
    }
  },

  facts(found, {count, clamped}, before) {
    const turn = found.writes("backward")[0]
    const counted = found.all("thereAndBack", "state.finalCount").filter(({step}) => step < turn)
    return {
      ...before,
      count,
      blended: counted.at(-1)?.numbers[0] ?? 0,
      alphas: found
        .all("thereAndBack", "layer")
        .slice(0, count)
        .map(({numbers}) => numbers[3]),
      most: clamped ? CLAMP : 1,
    }
  },

  stops: (found) => [...found.writes("forward").slice(1), ...found.writes("apart")],
}
