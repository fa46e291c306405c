// Where two recordings differ: the first different event, the first different value, and the buffers that differ at the end.
import {KIND} from "./kinds.ts"
import {number, text} from "./values.ts"
import type {Column, Part} from "#web/types.ts"
import type {Recording} from "./recording.ts"

const SHOWN = 8 // differing elements that are listed for each buffer

/** Event numbers, -1 if that recording has none. */
export type Pair = {first: number; second: number}

export interface OutputDifference {
  /** Name of the buffer. */
  name: string
  /** Elements that differ. */
  count: number
  /** Elements compared. */
  of: number
  /** The first differing elements. */
  cells: {index: number; first: string; second: string}[]
}

export interface Differences {
  /** The first event that differs. */
  event: Pair | null
  /** The first value that differs on lines that both sources have. */
  value: Pair | null
  /** One for each buffer that differs at the end. */
  outputs: OutputDifference[]
}

/**
 * Find where two recordings differ.
 *
 * Both pairs are searched thread by thread in program order, and the earliest of all threads is returned. `value` skips barriers
 * and lines that only one source has: the reader knows what a fix changes, and wants to see its effect.
 */
export function differences(first: Recording, second: Recording): Differences {
  const keys = common(first, second)
  return {
    event: earliest(first, second, (t) => [events(first, t, () => true), events(second, t, () => true)], keys),
    value: earliest(
      first,
      second,
      (t) => [
        events(first, t, (s) => keys[0][s] >= 0 && valued(first, s)),
        events(second, t, (s) => keys[1][s] >= 0 && valued(second, s)),
      ],
      keys,
    ),
    outputs: outputs(first, second),
  }
}

type SiteKeys = [Int32Array, Int32Array]

/** Whether a site's events have values. */
const valued = (recording: Recording, s: number) =>
  recording.kind[s] >= KIND.value && recording.kind[s] <= KIND.atomic && recording.width[s] > 0
/** A thread's events at sites that satisfy a condition. */
const events = (recording: Recording, t: number, wanted: (site: number) => boolean) =>
  recording.own.subarray(recording.start[t], recording.start[t + 1]).filter((e) => wanted(recording.site[e]))

/** A line without its comment and spaces. */
const written = (line: string | undefined = "") => line.replace(/\/\/.*/, "").replace(/\s+/g, "")

/**
 * Number each site. Sites that do the same on an identical line get the same number in both recordings; a site that only one of
 * them has gets a negative number.
 */
function common(first: Recording, second: Recording): SiteKeys {
  const numbers = new Map<string, number>()
  const names = [first, second].map((recording) => {
    const lines = Object.fromEntries(Object.entries(recording.head.sources).map(([file, source]) => [file, source.split("\n")]))
    return recording.sites.map((s) => [s.kind, s.function, s.name, s.path, s.type, written(lines[s.file]?.[s.line - 1])].join("\n"))
  })
  const known = names.map((list) => new Set(list))
  const keys = names.map((list, i) =>
    Int32Array.from(list, (name) => {
      const number = numbers.get(name) ?? numbers.size
      numbers.set(name, number)
      return known[1 - i].has(name) ? number : -1 - number
    }),
  )
  return [keys[0], keys[1]]
}

/**
 * The earliest pair of events that differ.
 * @param of  the events of a thread to compare
 */
function earliest(first: Recording, second: Recording, of: (thread: number) => [Column, Column], keys: SiteKeys) {
  const rank = new Uint32Array(first.length)
  first.lockstep.order.forEach((e, p) => {
    rank[e] = p
  })
  let found: Pair | null = null
  let least = Infinity
  for (let t = 0; t < Math.max(first.threads, second.threads); t++) {
    const [a, b] = of(t)
    let i = 0
    while (i < a.length && i < b.length && same(first, second, a[i], b[i], keys)) i++
    if (i === a.length && i === b.length) continue
    const at = i < a.length ? rank[a[i]] : i ? rank[a[i - 1]] + 0.5 : -0.5
    if (at >= least) continue
    least = at
    found = {first: a[i] ?? -1, second: b[i] ?? -1}
  }
  return found
}

/** Whether two events do the same with the same value. */
function same(first: Recording, second: Recording, a: number, b: number, keys: SiteKeys) {
  const s = first.site[a],
    z = second.site[b],
    from = first.wordAt[a],
    to = second.wordAt[b]
  if (keys[0][s] !== keys[1][z] || where(first, a) !== where(second, b)) return false
  for (let w = 0; w < first.width[s]; w++) if (first.words[from + w] !== second.words[to + w]) return false
  return true
}

/** The element of a memory (its index) or of a local array (its name); -1 for none. */
function where(recording: Recording, event: number) {
  const target = recording.target[event],
    found = recording.cellOf(event)
  if (!target) return -1
  return found ? recording.memories[found.memory].index(found.cell) : recording.variables[target - 1].name
}

/** How a change of the kernel changed its results: the first element that differs at the end; "" if none does. */
export function effect(before: Recording, now: Recording) {
  const [changed] = outputs(before, now)
  if (!changed) return ""
  const {name, count, cells} = changed
  const others = count > 1 ? `; ${(count - 1).toLocaleString("en")} more of ${name} changed` : ""
  return `${name}[${cells[0].index}]: ${cells[0].first} before, ${cells[0].second} now${others}.`
}

function outputs(first: Recording, second: Recording) {
  const found: OutputDifference[] = []
  for (const one of first.outputs) {
    const other = second.outputs.find((output) => output.name === one.name)
    if (!other) continue
    const cells: OutputDifference["cells"] = []
    const {stride, parts} = one,
      length = Math.min(one.data.length, other.data.length),
      of = Math.floor(length / stride)
    let count = 0
    for (let index = 0; index < of; index++) {
      const from = index * stride
      let same = true
      for (let w = from; same && w < from + stride; w++) same = one.data[w] === other.data[w]
      if (same) continue
      if (++count > SHOWN) continue
      const [first, second] = [one, other].map(({data}) => shown(data, from, parts))
      cells.push({index, first, second})
    }
    if (count) found.push({name: one.name, count, of, cells})
  }
  return found
}

/**
 * An element as shown. Members smaller than a word are left out, because they share one.
 * @param from  its first word
 */
function shown(data: Column, from: number, parts: Part[]) {
  const values = parts
    .filter(([, scalar, byte]) => byte % 4 === 0 && !/half|16|8_t/.test(scalar))
    .map(([, scalar, byte]) => text(number(data, from + byte / 4, scalar), scalar))
  return values.length === 1 ? values[0] : `(${values.join(", ")})`
}
