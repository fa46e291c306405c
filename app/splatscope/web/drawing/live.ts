// A section's kernel is recorded in the reader's browser while the hand moves, so that the whole figure is of the moment in hand.
import {gpu} from "#web/runtime/gpu.ts"
import {type Inputs, Recorder} from "#web/runtime/recorder.ts"
import {fullest, recordingOf} from "#web/recording/raw_records.ts"
import type {Recording} from "#web/recording/recording.ts"
import {numbers} from "#web/recording/values.ts"
import type {BrowserKernel} from "#components"
import type {Site} from "#web/types.ts"

/** What a section says of its kernel, in lessons/NAME/live.ts: what lessons/NAME/lesson.py says to a device and of a recording. */
export interface Live<Facts, Values, Options = unknown> {
  kernel: BrowserKernel
  /** The dispatch for the lesson's parameters, as `job()` makes it; null if only the server can say it. */
  inputs(values: Values, options: Options, before: Facts): Inputs | null
  /**
   * What the drawing shows of a recording, as `facts()` finds it.
   * @param before  the facts of another recording, for what is always the same
   */
  facts(found: Found, values: Values, before: Facts, options: Options): Facts
  /** Where → and ← stop, as `stops()` says; without it, where they stopped before. */
  stops?(found: Found, facts: Facts): number[]
}

/** A value that a thread gave to a variable or a cell. */
interface Value {
  step: number
  thread: number
  numbers: number[]
}

/** A recording that was just made, and all that its buffers hold. */
export class Found {
  recording
  #outputs

  constructor(recording: Recording, outputs: Record<string, Uint32Array<ArrayBuffer>>) {
    this.recording = recording
    this.#outputs = outputs
  }

  /** What the kernel left in a buffer. */
  words = (name: string) => this.#outputs[name]

  /** The same as floats. */
  floats(name: string) {
    return new Float32Array(this.words(name).slice().buffer)
  }

  /** The values of a function's variable, or those that it writes to a memory, in the device's order, each with its thread and step. */
  all(of: string, name: string, kind = "value") {
    const {recording} = this
    return this.#events((site) => site.kind === kind && site.name === name && site.function === of).map((event) => ({
      step: event + 1,
      thread: recording.thread[event],
      numbers: numbers(recording.words, recording.wordAt[event], recording.about(event).type),
    }))
  }

  /** The same, of each thread. */
  byThread(of: string, name: string, kind?: string) {
    const found: Value[][] = Array.from({length: this.recording.threads}, () => [])
    for (const one of this.all(of, name, kind)) found[one.thread].push(one)
    return found
  }

  /** The steps at which a memory is written to, perhaps only by one thread. */
  writes(memory: string, by: number | null = null) {
    const {thread} = this.recording
    const written = this.#events(({kind, name}) => kind === "write" && name === memory)
    return written.filter((event) => by === null || by === thread[event]).map((event) => event + 1)
  }

  /** The events of some sites, in the device's order. */
  #events(of: (site: Site) => boolean) {
    const {sites, bySite} = this.recording
    const own = bySite.filter((_, site) => of(sites[site]))
    return own.length > 1 ? own.flatMap((events) => [...events]).sort((a, b) => a - b) : [...(own[0] ?? [])]
  }

  /** The numbers that a variable of a function had last; [] if it never had a value. */
  last = (of: string, name: string) => this.all(of, name).at(-1)?.numbers ?? []
}

/**
 * Red, green and blue of each pixel as bytes, from its four parts.
 * @param most  of a part
 */
export function bytesIn(picture: ArrayLike<number>, most = 1) {
  const bytes = new Uint8ClampedArray((3 * picture.length) / 4) // rounds, and cuts off
  const scale = 255 / most
  for (let part = 0, at = 0; part < picture.length; part++) if (part % 4 < 3) bytes[at++] = scale * picture[part]
  return new Uint8Array(bytes.buffer)
}

/** A Gaussian in the units of a lesson: pixels, radians, and parts of 1. */
export interface Gaussian {
  center: readonly number[]
  size: readonly number[]
  angle: number
  color: readonly number[]
  alpha: number
}

export const THINNEST = 0.3 // what kernels add to each size, in pixels
const LEAST = 1e-6 // of an opacity, and of what keeps it from 1

