// Where to stop: the first event that fits a question, or the next breakpoint.
import {known, parse} from "./expression.js"
import {KIND} from "./kinds.js"
import {lookup} from "./lookup.js"
import {State} from "./state.js"
import {isFloat, numbers, shape} from "./values.js"

/**
 * @import {Moment} from "./moment.js"
 * @import {Recording} from "./recording.js"
 */

/** @type {Record<string, (n: number) => boolean>} */
const NOT_FINITE = {
  nan: Number.isNaN,
  inf: (n) => Math.abs(n) === Infinity,
  infinity: (n) => Math.abs(n) === Infinity,
}

/**
 * Find the next event that fits, in the order shown: one whose value is NaN or infinite, or that makes an expression true.
 * @param {Moment} moment
 * @param {string} text  "NaN", "inf", or an expression
 * @param {number} from  position to begin at
 * @param {number} way  1: the first from there on, -1: the last before
 * @returns {number | null} the position after it; null where there is none
 * @throws {Error} one line for the reader, for what cannot be asked
 */
export function find(moment, text, from, way = 1) {
  const {recording} = moment
  const wrong = NOT_FINITE[text.trim().toLowerCase()]
  if (wrong)
    return scan(moment, from, way, floats(recording), (event) =>
      numbers(recording.words, recording.wordAt[event], recording.about(event).type).some(wrong),
    )
  const question = parse(text)
  if (!question.names.size) throw new Error("Name a variable or a cell: T < 1/255, blobs[10] == 30, or NaN.")
  known(question, recording)
  const wanted = Uint8Array.from(recording.sites, ({name = "", kind}) =>
    question.names.has(name.split(/[.[]/)[0]) && kind !== "call" && kind !== "return" ? 1 : 0,
  )
  const state = new State(recording, moment.order)
  return scan(moment, from, way, wanted, (event, position) =>
    Boolean(question.value(lookup(recording, state.seek(position + 1), recording.thread[event]))),
  )
}

/**
 * Of each site, 1 where its values are floats.
 * @param {Recording} recording
 */
const floats = (recording) => Uint8Array.from(recording.sites, ({type}) => (isFloat(type) && shape(type) ? 1 : 0))

/**
 * @param {Moment} moment
 * @param {number} from
 * @param {number} way
 * @param {Uint8Array} wanted  1 for sites that are looked at
 * @param {(event: number, position: number) => boolean} fits
 */
function scan(moment, from, way, wanted, fits) {
  const {recording} = moment
  let found = null
  const stop = way > 0 ? recording.length : from - 1
  for (let p = way > 0 ? from : 0; p < stop; p++) {
    const event = moment.eventAt(p)
    if (!wanted[recording.site[event]] || !fits(event, p)) continue
    found = p + 1
    if (way > 0) break
  }
  return found
}

/**
 * Find where a breakpoint stops: an event that begins a statement on its line, its condition true there.
 * @param {Moment} moment
 * @param {Map<string, string>} breakpoints  "file:line" → condition, "" for none
 * @param {number} way  1: on, -1: back
 * @returns {number | null} the position after it; null where there is none
 */
export function nextStop(moment, breakpoints, way) {
  if (!breakpoints.size) return null
  const {recording} = moment
  /** @type {Map<string, import("./expression.js").Expression | null>} */
  const conditions = new Map()
  for (const [key, condition] of breakpoints) conditions.set(key, condition ? parse(condition) : null)
  const keyOf = recording.sites.map((site) => `${site.file}:${site.line}`)
  const wanted = Uint8Array.from(keyOf, (key) => (conditions.has(key) ? 1 : 0))
  const state = new State(recording, moment.order)
  return scan(moment, moment.position, way, wanted, (event, position) => {
    const thread = recording.thread[event],
      before = recording.nth(thread, recording.turn[event] - 1),
      site = recording.site[event]
    if (moment.pinned >= 0 && thread !== moment.pinned) return false
    if (before >= 0 && keyOf[recording.site[before]] === keyOf[site] && recording.kind[site] !== KIND.loop) return false
    const condition = conditions.get(keyOf[site])
    return !condition || Boolean(condition.value(lookup(recording, state.seek(position + 1), thread)))
  })
}
