// The reader's answers and bets. They are stored in this browser only, and saved and loaded with the reader's progress.
import {remember, remembered} from "./stored.js"

const KEY = "splatscope-answers"
const MOST = 500 // answers; older ones are dropped
const LONGEST = 300 // characters of an answer

/** @typedef {Record<string, string>} Answers  by the mark of a question: the chosen option */

/**
 * The mark of a question: its page, and a hash of its text.
 * @param {string} page
 * @param {string} asked
 */
export function markOf(page, asked) {
  let number = 5381
  for (const character of asked) number = (Math.imul(number, 33) ^ (character.codePointAt(0) ?? 0)) >>> 0
  return `${page}-${number.toString(36)}`
}

/** All answers. */
export function answers() {
  try {
    return validAnswers(JSON.parse(remembered(KEY) ?? "null"))
  } catch {
    return {}
  }
}

/** @param {Answers} next */
export function keepAnswers(next) {
  remember(KEY, JSON.stringify(Object.fromEntries(Object.entries(next).slice(-MOST))))
}

/**
 * Store an answer.
 * @param {string} mark
 * @param {string} option
 */
export function noteAnswer(mark, option) {
  const {[mark]: _, ...others} = answers()
  keepAnswers({...others, [mark]: option})
}

/**
 * Keep the valid answers of a value from outside.
 * @param {unknown} given
 * @returns {Answers}
 */
export function validAnswers(given) {
  if (typeof given !== "object" || given === null) return {}
  const fits = (/** @type {[string, unknown]} */ [mark, option]) =>
    /^[\w-]{1,80}$/.test(mark) && typeof option === "string" && option.length <= LONGEST
  return Object.fromEntries(Object.entries(given).filter(fits).slice(-MOST))
}