/** Raw values, one field after the other, as `gaussians` in splatscope/splat/scenes.py gives them. */
export function rawOf(gaussians: Gaussian[]) {
  const rows = gaussians.map(({center, size, angle, color, alpha}) => {
    const logSizes = size.map((one) => Math.log(Math.max(LEAST, one - THINNEST)))
    const opacity = Math.min(1 - LEAST, Math.max(LEAST, alpha))
    return [...center, ...logSizes, angle, ...color, Math.log(opacity / (1 - opacity))]
  })
  return Float32Array.from(rows[0].flatMap((_, field) => rows.map((values) => values[field])))
}

/** The uniforms of a scene of so many Gaussians, as `scene_inputs` in splatscope/splat/scenes.py gives them. */
export const sceneOf = (size: [width: number, height: number], count: number) => ({
  "scene.size": size,
  "scene.blobCount": [count],
  "scene.maxWeight": [0.99],
  "scene.sampleBackground": [0],
})

/** Act once the page has shown itself. Safari cannot say when that is. */
const idle: (act: () => void) => void = globalThis.requestIdleCallback ?? ((act) => setTimeout(act, 300))

/** How many records each thread may write if the one that wrote most wrote so many. All of them are read back. */
const ample = (records: number) => 64 + Math.ceil(1.5 * records)

/** The same for a recording of the kernel with other inputs. An event may take several records. */
export const roomFor = (recording: Recording) =>
  ample(2 * Math.max(...Array.from({length: recording.threads}, (_, thread) => recording.count(thread))))

/**
 * Record a section's kernel as fast as the device can, always with the latest values.
 * @param shown  the recording and the facts that are shown
 * @param show  shows those that were made
 */
export function follower<Facts, Values, Options>(
  live: Live<Facts, Values, Options>,
  shown: () => {recording: Recording; facts: Facts; options: Options} | null,
  show: (made: {recording: Recording; facts: Facts; values: Values; stops?: number[]}) => void,
) {
  let kernel: Recorder | null = null
  let wanted: {values: Values; inputs: Inputs} | null = null
  let isRunning = false
  let isStopped = false
  let dropped = 0 // how often what was under way was dropped
  let room = 0 // records of each thread
  let isTold = true // whether the last run could be told by the sites of the recording that is shown
  const prepare = async () => {
    const device = await gpu()
    const compiled = device && (await Recorder.on(device, live.kernel))
    if (isStopped) return
    kernel = compiled
    device?.lost.then(() => {
      kernel = null
      if (!isStopped) return prepare().catch(() => {}) // on another, if the browser gives one
    })
  }
  // If it fails, the figure waits for the server, as without WebGPU.
  idle(() => prepare().catch(() => {}))

  const run = async (on: Recorder) => {
    isRunning = true
    while (wanted !== null) {
      const [{values, inputs}, droppedBefore] = [wanted as NonNullable<typeof wanted>, dropped]
      wanted = null
      const before = shown()
      if (!before) break
      const {recording, options} = before
      room = Math.min(room || roomFor(recording), on.mostRoom)
      let done = await on.record(inputs, room)
      if (fullest(done) === room && room < on.mostRoom) {
        room = Math.min(2 * room, on.mostRoom)
        done = await on.record(inputs, room)
      }
      if (ample(fullest(done)) < room / 2) room = ample(fullest(done))
      const made = recordingOf(done, live.kernel.batches, recording)
      if (dropped !== droppedBefore) continue
      const now = shown()
      isTold = made !== null
      if (!made || !now) continue
      const found = new Found(made, done.after)
      const facts = live.facts(found, values, now.facts, options)
      show({recording: made, facts, values, stops: live.stops?.(found, facts)})
    }
    isRunning = false
  }

  return {
    /** Record with these values next. Returns false if this browser cannot, or could not show the values before these. */
    follow(values: Values) {
      const before = shown()
      const inputs = kernel && before && live.inputs(values, before.options, before.facts)
      if (!kernel || !inputs) return false
      wanted = {values, inputs}
      if (!isRunning)
        run(kernel).catch(() => {
          wanted = null // the device was lost, or can do no more
          isRunning = false
          kernel = null
        })
      return isTold
    },
    /** Show nothing of what is under way: the lesson's own recording has come. */
    drop() {
      wanted = null
      dropped++
    },
    /** Record no more. */
    stop() {
      isStopped = true
      wanted = null
      kernel?.close()
      kernel = null
    },
  }
}
