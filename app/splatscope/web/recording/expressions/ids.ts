// The ids of a thread: its number, its place in the workgroup and in the dispatch, its wave and lane; and its current line.
import {type Quantity, scalar, vector} from "./quantities.ts"
import type {Recording} from "#web/recording/recording.ts"
import type {State} from "#web/recording/state.ts"

type Id = (recording: Recording, thread: number, state: State) => Quantity

const IDS: Record<string, Id> = {
  thread: (_, thread) => scalar(thread, "uint"),
  lane: ({head}, thread) => scalar(thread % head.wave_size, "uint"),
  wave: ({head}, thread) => scalar(Math.floor(thread / head.wave_size), "uint"),
  wave_size: ({head}) => scalar(head.wave_size, "uint"),
  group: ({head}) => vector([...head.group], "uint"),
  line: (recording, thread, state) => scalar(recording.about(whereIs(recording, thread, state)).line, "uint"),
  event: (_, thread, state) => scalar(state.last(thread), "uint"),
  SV_GroupIndex: (_, thread) => scalar(thread, "uint"),
  SV_GroupThreadID: ({head}, thread) => vector(placeOf(thread, head.group_size), "uint"),
  SV_GroupID: ({head}) => vector([...head.group], "uint"),
  SV_DispatchThreadID: ({head}, thread) => {
    const place = placeOf(thread, head.group_size)
    return vector(
      place.map((at, i) => head.group[i] * head.group_size[i] + at),
      "uint",
    )
  },
}

/** Names of all ids. */
export const ids = new Set(Object.keys(IDS))

/** The value of an id for a thread; null if there is no id of that name. */
export const idOf = (name: string, recording: Recording, thread: number, state: State) =>
  ids.has(name) ? IDS[name](recording, thread, state) : null

/**
 * A thread's place in its workgroup, (x, y, z).
 * @param size  of the workgroup
 */
export const placeOf = (thread: number, [x, y]: number[]) => [thread % x, Math.floor(thread / x) % y, Math.floor(thread / (x * y))]

/**
 * The thread with a number or place, `25`, `1,3` or `(1, 3, 0)`; null if the text is neither.
 * @throws {Error} one line for the reader, if there is no such thread
 */
export function threadAt(text: string, {head: {group_size: size}, threads}: Recording) {
  const match = /^\s*\(?\s*(\d+)\s*(?:,\s*(\d+)\s*(?:,\s*(\d+)\s*)?)?\)?\s*$/.exec(text)
  if (!match) return null
  const [x, y, z] = match.slice(1).map((n) => (n === undefined ? -1 : +n))
  const inside = y < 0 || (x < size[0] && y < size[1] && z < size[2])
  const thread = y < 0 ? x : (Math.max(0, z) * size[1] + y) * size[0] + x
  if (!inside || thread >= threads) throw new Error(`There is no thread ${text.trim()}: the workgroup is ${size.join(" × ")}.`)
  return thread
}

/**
 * A thread's name: its number, and in a workgroup of several dimensions also its place.
 * @param size  of the workgroup
 */
export function threadName(thread: number, size: number[]) {
  if (size[1] * size[2] === 1) return String(thread)
  const place = placeOf(thread, size)
  return `${thread} (${place.slice(0, size[2] > 1 ? 3 : 2).join(", ")})`
}

/** The event that tells where a thread is: its last one, or its first one if it has none yet. */
const whereIs = (recording: Recording, thread: number, state: State) =>
  Math.max(0, (state.last(thread) || recording.nth(thread, 0) + 1) - 1)
