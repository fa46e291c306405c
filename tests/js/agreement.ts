// How a recording that the browser made differs from the server's of the same inputs. tests/helpers/agreement.py makes a script of it.
import {recordingOf} from "#web/recording/raw_records.ts"
import {type Recording, unpack} from "#web/recording/recording.ts"
import {Found, type Live, roomFor} from "#web/drawing/live.ts"
import {gpu} from "#web/runtime/gpu.ts"
import {Recorder} from "#web/runtime/recorder.ts"

/** `OPAQUE` of shaders/common/blending.slang: the transmittance below which a pixel takes no further layer. */
const OPAQUE = 1 / 255
/** Two devices round a transmittance so far apart. One as close to the threshold may be below it on one of them alone. */
const ROUNDING = 1e-6

export interface Difference {
  /** The threads that do other things here than there, each in a sentence. */
  parted: string[]
  /** How many threads part while one of their values lies within rounding of the threshold. They are compared up to there. */
  rounded: number
  /** The largest difference between two floats, relative to 1 and to themselves. */
  most: number
}

/** Compare two recordings thread by thread, as which goes first is up to the device, and what all workgroups left in buffers. */
export function differenceOf(ours: Recording, theirs: Recording): Difference {
  const difference: Difference = {parted: [], rounded: 0, most: 0}
  const [mine, others] = [read(ours), read(theirs)]
  for (let thread = 0; thread < theirs.threads; thread++) compare(thread, mine, others, difference)
  if (difference.rounded) return difference
  for (const [i, {name, parts, data}] of theirs.outputs.entries()) {
    if (name === "apart" || !parts.every(([, scalar]) => scalar === "float")) continue
    const [here, there] = [ours.outputs[i].data, data].map((words) => new Float32Array(Uint32Array.from(words).buffer))
    for (let at = 0; at < Math.min(here.length, there.length); at++)
      difference.most = Math.max(difference.most, Math.abs(there[at] - here[at]) / (1 + Math.abs(there[at])))
  }
  return difference
}

function compare(thread: number, [ours, here]: Read, [theirs, there]: Read, difference: Difference) {
  const latest = new Map<number, number[]>() // by site, the floats that both recorded last
  const nearest = () => Math.min(...[...latest.values()].flat().map((value) => Math.abs(value - OPAQUE)))
  for (let n = 0; n < Math.max(ours.count(thread), theirs.count(thread)); n++) {
    const [mine, other] = [ours.nth(thread, n), theirs.nth(thread, n)]
    const isSame = ours.site[mine] === theirs.site[other] && ours.flags[mine] === theirs.flags[other]
    if (!isSame || placeOf(ours, mine) !== placeOf(theirs, other)) {
      const [line, otherLine] = [ours.about(mine)?.line, theirs.about(other)?.line]
      const words = `is on line ${line} here and on line ${otherLine} there, ${nearest()} from the threshold`
      if (nearest() < ROUNDING) difference.rounded++
      else difference.parted.push(`At its event ${n}, thread ${thread} ${words}.`)
      return
    }
    const {type, name} = theirs.about(other)
    if (!type?.startsWith("float") || name === "apart") continue // apart is rounding itself, in units in the last place
    const [first, otherFirst] = [ours.wordAt[mine], theirs.wordAt[other]]
    const last: number[] = []
    for (let at = 0; at < theirs.wordAt[other + 1] - otherFirst; at++) {
      const [value, expected] = [here[first + at], there[otherFirst + at]]
      if (value !== expected) difference.most = Math.max(difference.most, Math.abs(value - expected) / (1 + Math.abs(expected)))
      last.push(value, expected)
    }
    latest.set(theirs.site[other], last)
  }
}

/** The cell or variable that an event accesses, by a name that does not depend on what else a recording has. */
function placeOf(recording: Recording, event: number) {
  const cell = recording.cellOf(event)
  if (!cell) return recording.variables[recording.target[event] - 1]?.name ?? ""
  const memory = recording.memories[cell.memory]
  return `${memory.name} ${memory.index(cell.cell)}`
}

/** A recording, and all its words as floats. */
type Read = [recording: Recording, floats: Float32Array]

const read = (recording: Recording): Read => [recording, new Float32Array(Uint32Array.from(recording.words).buffer)]

/** What the server made of some inputs. */
interface Made {
  values: unknown
  facts: unknown
  options: unknown
  /** The packed recording, in base 64. */
  recording: string
}

let recorder: Promise<Recorder | null> | null = null
let latest: Recording | null = null // that was made here, of which the next keeps what stays the same

/** Record the same here and compare; null if the section leaves these inputs to the server. */
export async function agreement(live: Live<unknown, unknown, unknown>, {values, facts, options, recording}: Made) {
  recorder ??= gpu().then((device) => device && Recorder.on(device, live.kernel))
  const [recorded, theirs] = [
    await recorder,
    await unpack(Uint8Array.from(atob(recording), (character) => character.charCodeAt(0))),
  ]
  const inputs = live.inputs(values, options, facts)
  if (!recorded || !inputs) return null
  const run = await recorded.record(inputs, roomFor(theirs))
  const ours = recordingOf(run, live.kernel.batches, latest ?? theirs)
  latest = ours
  if (!ours) throw new Error("What the browser recorded is none of this kernel.")
  live.facts(new Found(ours, run.after), values, facts, options)
  return differenceOf(ours, theirs)
}

Object.assign(globalThis, {differenceOf, agreement})
