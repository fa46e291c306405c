// A message that the user got elsewhere, such as a test's, and what of a recording explains it.
import {findingOf} from "./panes/findings.js"

/** @import {Recording} from "#web/recording/recording.js" */

/**
 * A message that the user got elsewhere and that the recording is to explain.
 * @typedef {object} Reason
 * @property {string} heading
 * @property {string} words
 * @property {string} kind  a finding's kind, or another one
 * @property {string} name  of the memory, "" for none
 * @property {number} line  0 for none
 * @property {number} lane  the thread, -1 for none
 * @property {number} element  of the memory, -1 for none
 */

/**
 * Where a recording explains a message: at a finding, else at the thread's last event on the line or at the element.
 * @param {Recording} recording
 * @param {Reason} reason
 * @returns {{finding: number, cell: {memory: number, cell: number} | null, event: number}}  each -1 or null for none
 */
export function explained(recording, reason) {
  const finding = findingOf(recording, reason)
  if (finding >= 0) return {finding, cell: null, event: -1}
  const memory = recording.memories.findIndex(({name}) => name === reason.name)
  const cell = memory >= 0 && reason.element >= 0 ? recording.memories[memory].cell(reason.element) : -1
  const last = (/** @type {(event: number) => boolean} */ is) => {
    for (let event = recording.length - 1; event >= 0; event--) if (is(event)) return event
    return -1
  }
  const writes = (/** @type {number} */ event) => ["write", "atomic"].includes(recording.about(event).kind)
  const there = (/** @type {number} */ event) => recording.about(event).line === reason.line
  const own = (/** @type {number} */ event) => reason.lane < 0 || recording.thread[event] === reason.lane
  const touches = (/** @type {number} */ event) => {
    const found = recording.cellOf(event)
    return found?.memory === memory && found.cell === cell
  }
  /** @type {((event: number) => boolean)[]} */
  const ways = reason.line
    ? [(e) => there(e) && own(e) && touches(e), (e) => there(e) && own(e), there]
    : [(e) => writes(e) && touches(e), (e) => writes(e) && recording.cellOf(e)?.memory === memory]
  const event = ways.map(last).find((found) => found >= 0) ?? -1
  return {finding, cell: cell >= 0 ? {memory, cell} : null, event}
}
