// Finds the origin of a value that is NaN or infinite: a dynamic backward slice through the reads and writes it was computed from.
import {KIND} from "./kinds.ts"
import {isFloat, numbers} from "./values.ts"
import type {Recording} from "./recording.ts"

const MOST = 4000 // events to visit

export interface Slice {
  /** From the first that is not finite to the given one, each computed from the previous one. */
  events: number[]
  /** The events that the first one was computed from. */
  inputs: number[]
}

/** Whether any part of an event's value is NaN or infinite. */
export function isNonFinite(recording: Recording, event: number) {
  const {type} = recording.about(event)
  return isFloat(type) && numbers(recording.words, recording.wordAt[event], type).some((n) => !Number.isFinite(n))
}

/**
 * Trace a value that is not finite back to its origin.
 * @returns null if the event's value is finite
 */
export function slice(recording: Recording, event: number): Slice | null {
  if (!isNonFinite(recording, event)) return null
  const sources = new Sources(recording)
  const cameTo = new Map<number, number>([[event, -1]]) // by event, the event that was computed from it
  const queue = [event]
  let first = Infinity
  for (let i = 0; i < queue.length && cameTo.size < MOST; i++) {
    const at = queue[i],
      wrong = sources.of(at).filter((e) => isNonFinite(recording, e))
    if (!wrong.length) first = Math.min(first, at)
    for (const e of wrong) {
      if (cameTo.has(e)) continue
      cameTo.set(e, at)
      queue.push(e)
    }
  }
  const events = []
  for (let e = first === Infinity ? event : first; e >= 0; e = cameTo.get(e) ?? -1) events.push(e)
  return {events, inputs: sources.of(events[0])}
}

/** Finds the events that an event was computed from. */
class Sources {
  #writes: Map<number, number[]> | null = null // by cell, in the device's order
  recording: Recording

  constructor(recording: Recording) {
    this.recording = recording
  }

  /** The events from whose values an event's value was computed. */
  of(event: number): number[] {
    const {recording} = this
    if (recording.kind[recording.site[event]] === KIND.read) return this.#writer(event)
    const {reads, at, called} = this.#statement(event),
      site = recording.about(event)
    const scope = called ? recording.about(Math.max(0, recording.nth(recording.thread[event], at))).function : site.function
    return [...reads, ...this.#variables(recording.thread[event], at, scope, site.origins ?? [])]
  }

  /** The event that wrote the cell before this read, in the device's order. */
  #writer(event: number) {
    const {target} = this.recording
    if (!target[event]) return []
    this.#writes ??= this.#allWrites()
    const before = this.#writes.get(target[event])?.findLast((e) => e < event)
    return before === undefined ? [] : [before]
  }

  #allWrites() {
    const {recording} = this
    const writes = new Map<number, number[]>()
    for (let e = 0; e < recording.length; e++) {
      const k = recording.kind[recording.site[e]],
        target = recording.target[e]
      if (!target || (k !== KIND.write && k !== KIND.atomic)) continue
      const others = writes.get(target)
      if (others) others.push(e)
      else writes.set(target, [e])
    }
    return writes
  }

  /**
   * Go back through the thread's events: the reads of the same statement, and for a function called in it, its last value that is
   * not finite; for a parameter, those of the calling statement. `at` is the number, among the thread's events, of the one before
   * these.
   */
  #statement(event: number) {
    const {recording} = this,
      own = recording.about(event),
      t = recording.thread[event]
    const reads: number[] = []
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

  /**
   * The events that last set these variables, wholly or in parts, up to one of the thread's events.
   * @param scope  the function they belong to
   */
  #variables(thread: number, turn: number, scope: string | undefined, names: string[]) {
    const {recording} = this,
      wanted = new Set(
        recording.variables.flatMap((variable, v) =>
          variable.function === scope && names.includes(variable.name.split(/[.[]/)[0]) ? [v] : [],
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
