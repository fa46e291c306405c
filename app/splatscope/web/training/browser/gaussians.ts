// The Gaussians of a run: where they begin, and where others are added, as splatscope/splat/initialise.py and densify.py have it.
import type {TrainingConstants} from "#components"
import {drawFrom, shuffle, sumsOf} from "./random.ts"

/** A photograph to fit: red, green, blue and 255 of each pixel. */
export interface Photograph {
  name: string
  width: number
  height: number
  data: Uint8ClampedArray<ArrayBuffer>
}

export interface Settings {
  /** The number of Gaussians. */
  blobs: number
  iterations: number
  seed: number
  growth: boolean
  kernels: "binned" | "tiled"
  /** Step sizes of position, shape, colour and opacity at the start. */
  rates: [number, number, number, number]
}

export const FIELDS = 9 // raw values of a Gaussian: x, y, two log sizes, angle, red, green, blue, logit of the opacity
const OPACITY = 8

/** Whether Gaussians are added during the run. */
export const grows = ({growth, kernels}: Settings) => growth && kernels === "binned"

/**
 * The raw values to begin with, one field after the other: half of the Gaussians at random places, half where the picture changes fast.
 * Those that are added later are hidden.
 */
export function begin(photograph: Photograph, settings: Settings, constants: TrainingConstants, random: () => number) {
  const {width, height} = photograph
  const count = settings.blobs
  const edges = sumsOf(slopes(photograph))
  const onEdges = Array.from({length: Math.ceil(count / 2)}, () => drawFrom(edges, random() * edges[edges.length - 1]))
  const anywhere = Array.from({length: Math.floor(count / 2)}, () => Math.floor(random() * width * height))
  const pixels = shuffle([...onEdges, ...anywhere], random)
  const raw = new Float32Array(FIELDS * count)
  const size = logSize(constants.startSize, photograph, count)
  pixels.forEach((pixel, i) => {
    const colours = [0, 1, 2].map((channel) => photograph.data[4 * pixel + channel] / 255)
    const x = (pixel % width) + random() - 0.5
    const y = Math.floor(pixel / width) + random() - 0.5
    const values = [x, y, size, size, Math.PI * random(), ...colours]
    values.forEach((value, field) => {
      raw[field * count + i] = value
    })
  })
  if (grows(settings)) raw.fill(constants.hidden, OPACITY * count, OPACITY * count + count - wanted(count, 0, constants))
  return raw
}

/** How much each pixel's brightness differs from its neighbours', and a little more, so that none is left out. */
function slopes({width, height, data}: Photograph) {
  const bright = (x: number, y: number) => {
    const at = 4 * (y * width + x)
    return (data[at] + data[at + 1] + data[at + 2]) / (3 * 255)
  }
  const apart = (place: number, end: number, at: (place: number) => number) => {
    const [before, after] = [Math.max(0, place - 1), Math.min(end - 1, place + 1)]
    return after > before ? Math.abs(at(after) - at(before)) / (after - before) : 0
  }
  return Float64Array.from({length: width * height}, (_, pixel) => {
    const [x, y] = [pixel % width, Math.floor(pixel / width)]
    return apart(x, width, (x) => bright(x, y)) + apart(y, height, (y) => bright(x, y)) + 1e-3
  })
}

/** The first iteration after `step` at which Gaussians are added or moved; null if there is none. */
export function nextStage(settings: Settings, step: number, constants: TrainingConstants) {
  if (!grows(settings)) return null
  const grown = constants.densifyStages * intervalOf(settings, constants)
  const every = step < grown ? intervalOf(settings, constants) : constants.moveEvery
  const stage = (Math.floor(step / every) + 1) * every
  return stage <= Math.max(grown, constants.densifyUntil * settings.iterations) ? stage : null
}

/**
 * Where Gaussians are added or moved to at an iteration: the words of `placements` in densify.slang, and how many they are.
 * @param worth  what the picture would lose without each Gaussian
 * @param error  of the picture, in the same unit
 * @param odds  of each block of pixels
 */
export function placements(
  settings: Settings,
  step: number,
  worth: Float32Array,
  error: number,
  odds: Float32Array,
  constants: TrainingConstants,
  random: () => number,
) {
  const progress = step / (constants.densifyStages * intervalOf(settings, constants))
  const missing = Math.max(0, wanted(settings.blobs, progress, constants) - worth.filter((value) => value > 0).length)
  const spare = progress > 1 ? spareOf(worth, error, constants) : 0
  const byWorth = Array.from(worth, (_, id) => id).sort((a, b) => worth[a] - worth[b] || b - a)
  const ids = byWorth.slice(0, missing + spare)
  const sums = sumsOf(odds)
  const words = new Float32Array(6 * ids.length)
  const whole = new Uint32Array(words.buffer)
  ids.forEach((id, i) => {
    const drawn = random() * sums[sums.length - 1]
    const block = drawFrom(sums, drawn)
    words.set([random() - 0.5, random() - 0.5, Math.PI * random(), drawn - (sums[block] - odds[block])], 6 * i)
    whole.set([block, id], 6 * i + 4)
  })
  return {words, count: ids.length}
}

/** How many visible Gaussians are worth so little that they are better off elsewhere. */
function spareOf(worth: Float32Array, error: number, {cheap, mostMoved}: TrainingConstants) {
  const limit = (cheap * error) / worth.length
  return Math.min(Math.floor(mostMoved * worth.length), worth.filter((value) => value > 0 && value < limit).length)
}

const intervalOf = ({iterations}: Settings, {densifyLongest, densifyUntil, densifyStages}: TrainingConstants) =>
  Math.max(1, Math.min(densifyLongest, Math.floor((densifyUntil * iterations) / densifyStages)))

/** How many Gaussians are visible after a part, 0 … 1, of all stages. */
const wanted = (count: number, progress: number, {densifyStart}: TrainingConstants) =>
  Math.ceil(count * (densifyStart + (1 - densifyStart) * Math.min(1, progress)))

/** The log size of a Gaussian so many times as large as the mean distance between them. */
export const logSize = (size: number, {width, height}: Photograph, count: number) =>
  Math.log(Math.max(0.5, size * Math.sqrt((width * height) / count)))
