// What a learner has tried of each task: kept in this browser alone, saved and loaded with the progress of the book.
import {remember, remembered} from "#web/shell/stored.js"

/**
 * @typedef {object} Attempt
 * @property {string} [source]  what is in the editor, where it is not the start
 * @property {number} tries  kernels that were marked
 * @property {number} hints  that were looked at
 * @property {string} [solved]  the day, YYYY-MM-DD
 * @property {boolean} [pending]  whether it was given to be marked and no answer has come
 * @property {boolean} [seen]  whether the solution was looked at before
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
 * Call back whenever attempts change, in this window or another.
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
 * What was tried of a task.
 * @param {string} name
 * @returns {Attempt}
 */
export const attempt = (name) => attempts()[name] ?? {tries: 0, hints: 0}

/**
 * Note what has changed.
 * @param {string} name
 * @param {Partial<Attempt>} change
 */
export function note(name, change) {
  keep({...attempts(), [name]: {...attempt(name), ...change}})
}

/**
 * Take in what a file holds, beside what is here: of each task what has come further.
 * @param {unknown} given
 * @returns {number} how many tasks more are solved
 */
export function takeIn(given) {
  const here = attempts(),
    there = valid(given)
  let more = 0
  for (const [name, one] of Object.entries(there)) {
    const own = here[name]
    if (own?.solved || (own && !one.solved && own.tries >= one.tries)) continue
    if (one.solved) more++
    here[name] = one
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
 * Of anything at all, what are attempts.
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
