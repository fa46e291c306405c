// Where a value that is not finite came from: back through the reads and writes it was computed from.
import {KIND, numbers} from "./recording.js"

const MOST = 4000 // events looked at

export const isNonFinite = (recording, event) => numbersOf(recording, event).some((n) => !Number.isFinite(n))

function numbersOf(recording, event) {
  const {type} = recording.about(event)
  return /^(float|half|double)/.test(type ?? "") ? numbers(recording.words, recording.wordAt[event], type) : []
}

// {events, inputs}: from the first event that is not finite to the one asked about, each computed from the one before it; and what
// the first was computed from. Null if the event's value is finite.
export function slice(recording, event) {
  if (!isNonFinite(recording, event)) return null
  const sources = new Sources(recording),
    child = new Map([[event, -1]])
  let first = Infinity
  for (const queue = [event]; queue.length && child.size < MOST; ) {
    const at = queue.shift(),
      wrong = sources.of(at).filter((e) => isNonFinite(recording, e))
    if (!wrong.length) first = Math.min(first, at)
    for (const e of wrong)
      if (!child.has(e)) {
        child.set(e, at)
        queue.push(e)
      }
  }
  const events = []
  for (let e = first === Infinity ? event : first; e >= 0; e = child.get(e)) events.push(e)
  return {events, inputs: sources.of(events[0])}
}

class Sources {
  constructor(recording) {
    this.recording = recording
  }

  // The events whose values an event's was computed from.
  of(event) {
    const {recording} = this
    if (recording.kind[recording.site[event]] === KIND.read) return this.#writer(event)
    const {reads, at, called} = this.#statement(event),
      site = recording.about(event)
    const function_ = called ? recording.about(Math.max(0, recording.nth(recording.thread[event], at))).function : site.function
    return [...reads, ...this.#variables(recording.thread[event], at, function_, site.from ?? [])]
  }

  // Who wrote the cell that is read, in the device's order.
  #writer(event) {
    const {recording} = this
    if (!recording.target[event]) return []
    if (!this.writes) {
      this.writes = new Map()
      for (let e = 0; e < recording.length; e++) {
        const k = recording.kind[recording.site[e]]
        if (!recording.target[e] || (k !== KIND.write && k !== KIND.atomic)) continue
        if (!this.writes.has(recording.target[e])) this.writes.set(recording.target[e], [])
        this.writes.get(recording.target[e]).push(e)
      }
    }
    const before = this.writes.get(recording.target[event])?.findLast((e) => e < event)
    return before === undefined ? [] : [before]
  }

  // Back through the thread: reads of the same statement, and of a function called in it the last value that is not finite. For a
  // parameter, of the statement that calls. `at` is the turn before all of them.
  #statement(event) {
    const {recording} = this,
      own = recording.about(event),
      t = recording.thread[event],
      reads = []
    let i = recording.turn[event] - 1,
      depth = 0,
      called = false,
      inside = false
    for (; i >= 0; i--) {
      const e = recording.nth(t, i),
        site = recording.about(e)
      if (site.kind === "return" || site.kind === "call") {
        if (site.kind === "return") {
          if (depth++ === 0) inside = false
          continue
        }
        if (depth > 0) {
          depth--
          continue
        }
        if (called) break
        called = true
        continue
      }
      if (depth > 0) {
        if (!inside && isNonFinite(recording, e)) {
          reads.push(e)
          inside = true
        }
      } else if (site.kind === "read" || site.kind === "atomic") reads.push(e)
      else if (
        site.kind !== "branch" &&
        !(site.line === own.line && site.column === own.column && site.kind === own.kind && site.name !== own.name)
      )
        break
    }
    return {reads, at: i, called}
  }

  // The events that last set these variables, whole or in parts, up to a turn.
  #variables(thread, turn, function_, names) {
    const {recording} = this,
      wanted = new Set(
        recording.variables.flatMap((variable, v) =>
          variable.function === function_ && names.includes(variable.name.split(/[.[]/)[0]) ? [v] : [],
        ),
      )
    const found = []
    for (let i = turn; i >= 0 && wanted.size; i--) {
      const e = recording.nth(thread, i),
        k = recording.kind[recording.site[e]]
      const v = k === KIND.value ? (recording.about(e).variable ?? -1) : k === KIND.element ? recording.target[e] - 1 : -1
      if (wanted.delete(v)) found.push(e)
    }
    return found
  }
}
