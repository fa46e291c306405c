// Three Gaussians in training, in the reader's browser: what lesson.py gives its kernel, and what the drawing shows.
import kernel from "./kernel.wgsl.json" with {type: "json"}
import {bytesIn, type Live, rawOf, sceneOf} from "#web/drawing/live.ts"
import type {Facts} from "./drawing.ts"

interface Values {
  rate: number
  beta1: number
  beta2: number
  correction: string
}

const RATES = [1, 0.2, 0.15, 0.5] // of positions, shapes, colours and opacities, in that of a position
const RATE_OF_FIELD = [0, 0, 1, 1, 1, 2, 2, 2, 3] // as `rateOf` in adam.slang
const PIECE = [8, 4] // pixels of the picture that the workgroup covers at once
const START = [
  {center: [3, 3], size: [2, 1.6], angle: 0.4},
  {center: [11, 4.5], size: [2.5, 1.5], angle: 1},
  {center: [7, 9], size: [1.7, 2.1], angle: 0.2},
].map((placed) => ({...placed, color: [0.5, 0.5, 0.5], alpha: 0.6}))
const BLOTS = [
  {x: 5, y: 5, radius: 6, ink: [0, 0.35, 0.7]},
  {x: 11, y: 3, radius: 5, ink: [0.85, 0.45, 0.05]},
  {x: 9.5, y: 8.5, radius: 7, ink: [0.1, 0.6, 0.4]},
]

export const live: Live<Facts, Values> = {
  kernel,

  inputs({rate, beta1, beta2, correction}, _options, {size, names, frames}) {
    const [count, iterations, pixels] = [names.length, frames.length - 1, size[0] * size[1]]
    return {
      buffers: {
        blobsBuffer: rawOf(START),
        derivBuffer: new Uint32Array(count),
        firstMoment: new Float32Array(count),
        secondMoment: new Float32Array(count),
        targetBuffer: target(size),
        moves: new Float32Array(2 * count * iterations),
        frames: new Float32Array(4 * pixels * frames.length),
      },
      uniforms: {
        ...sceneOf(size, START.length),
        iterations: [iterations],
        pieces: size.map((pixels, axis) => pixels / PIECE[axis]),
        "adam.rates": RATES.map((part) => part * rate),
        "adam.beta1": [beta1],
        "adam.beta2": [beta2],
        "adam.epsilon": [1e-8],
        "adam.step": [1],
        "adam.sampleCorrection": [asSample(correction)],
      },
      groups: [1, 1, 1],
      group: [0, 0, 0],
    }
  },

  facts(found, {rate, correction}, before) {
    const threads = before.names.map((_, thread) => thread)
    const iterations = before.frames.length - 1
    const [left, moves, frames] = [found.floats("blobsBuffer"), found.floats("moves"), found.floats("frames")]
    const moved = (which: number) =>
      threads.map((thread) => {
        const field = Math.floor((thread * RATE_OF_FIELD.length) / threads.length)
        const at = (t: number) => 2 * (t * threads.length + thread) + which
        return Array.from({length: iterations}, (_, t) => -moves[at(t)] / (rate * RATES[RATE_OF_FIELD[field]]))
      })
    const numbers = (of: string, name: string, kind?: string) =>
      found.byThread(of, name, kind).map((all) => all.map((one) => one.numbers[0]))
    const second = (name: string) => numbers("adamMove", name).map((all) => all.filter((_, i) => i % 2)) // the call that counts
    const curves: Record<string, number[][]> = {
      corrected: moved(0),
      "the sample's": moved(1),
      m̂: second("mHat"),
      m: numbers("trainAlone", "firstMoment", "write"),
      g: numbers("trainAlone", "g"),
      v̂: second("vHat"),
      v: numbers("trainAlone", "secondMoment", "write"),
      "": numbers("trainAlone", "p").map((all, thread) => [...all.slice(1), left[thread]]),
    }
    const each = 4 * before.size[0] * before.size[1]
    const ends = found.byThread("trainAlone", "blobsBuffer", "write").map((all) => all.map(({step}) => step))
    return {
      ...before,
      ends: ends.slice(0, threads.length),
      rows: before.rows.map((row) => ({...row, curves: row.curves.map((one) => ({...one, values: curves[one.label]}))})),
      other: asSample(correction),
      frames: before.frames.map((_, t) => bytesIn(frames.subarray(each * t, each * (t + 1)))),
    }
  },

  stops: (found, {names}) => found.writes("blobsBuffer", names.length - 1),
}

const asSample = (correction: string) => (correction === "1 − βᵗ" ? 0 : 1)

/** The picture to fit: soft blots on white, four floats a pixel. */
function target([width, height]: number[]) {
  const picture = new Float32Array(4 * width * height).fill(1)
  for (const {x, y, radius, ink} of BLOTS)
    for (let pixel = 0; pixel < width * height; pixel++) {
      const apart = ((pixel % width) - x) ** 2 + (Math.floor(pixel / width) - y) ** 2
      const alpha = 0.9 * Math.exp(-apart / radius)
      for (const [part, one] of ink.entries()) picture[4 * pixel + part] = picture[4 * pixel + part] * (1 - alpha) + one * alpha
    }
  return picture
}
