// The call stack: for each event, the call that it belongs to, derived from the calls and returns of its thread.

/**
 * @import {Recording} from "./recording.js"
 * @typedef {object} Frame  one call of a function by a thread
 * @property {string} function
 * @property {Frame | null} parent  the call from which it was made, null for the entry point
 * @property {number} depth  0 for the entry point
 * @property {number} begin  number of its first event, among the thread's events
 * @property {number} line  of the call in its caller, 0 for the entry point; -1 until it is looked up
 */

const IN_RETURN = ["read", "atomic", "out-of-bounds"] // what a return's value may record after the return itself

export class Stacks {
  /** @type {Map<number, Frame[]>} */
  #threads = new Map() // by thread, the frame of each of its events

  /** @param {Recording} recording */
  constructor(recording) {
    this.recording = recording
  }

  /**
   * The call that an event of a thread belongs to; null if the thread has no such event.
   * @param {number} thread
   * @param {number} turn  its number among the thread's events
   * @returns {Frame | null}
   */
  at(thread, turn) {
    let frames = this.#threads.get(thread)
    if (!frames) {
      frames = this.#follow(thread)
      this.#threads.set(thread, frames)
    }
    return frames[turn] ?? null
  }

  /**
   * The line of a call in its caller, searched where the caller was before and where it continues; 0 for the entry point.
   * @param {number} thread
   * @param {Frame} frame
   */
  calledFrom(thread, frame) {
    if (frame.line >= 0) return frame.line
    const {recording} = this,
      {parent, begin, function: name} = frame
    let after = begin
    for (let at = this.at(thread, after); at && at !== parent && isInside(at, /** @type {Frame} */ (parent)); )
      at = this.at(thread, ++after)
    const found = [after, begin - 1].flatMap((turn) =>
      turn >= 0 && this.at(thread, turn) === parent ? [recording.about(recording.nth(thread, turn))] : [],
    )
    const [low, high] = [Math.min(...found.map(({line}) => line)), Math.max(...found.map(({line}) => line))]
    const lines = (recording.head.sources[found[0]?.file ?? recording.head.file] ?? "").split("\n")
    const calls = new RegExp(`\\b${name.replace(/\W/g, "")}\\s*[<(]`)
    const likely = found.length ? [found[0].line, ...Array.from({length: high - low + 1}, (_, i) => low + i)] : [0]
    frame.line = likely.find((line) => calls.test(lines[line - 1] ?? "")) ?? likely[0]
    return frame.line
  }

  /**
   * Follow a thread through its calls. A return is recorded before its value is computed, so reads and calls of its statement still
   * belong to the returning function.
   * @param {number} thread
   */
  #follow(thread) {
    const {recording} = this,
      count = recording.count(thread)
    /** @type {Frame[]} */
    const frames = []
    /** @type {Map<Frame, number>} */
    const returning = new Map() // by frame, the turn of its return
    /** @type {Frame | null} */
    let top = null
    for (let turn = 0; turn < count; turn++) {
      const site = recording.about(recording.nth(thread, turn))
      while (top && returning.has(top) && !this.#isInReturn(thread, turn, /** @type {number} */ (returning.get(top)), top)) {
        if (!top.parent) break
        top = top.parent
      }
      if (site.kind === "call" || !top)
        top = {
          function: (site.kind === "call" ? site.name : site.function) || recording.head.entry,
          parent: top,
          depth: top ? top.depth + 1 : 0,
          begin: turn,
          line: top ? -1 : 0,
        }
      if (site.kind === "return") returning.set(top, turn)
      frames.push(top)
    }
    return frames
  }

  /**
   * Whether an event after a return belongs to the return's own statement.
   * @param {number} thread
   * @param {number} turn
   * @param {number} returned  the return
   * @param {Frame} frame
   */
  #isInReturn(thread, turn, returned, frame) {
    const {recording} = this,
      site = recording.about(recording.nth(thread, turn)),
      statement = recording.about(recording.nth(thread, returned))
    if (site.kind !== "call")
      return (
        IN_RETURN.includes(site.kind) &&
        site.function === frame.function &&
        site.line >= statement.line &&
        site.line <= statement.line + 8
      )
    const text = (recording.head.sources[statement.file] ?? "").split("\n").slice(statement.line - 1, statement.line + 8)
    text[0] = (text[0] ?? "").slice(statement.column - 1)
    const value = /^\s*return\b([^;]*)/.exec(text.join("\n"))?.[1] ?? ""
    return new RegExp(`\\b${(site.name ?? "").replace(/\W/g, "")}\\s*[<(]`).test(value)
  }
}

/**
 * Whether a call was made from another one, directly or indirectly.
 * @param {Frame | null} frame
 * @param {Frame} outer
 */
export function isInside(frame, outer) {
  let at = frame
  while (at && at.depth > outer.depth) at = at.parent
  return at === outer && frame !== outer
}
