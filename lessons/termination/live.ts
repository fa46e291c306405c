// The walk through the layers in the reader's browser: what lesson.py gives it, and what the drawing shows of its recording.
import kernel from "./kernel.wgsl.json" with {type: "json"}
import type {Found, Live} from "#web/drawing/live.ts"
import type {Facts, Layer, Values} from "./drawing.ts"

const STEP = 1 / 255 // of a pixel's eight bits

export const live: Live<Facts, Values> = {
  kernel,

  inputs: ({count, alpha}) => ({
    buffers: {
      layers: Float32Array.from({length: 4 * count}, (_, i) => (i % 4 === 3 ? alpha : 1)),
      result: new Float32Array(8),
      finalCount: new Uint32Array(1),
    },
    uniforms: {count: [count]},
    groups: [1, 1, 1],
    group: [0, 0, 0],
  }),

  facts(found) {
    const layers = walked(found)
    return {layers, finalCount: layers.filter(({blended}) => blended).length}
  },

  stops: (_, {layers}) => layers.map(({end}) => end),
}

/** What each turn of the loop did, layer by layer. */
function walked(found: Found): Layer[] {
  const of = (name: string) => found.all("walk", name)
  const [states, counts, every] = [of("state.value"), of("state.finalCount"), of("all")]
  return every.slice(1).map(({step, numbers}, i) => ({
    before: states[i].numbers[3],
    after: states[i + 1].numbers[3],
    open: numbers[3],
    adds: Math.max(...[0, 1, 2].map((part) => numbers[part] - every[i].numbers[part])) / STEP,
    blended: counts[i + 1].numbers[0] > counts[i].numbers[0],
    end: step,
  }))
}
