// A pixel's walk through its list and back, in the reader's browser: what lesson.py gives its kernel, and what the drawing shows.
import kernel from "./kernel.wgsl.json" with {type: "json"}
import type {Live} from "#web/drawing/live.ts"
import type {Facts} from "./drawing.ts"

interface Values {
  count: number
  alpha: number
  /** Whether the way back tests for layers that were left out. */
  guarded: boolean
}

const COLOURS = [
  [0, 114, 178],
  [230, 159, 0],
  [0, 158, 115],
  [204, 121, 167],
].map((colour) => colour.map((part) => part / 255))

export const live: Live<Facts, Values> = {
  kernel,

  inputs: ({count, alpha, guarded}) => ({
    buffers: {
      layers: Float32Array.from(Array.from({length: count}, (_, i) => [...COLOURS[i % COLOURS.length], alpha]).flat()),
      there: new Float32Array(4 * (count + 1)),
      thereCount: new Uint32Array(count + 1),
      back: new Float32Array(4 * (count + 1)),
      backCount: new Uint32Array(count + 1),
    },
    uniforms: {count: [count], guarded: [guarded ? 1 : 0]},
    groups: [1, 1, 1],
    group: [0, 0, 0],
  }),

  facts: (found, {count, guarded}) => ({count, guarded, blended: found.words("thereCount")[count]}),

  stops: (found) => ["thereCount", "backCount"].flatMap((name) => found.writes(name).slice(1)),
}
