// A section's kernel is recorded in the reader's browser while the hand moves, so that the whole figure is of the moment in hand.
import {gpu} from "#web/runtime/gpu.ts"
import {type Inputs, Recorder} from "#web/runtime/recorder.ts"
import {recordingOf} from "#web/recording/raw_records.ts"
import type {Recording} from "#web/recording/recording.ts"
import {numbers} from "#web/recording/values.ts"
import type {BrowserKernel} from "#components"

/** What a section says of its kernel, in lessons/NAME/live.ts: what lessons/NAME/lesson.py says to a device and of a recording. */
export interface Live<Facts, Values, Options = unknown> {
  kernel: BrowserKernel
  /** The dispatch for the lesson's parameters, as `job()` makes it. */
  inputs(values: Values, options: Options): Inputs
  /**
   * What the drawing shows of a recording, as `facts()` finds it.
   * @param before  the facts of another recording, for what is always the same
   */
  facts(found: Found, values: Values, before: Facts, options: Options): Facts
  /** Where → and ← stop, as `stops()` says; without it, where they stopped before. */
  stops?(found: Found, facts: Facts): number[]
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

  /** The values of a function's variable, in the device's order, each with the step at which it is set. */
  all(of: string, name: string) {
    const {recording} = this
    const found: {step: number; numbers: number[]}[] = []
    for (let event = 0; event < recording.length; event++) {
      const {kind, name: own, function: its, type} = recording.about(event)
      if (kind === "value" && own === name && its === of)
        found.push({step: event + 1, numbers: numbers(recording.words, recording.wordAt[event], type)})
    }
    return found
  }

  /** The steps at which a memory is written to. */
  writes(memory: string) {
    const {recording} = this
    const steps = Array.from({length: recording.length}, (_, event) => event + 1)
    return steps.filter((step) => {
      const {kind, name} = recording.about(step - 1)
      return kind === "write" && name === memory
    })
  }

  /** The numbers that a variable of a function had last; [] if it never had a value. */
  last = (of: string, name: string) => this.all(of, name).at(-1)?.numbers ?? []
}

/** Red, green and blue of each pixel as bytes, from its four floats. */
export const bytesIn = (picture: Float32Array) =>
  Uint8Array.from({length: (3 * picture.length) / 4}, (_, i) => {
    const part = picture[4 * Math.floor(i / 3) + (i % 3)]
    return 255 * Math.min(1, Math.max(0, part)) + 0.5
  })

/** The uniforms of a scene of so many Gaussians, as `scene_inputs` in splatscope/splat/scenes.py gives them. */
export const sceneOf = (size: [width: number, height: number], count: number) => ({
  "scene.size": size,
  "scene.blobCount": [count],
  "scene.maxWeight": [0.99],
  "scene.sampleBackground": [0],
})

/** Act once the page has shown itself. Safari cannot say when that is. */
const idle: (act: () => void) => void = globalThis.requestIdleCallback ?? ((act) => setTimeout(act, 300))

const ROOM = 64 // records of a thread beside twice those of the one that recorded most

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
  let wanted: Values | null = null
  let isRunning = false
  let isStopped = false
  let dropped = 0 // how often what was under way was dropped
  let isTold = true // whether the last run could be told by the sites of the recording that is shown
  const prepare = async () => {
    const device = await gpu()
    const compiled = device && (await Recorder.on(device, live.kernel))
    if (!isStopped) kernel = compiled
  }
  // If it fails, the figure waits for the server, as without WebGPU.
  idle(() => prepare().catch(() => {}))

  const run = async (on: Recorder) => {
    isRunning = true
    while (wanted !== null) {
      const [values, droppedBefore] = [wanted as Values, dropped]
      wanted = null
      const before = shown()
      if (!before) break
      const {recording, options} = before
      const most = Math.max(...Array.from({length: recording.threads}, (_, thread) => recording.count(thread)))
      const done = await on.record(live.inputs(values, options), 2 * most + ROOM)
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
      if (!kernel) return false
      wanted = values
      if (!isRunning)
        run(kernel).catch(() => {
          kernel = null // the device was lost
          isRunning = false
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
