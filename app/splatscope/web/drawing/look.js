// What a drawing can ask about a moment: expressions over a thread's variables, cells of memory, what threads are doing.
import {parse} from "#web/recording/expressions/expression.js"
import {lookup} from "#web/recording/expressions/lookup.js"
import {State} from "#web/recording/state.js"
import {text} from "#web/recording/values.js"

/** @import {Moment} from "#web/recording/moment.js" */
/** @import {Recording} from "#web/recording/recording.js" */

/** @type {WeakMap<Recording, State>} */
const finals = new WeakMap()

/** @param {Recording} recording */
function finalState(recording) {
  const known = finals.get(recording)
  if (known) return known
  const made = new State(recording).seek(recording.length).meet()
  finals.set(recording, made)
  return made
}

/**
 * A state of a recording in one order, which is moved as needed, and the stops found so far, by the expressions they were found
 * for.
 * @typedef {{state: State, stops: number[], found: Map<string, number>}} Ahead
 */

/** @type {WeakMap<Recording, Map<Uint32Array | null, Ahead>>} */
const aheads = new WeakMap()

/**
 * @param {Recording} recording
 * @param {Uint32Array | null} order
 * @param {number[]} stops
 */
function aheadOf(recording, order, stops) {
  const known = aheads.get(recording) ?? new Map()
  aheads.set(recording, known)
  /** @type {Ahead} */
  const ahead = known.get(order) ?? {state: new State(recording, order), stops, found: new Map()}
  known.set(order, ahead)
  if (ahead.stops !== stops) Object.assign(ahead, {stops, found: new Map()})
  return ahead
}

/** @type {Map<string, ReturnType<typeof parse>>} */
const parsed = new Map()

/** @param {string} expression */
function parsedOnce(expression) {
  const known = parsed.get(expression)
  if (known) return known
  const made = parse(expression)
  parsed.set(expression, made)
  return made
}

/** @typedef {NonNullable<ReturnType<Look["memory"]>>} MemoryLook */

/** A recording at one moment, for a drawing. */
export class Look {
  /**
   * @param {Moment} moment
   * @param {State} [state]  a state of its recording other than the moment's own
   */
  constructor(moment, state) {
    this.moment = moment
    this.recording = moment.recording
    this.state = state ?? moment.state
    this.step = state ? moment.recording.length : moment.step
    this.thread = moment.thread
    /** Number of threads of the recorded workgroup. */
    this.threads = moment.recording.threads
    /** @type {Map<number, ReturnType<typeof lookup>>} */
    this.lookups = new Map()
  }

  /** The same recording at its end, with the same thread chosen. Drawings show what is not known yet in pale, as it will be. */
  get final() {
    return new Look(this.moment, finalState(this.recording))
  }

  /**
   * The same recording at the first stop at which all these expressions have a value for the chosen thread, or else at its end.
   * Read from it at once: the next call moves its state.
   * @param {string[]} expressions
   * @param {number[]} stops  positions in the order shown
   */
  firstWith(expressions, stops) {
    const {moment, recording, thread} = this
    const {state, found} = aheadOf(recording, moment.order, stops)
    const lookAt = (/** @type {number} */ position) => new Look(moment, state.seek(position).meet())
    const key = `${thread} ${expressions.join(" ")}`
    const all = (/** @type {Look} */ look) => expressions.every((expression) => look.value(expression) !== null)
    const stop = found.get(key) ?? stops.find((position) => all(lookAt(position))) ?? -1
    found.set(key, stop)
    return stop < 0 ? this.final : lookAt(stop)
  }

  /**
   * The value of an expression for a thread now, null if it has none: `T < 1/255`, `blobs[i ^ j]`, `state.w`.
   * @param {string} expression
   * @param {number} [thread]
   * @returns {number | null}
   */
  value(expression, thread = this.thread) {
    let names = this.lookups.get(thread)
    if (!names) {
      names = lookup(this.recording, this.state, thread)
      this.lookups.set(thread, names)
    }
    return parsedOnce(expression).value(names)
  }

  /**
   * The same, formatted as in the stepper.
   * @param {string} expression
   * @param {number} [thread]
   * @param {number} [digits]  significant digits
   */
  text(expression, thread = this.thread, digits = 4) {
    const value = this.value(expression, thread)
    return value === null ? null : show(value, digits)
  }

  /** @param {number} thread */
  status(thread) {
    return this.state.status(thread)
  }

  /**
   * Whether a step has been done, in the order shown.
   * @param {number} step  an event, counted from 1 in the device's order
   */
  reached(step) {
    const {recording, state} = this
    return recording.turn[step - 1] < state.done(recording.thread[step - 1])
  }

  /**
   * Whether a thread took part in the current step; see `Moment.isAtHand`.
   * @param {number} thread
   */
  isAtHand(thread) {
    return this.moment.isAtHand(thread)
  }

  /**
   * A memory by its name, null if the recording does not have it. Cells are given by the index of their element.
   * @param {string} name
   */
  memory(name) {
    const {recording, state, moment} = this
    const m = recording.memories.findIndex((/** @type {{name: string}} */ memory) => memory.name === name)
    if (m < 0) return null
    const memory = recording.memories[m]
    /** @type {(index: number) => number} */
    const cell = (index) => memory.cell(index)
    return {
      /** @type {number} */
      count: memory.count,
      /**
       * The number in a cell, or in one component of a vector; null while it is not known.
       * @param {number} index
       * @param {number} [part]
       * @returns {number | null}
       */
      number(index, part = 0) {
        const c = cell(index)
        return c < 0 ? null : state.cellNumber(m, c, part)
      },
      /**
       * The event of the last write, counted from 1; 0 for none.
       * @param {number} index
       * @returns {number}
       */
      written(index) {
        const c = cell(index)
        return c < 0 ? 0 : state.written(m, c)
      },
      /**
       * The event of the last read, counted from 1; 0 for none.
       * @param {number} index
       * @returns {number}
       */
      read(index) {
        const c = cell(index)
        return c < 0 ? 0 : state.read(m, c)
      },
      /**
       * Whether the current event reads ("rd") or writes ("wr") it.
       * @param {number} index
       */
      touched(index) {
        const event = moment.event
        const c = cell(index)
        if (event < 0 || c < 0) return ""
        if (recording.about(event).memory !== m || recording.target[event] !== memory.first + c + 1) return ""
        return recording.about(event).kind === "read" ? "rd" : "wr"
      },
      /**
       * Have the stepper follow a cell.
       * @param {number} index
       */
      follow: (index) => moment.follow({memory: m, cell: cell(index)}),
    }
  }

  /**
   * A memory that the lesson's kernel must have.
   * @param {string} name
   */
  ownMemory(name) {
    const memory = this.memory(name)
    if (!memory) throw new Error(`The recording has no memory named ${name}.`)
    return memory
  }
}

/**
 * A number formatted as in the stepper.
 * @param {number} value
 * @param {number} [digits]  significant digits
 * @returns {string}
 */
export const show = (value, digits = 4) => text(value, Number.isInteger(value) ? "int" : "float", digits)

/**
 * A number in base 2.
 * @param {number} value
 * @param {number} count  digits
 */
export const bits = (value, count) => (value >>> 0).toString(2).padStart(count, "0").slice(-count)
