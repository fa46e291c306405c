// The reader's answers and bets. They are stored in this browser only, and saved and loaded with the reader's progress.
import {remember, remembered} from "./stored.ts"

const KEY = "splatscope-answers"
const MOST = 500 // answers; older ones are dropped
const LONGEST = 300 // characters of an answer

/** By the mark of a question: the chosen option. */
type Answers = Record<string, string>

/** The mark of a question: its page, and a hash of its text. */
export function markOf(page: string, asked: string) {
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

export function keepAnswers(next: Answers) {
  remember(KEY, JSON.stringify(Object.fromEntries(Object.entries(next).slice(-MOST))))
}

/** Store an answer. */
export function noteAnswer(mark: string, option: string) {
  const {[mark]: _, ...others} = answers()
  keepAnswers({...others, [mark]: option})
}

/** Keep the valid answers of a value from outside. */
export function validAnswers(given: unknown): Answers {
  if (typeof given !== "object" || given === null) return {}
  const fits = ([mark, option]: [string, unknown]) =>
    /^[\w-]{1,80}$/.test(mark) && typeof option === "string" && option.length <= LONGEST
  return Object.fromEntries(Object.entries(given).filter(fits).slice(-MOST))
}
