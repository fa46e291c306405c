// A learner's attempts at each task. They are stored in this browser only, and saved and loaded with the reader's progress.
import {remember, remembered} from "./stored.js"

/**
 * @typedef {object} Attempt
 * @property {string} [source]  the editor's text, if it differs from the start
 * @property {number} tries  number of kernels that were marked
 * @property {number} hints  number of hints that were opened
 * @property {string} [solved]  the day it was solved, YYYY-MM-DD
 * @property {boolean} [pending]  whether a kernel was submitted and no answer has arrived
 * @property {boolean} [seen]  whether the solution was shown before it was solved
 */
/** @typedef {Record<string, Attempt>} Attempts  by the name of the task */

const KEY = "splatscope-exercises"
const MOST_SOURCE = 64 * 1024
const MOST_TASKS = 500
/** @type {Set<() => void>} */
const listeners = new Set()

let listening = false

const changed = () => {
  for (const listener of listeners) listener()
}

/**
 * Call back whenever attempts change, in this window or another one.
 * @param {() => void} listener
 * @returns {() => void} ends it
 */
export function onAttempts(listener) {
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

/**
 * The attempt at a task.
 * @param {string} name
 * @returns {Attempt}
 */
export const attempt = (name) => attempts()[name] ?? {tries: 0, hints: 0}

/**
 * Store a change of an attempt.
 * @param {string} name
 * @param {Partial<Attempt>} change
 */
export function note(name, change) {
  keep({...attempts(), [name]: {...attempt(name), ...change}})
}

/**
 * Merge the attempts in a file with those stored here. For each task, the one that has got further is kept.
 * No kernel of a file waits to be marked: that takes a press.
 * @param {unknown} given
 * @returns {number} number of tasks that are newly solved
 */
export function takeIn(given) {
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

/** @param {Attempts} next */
export function keep(next) {
  remember(KEY, JSON.stringify(next))
  changed()
}

/**
 * Keep the valid attempts of a value from outside.
 * @param {unknown} given
 * @returns {Attempts}
 */
export function valid(given) {
  if (typeof given !== "object" || given === null) return {}
  const entries = Object.entries(given).filter(([name, one]) => /^[\w-]{1,60}$/.test(name) && typeof one === "object" && one)
  return Object.fromEntries(entries.slice(0, MOST_TASKS).map(([name, one]) => [name, validOne(one)]))
}

/**
 * @param {Record<string, unknown>} one
 * @returns {Attempt}
 */
function validOne({source, tries, hints, solved, seen, pending}) {
  const count = (/** @type {unknown} */ n) => (Number.isInteger(n) && Number(n) >= 0 ? Number(n) : 0)
  return {
    tries: count(tries),
    hints: count(hints),
    ...(typeof source === "string" && source.length <= MOST_SOURCE && {source}),
    ...(typeof solved === "string" && /^\d{4}-\d\d-\d\d$/.test(solved) && {solved}),
    ...(seen === true && {seen}),
    ...(pending === true && {pending}),
  }
}
