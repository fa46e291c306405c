// Where a value that is not finite came from: back through the reads and writes it was computed from.
import {KIND, numbers} from "./recording.js"

const MOST = 4000 // events looked at

export const odd = (run, event) => numbersOf(run, event).some((n) => !Number.isFinite(n))

function numbersOf(run, event) {
  const {type} = run.about(event)
  return /^(float|half|double)/.test(type ?? "") ? numbers(run.words, run.wordAt[event], type) : []
}

// {events, inputs}: from the first event that is not finite to the one asked about, each computed from the one before it; and what
// the first was computed from. Null if the event's value is finite.
export function slice(run, event) {
  if (!odd(run, event)) return null
  const sources = new Sources(run),
    child = new Map([[event, -1]])
  let first = Infinity
  for (const queue = [event]; queue.length && child.size < MOST; ) {
    const at = queue.shift(),
      wrong = sources.of(at).filter((e) => odd(run, e))
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
  constructor(run) {
    this.run = run
  }

  // The events whose values an event's was computed from.
  of(event) {
    const {run} = this
    if (run.kind[run.site[event]] === KIND.read) return this.#writer(event)
    const {reads, at, called} = this.#statement(event),
      site = run.about(event)
    const function_ = called ? run.about(Math.max(0, run.nth(run.thread[event], at))).function : site.function
    return [...reads, ...this.#variables(run.thread[event], at, function_, site.from ?? [])]
  }

  // Who wrote the cell that is read, in the device's order.
  #writer(event) {
    const {run} = this
    if (!run.place[event]) return []
    if (!this.writes) {
      this.writes = new Map()
      for (let e = 0; e < run.length; e++) {
        const k = run.kind[run.site[e]]
        if (!run.place[e] || (k !== KIND.write && k !== KIND.atomic)) continue
        if (!this.writes.has(run.place[e])) this.writes.set(run.place[e], [])
        this.writes.get(run.place[e]).push(e)
      }
    }
    const before = this.writes.get(run.place[event])?.findLast((e) => e < event)
    return before === undefined ? [] : [before]
  }

  // Back through the thread: reads of the same statement, and of a function called in it the last value that is not finite. For a
  // parameter, of the statement that calls. `at` is the turn before all of them.
  #statement(event) {
    const {run} = this,
      own = run.about(event),
      t = run.thread[event],
      reads = []
    let i = run.turn[event] - 1,
      depth = 0,
      called = false,
      inside = false
    for (; i >= 0; i--) {
      const e = run.nth(t, i),
        site = run.about(e)
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
        if (!inside && odd(run, e)) {
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
    const {run} = this,
      wanted = new Set(
        run.variables.flatMap((variable, v) =>
          variable.function === function_ && names.includes(variable.name.split(/[.[]/)[0]) ? [v] : [],
        ),
      )
    const found = []
    for (let i = turn; i >= 0 && wanted.size; i--) {
      const e = run.nth(thread, i),
        k = run.kind[run.site[e]]
      const v = k === KIND.value ? (run.about(e).variable ?? -1) : k === KIND.element ? run.place[e] - 1 : -1
      if (wanted.delete(v)) found.push(e)
    }
    return found
  }
}
