// What a drawing can ask about a moment: expressions over a thread's variables, cells of memory, what threads are doing.
import {parse} from "#web/recording/expressions/expression.ts"
import {lookup} from "#web/recording/expressions/lookup.ts"
import {State} from "#web/recording/state.ts"
import {text} from "#web/recording/values.ts"
import type {Moment} from "#web/recording/moment.ts"
import type {Recording} from "#web/recording/recording.ts"

const finals = new WeakMap<Recording, State>()

function finalState(recording: Recording) {
  const known = finals.get(recording)
  if (known) return known
  const made = new State(recording).seek(recording.length).meet()
  finals.set(recording, made)
  return made
}

/**
 * A state of a recording in one order, which is moved as needed, and the stops found so far, by the expressions they were found
 * for.
 */
type Ahead = {state: State; stops: number[]; found: Map<string, number>}

const aheads = new WeakMap<Recording, Map<Uint32Array | null, Ahead>>()

function aheadOf(recording: Recording, order: Uint32Array | null, stops: number[]) {
  const known = aheads.get(recording) ?? new Map()
  aheads.set(recording, known)
  const ahead: Ahead = known.get(order) ?? {state: new State(recording, order), stops, found: new Map()}
  known.set(order, ahead)
  if (ahead.stops !== stops) Object.assign(ahead, {stops, found: new Map()})
  return ahead
}

const parsed = new Map<string, ReturnType<typeof parse>>()

function parsedOnce(expression: string) {
  const known = parsed.get(expression)
  if (known) return known
  const made = parse(expression)
  parsed.set(expression, made)
  return made
}

export type MemoryLook = NonNullable<ReturnType<Look["memory"]>>

/** A recording at one moment, for a drawing. */
export class Look {
  moment: Moment
  recording: Recording
  state: State
  step: number
  thread: number
  /** Number of threads of the recorded workgroup. */
  threads: number
  lookups: Map<number, ReturnType<typeof lookup>>

  /** @param state  a state of its recording other than the moment's own */
  constructor(moment: Moment, state?: State) {
    this.moment = moment
    this.recording = moment.recording
    this.state = state ?? moment.state
    this.step = state ? moment.recording.length : moment.step
    this.thread = moment.thread
    this.threads = moment.recording.threads
    this.lookups = new Map()
  }

  /** The same recording at its end, with the same thread chosen. Drawings show what is not known yet in pale, as it will be. */
  get final() {
    return new Look(this.moment, finalState(this.recording))
  }

  /**
   * The same recording at the first stop at which all these expressions have a value for the chosen thread, or else at its end.
   * Read from it at once: the next call moves its state.
   * @param stops  positions in the order shown
   */
  firstWith(expressions: string[], stops: number[]) {
    const {moment, recording, thread} = this
    const {state, found} = aheadOf(recording, moment.order, stops)
    const lookAt = (position: number) => new Look(moment, state.seek(position).meet())
    const key = `${thread} ${expressions.join(" ")}`
    const all = (look: Look) => expressions.every((expression) => look.value(expression) !== null)
    const stop = found.get(key) ?? stops.find((position) => all(lookAt(position))) ?? -1
    found.set(key, stop)
    return stop < 0 ? this.final : lookAt(stop)
  }

  /** The value of an expression for a thread now, null if it has none: `T < 1/255`, `blobs[i ^ j]`, `state.w`. */
  value(expression: string, thread: number = this.thread): number | null {
    let names = this.lookups.get(thread)
    if (!names) {
      names = lookup(this.recording, this.state, thread)
      this.lookups.set(thread, names)
    }
    return parsedOnce(expression).value(names)
  }

  /**
   * The same, formatted as in the stepper.
   * @param digits  significant digits
   */
  text(expression: string, thread: number = this.thread, digits = 4) {
    const value = this.value(expression, thread)
    return value === null ? null : show(value, digits)
  }

  status(thread: number) {
    return this.state.status(thread)
  }

  /**
   * Whether a step has been done, in the order shown.
   * @param step  an event, counted from 1 in the device's order
   */
  reached(step: number) {
    const {recording, state} = this
    return recording.turn[step - 1] < state.done(recording.thread[step - 1])
  }

  /** Whether a thread took part in the current step; see `Moment.isAtHand`. */
  isAtHand(thread: number) {
    return this.moment.isAtHand(thread)
  }

  /** A memory by its name, null if the recording does not have it. Cells are given by the index of their element. */
  memory(name: string) {
    const {recording, state, moment} = this
    const m = recording.memories.findIndex((memory: {name: string}) => memory.name === name)
    if (m < 0) return null
    const memory = recording.memories[m]
    const cell = (index: number): number => memory.cell(index)
    return {
      count: memory.count,
      /** The number in a cell, or in one component of a vector; null while it is not known. */
      number(index: number, part = 0): number | null {
        const c = cell(index)
        return c < 0 ? null : state.cellNumber(m, c, part)
      },
      /** The event of the last write, counted from 1; 0 for none. */
      written(index: number): number {
        const c = cell(index)
        return c < 0 ? 0 : state.written(m, c)
      },
      /** The event of the last read, counted from 1; 0 for none. */
      read(index: number): number {
        const c = cell(index)
        return c < 0 ? 0 : state.read(m, c)
      },
      /** Whether the current event reads ("rd") or writes ("wr") it. */
      touched(index: number) {
        const event = moment.event
        const c = cell(index)
        if (event < 0 || c < 0) return ""
        if (recording.about(event).memory !== m || recording.target[event] !== memory.first + c + 1) return ""
        return recording.about(event).kind === "read" ? "rd" : "wr"
      },
      /** Have the stepper follow a cell. */
      follow: (index: number) => moment.follow({memory: m, cell: cell(index)}),
    }
  }

  /** A memory that the lesson's kernel must have. */
  ownMemory(name: string) {
    const memory = this.memory(name)
    if (!memory) throw new Error(`The recording has no memory named ${name}.`)
    return memory
  }
}

/**
 * A number formatted as in the stepper.
 * @param digits  significant digits
 */
export const show = (value: number, digits = 4): string => text(value, Number.isInteger(value) ? "int" : "float", digits)

/**
 * A number in base 2.
 * @param count  digits
 */
export const bits = (value: number, count: number) => (value >>> 0).toString(2).padStart(count, "0").slice(-count)
