// A learner's attempts at each task. They are stored in this browser only, and saved and loaded with the reader's progress.
import {remember, remembered} from "./stored.ts"

interface Attempt {
  /** The editor's text, if it differs from the start. */
  source?: string
  /** Number of kernels that were marked. */
  tries: number
  /** Number of hints that were opened. */
  hints: number
  /** The day it was solved, YYYY-MM-DD. */
  solved?: string
  /** Whether a kernel was submitted and no answer has arrived. */
  pending?: boolean
  /** Whether the solution was shown before it was solved. */
  seen?: boolean
}

/** By the name of the task. */
export type Attempts = Record<string, Attempt>

const KEY = "splatscope-exercises"
const MOST_SOURCE = 64 * 1024
const MOST_TASKS = 500
const listeners = new Set<() => void>()

let listening = false

const changed = () => {
  for (const listener of listeners) listener()
}

/**
 * Call back whenever attempts change, in this window or another one.
 * @returns ends it
 */
export function onAttempts(listener: () => void): () => void {
  if (!listening) window.addEventListener("storage", ({key}) => (key === KEY || key === null) && changed())
  listening = true
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** All attempts. */
export function attempts() {
  try {
    return valid(JSON.parse(remembered(KEY) ?? "null"))
  } catch {
    return {}
  }
}

/** The attempt at a task. */
export const attempt = (name: string): Attempt => attempts()[name] ?? {tries: 0, hints: 0}

/** Store a change of an attempt. */
export function note(name: string, change: Partial<Attempt>) {
  keep({...attempts(), [name]: {...attempt(name), ...change}})
}

/**
 * Merge the attempts in a file with those stored here. For each task, the one that has got further is kept.
 * No kernel of a file waits to be marked: that takes a press.
 * @returns number of tasks that are newly solved
 */
export function takeIn(given: unknown): number {
  const here = attempts(),
    there = valid(given)
  let more = 0
  for (const [name, one] of Object.entries(there)) {
    const own = here[name]
    if (own?.solved || (own && !one.solved && own.tries >= one.tries)) continue
    if (one.solved) more++
    here[name] = {...one, pending: undefined}
  }
  keep(here)
  return more
}

export function keep(next: Attempts) {
  remember(KEY, JSON.stringify(next))
  changed()
}

/** Keep the valid attempts of a value from outside. */
export function valid(given: unknown): Attempts {
  if (typeof given !== "object" || given === null) return {}
  const entries = Object.entries(given).filter(([name, one]) => /^[\w-]{1,60}$/.test(name) && typeof one === "object" && one)
  return Object.fromEntries(entries.slice(0, MOST_TASKS).map(([name, one]) => [name, validOne(one)]))
}

function validOne({source, tries, hints, solved, seen, pending}: Record<string, unknown>): Attempt {
  const count = (n: unknown) => (Number.isInteger(n) && Number(n) >= 0 ? Number(n) : 0)
  return {
    tries: count(tries),
    hints: count(hints),
    ...(typeof source === "string" && source.length <= MOST_SOURCE && {source}),
    ...(typeof solved === "string" && /^\d{4}-\d\d-\d\d$/.test(solved) && {solved}),
    ...(seen === true && {seen}),
    ...(pending === true && {pending}),
  }
}
