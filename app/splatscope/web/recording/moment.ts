// A stepper's current moment: a position in an order of events, the chosen thread, and what is followed.
import {KIND} from "./kinds.ts"
import {type Frame, isInside} from "./stack.ts"
import {State} from "./state.ts"
import type {Followed} from "#web/types.ts"
import type {Recording} from "./recording.ts"
import type {Slice} from "./slice.ts"

/** A thread's status. "apart", in lockstep: it has left the others' path and waits until they reach its place. */
type Status = "run" | "wait" | "held" | "done" | "apart"

/** A position is the number of events done so far, in the order shown. A step is the number of the last of these, counted from 1. */
export class Moment {
  recording: Recording
  changed: (moved: boolean) => void
  lockstep: boolean
  device: State
  together: State | null
  position: number
  pinned: number
  followed: Followed | null
  finding: number
  chain: Slice | null
  walls: [number[] | null, number[] | null]
  #folds: boolean

  /**
   * @param changed  called at each move, and when another thread is chosen or another cell followed
   * @param folds  whether to fold all events once, so that every later seek starts from a copy; not worth it if another recording
   *     follows in the next frame
   */
  constructor(recording: Recording, changed: (moved: boolean) => void, folds = true) {
    this.recording = recording
    this.changed = changed
    this.#folds = folds
    this.lockstep = false
    this.device = this.#folded(new State(recording))
    this.together = null // made when lockstep is first asked for
    this.position = 0
    this.pinned = -1 // the thread that the reader chose, -1 for the event's thread
    this.followed = null
    this.finding = -1 // number of the finding shown
    this.chain = null // set while the chain is shown
    this.walls = [null, null] // results of `barriers`, in the device's order and in lockstep
  }

  #folded = (state: State) => (this.#folds ? state.seek(this.recording.length) : state)

  /** The state in the order shown, at the position it was last moved to. */
  get state() {
    return this.lockstep && this.together ? this.together : this.device
  }
  /** Event numbers in the order shown; null for the device's own. */
  get order() {
    return this.state.order
  }

  /** The current event, counted from 1; 0 before the first. */
  get step() {
    return this.position === 0 ? 0 : this.eventAt(this.position - 1) + 1
  }
  /** The number of the current event; -1 before the first. */
  get event() {
    return this.step - 1
  }
  /** The chosen thread, else the current event's thread. */
  get thread() {
    return this.pinned >= 0 ? this.pinned : this.position === 0 ? 0 : this.recording.thread[this.event]
  }

  /** The event that comes next at a position. */
  eventAt(position: number) {
    return this.order ? this.order[position] : position
  }

  /** The position after an event: the number of events done then, in the order shown. */
  after(event: number) {
    return this.order ? this.recording.lockstep.rank[event] + 1 : event + 1
  }

  seek(position: number) {
    this.position = Math.max(0, Math.min(this.recording.length, position))
    this.changed(true)
  }

  /**
   * Go to the moment after an event.
   * @param step  counted from 1
   */
  goto(step: number) {
    this.seek(step > 0 ? this.after(Math.min(step, this.recording.length) - 1) : 0)
  }

  /** Show the events in the device's order or in lockstep. The current event stays the same. */
  setOrder(lockstep: boolean) {
    const event = this.event
    this.lockstep = lockstep
    if (lockstep && !this.together) {
      this.together = this.#folded(new State(this.recording, this.recording.lockstep.order))
    }
    this.seek(event < 0 ? 0 : this.after(event))
  }

  /** Choose a thread; choosing it again clears the choice. */
  choose(thread: number) {
    this.pinned = this.pinned === thread ? -1 : thread
    this.changed(false)
  }

  /** Follow a cell or a variable, or nothing. */
  follow(followed: Followed | null) {
    this.followed = followed
    this.changed(false)
  }

  /** A thread's status now. */
  status(thread: number): Status {
    const {state, event} = this,
      status = state.status(thread)
    if (status !== "run" || !this.lockstep || event < 0) return status
    const last = state.last(thread) - 1,
      next = state.next(thread)
    return [last, next].some((e) => e >= 0 && this.isTogether(e, event)) ? "run" : "apart"
  }

  /**
   * Whether a thread has just executed the current event's line together with the event's thread.
   * @param since  in the device's order, the position where the step began that the reader sees: what the thread has done on this
   *   line since then counts, too, even if it has gone on
   */
  isAtHand(thread: number, since = Infinity) {
    const {recording, event, state} = this
    if (event < 0) return false
    const here = recording.site[event]
    const isHere = (e: number) => {
      const site = recording.site[e]
      return recording.line[site] === recording.line[here] && recording.file[site] === recording.file[here]
    }
    const done = state.done(thread)
    if (done && isHere(recording.nth(thread, done - 1))) return true
    if (this.lockstep) return false
    for (let i = done - 2; i >= 0 && recording.nth(thread, i) >= since; i--) if (isHere(recording.nth(thread, i))) return true
    return false
  }

  /** Whether two events belong to the same statement at the same time, in lockstep. */
  isTogether(a: number, b: number) {
    const {row} = this.recording.lockstep
    return row[a] === row[b] && this.recording.epoch[a] === this.recording.epoch[b]
  }

  /**
   * Move one statement forward or back: in lockstep for all threads that execute it together, in the device's order for a wave.
   * @param way  1 or -1
   */
  line(way: number) {
    const {recording} = this
    let p = this.position + way
    while (p > 0 && p < recording.length && !this.#begins(p)) p += way
    this.seek(p)
  }

  /** How many threads have executed the current statement together, up to this moment. */
  get executing() {
    const threads = new Set()
    let p = this.position
    if (p > 0)
      do threads.add(this.recording.thread[this.eventAt(--p)])
      while (p > 0 && !this.#begins(p))
    return threads.size
  }

  /** Move to the end of the current statement, unless another begins here. */
  finish() {
    if (this.position > 0 && this.position < this.recording.length && !this.#begins(this.position)) this.line(1)
  }

  /** Whether another statement begins at a position. */
  #begins(p: number) {
    const {recording} = this,
      a = this.eventAt(p - 1),
      b = this.eventAt(p)
    if (this.lockstep) return !this.isTogether(a, b)
    const wave = recording.head.wave_size,
      s = recording.site[a],
      t = recording.site[b]
    return (
      Math.floor(recording.thread[a] / wave) !== Math.floor(recording.thread[b] / wave) ||
      recording.line[s] !== recording.line[t] ||
      recording.file[s] !== recording.file[t] ||
      (recording.kind[t] === KIND.loop && recording.kind[s] !== KIND.loop)
    )
  }

  /**
   * Move to the chosen thread's next or previous statement: to the statement's last event, so that its values are known.
   * @param way  1 or -1
   */
  statement(way: number) {
    const {recording, thread} = this
    const at = this.state.seek(this.position).done(thread)
    const next = way > 0 ? this.#end(thread, at) : this.#end(thread, this.#begin(thread, at - 1) - 1)
    if (this.pinned < 0) this.pinned = thread // stepping a thread is choosing it
    const event = recording.nth(thread, next)
    this.seek(event < 0 ? (way > 0 ? this.position : 0) : this.after(event))
  }

  /**
   * Move over calls: to the chosen thread's next or previous statement in its current function, or in one that this returns to.
   * @param way  1 or -1
   */
  over(way: number) {
    const {recording, thread} = this
    const at = this.state.seek(this.position).done(thread)
    this.#beside(way, recording.stacks.at(thread, Math.max(0, at - 1)))
  }

  /** Move to where the chosen thread continues in its function's caller; from the entry point, to the end. */
  out() {
    const {recording, thread} = this
    const at = this.state.seek(this.position).done(thread)
    this.#beside(1, recording.stacks.at(thread, Math.max(0, at - 1))?.parent ?? null)
  }

  /**
   * Move to the end of the chosen thread's next or previous statement in a call itself, or in the calls around it, but not in calls
   * made from it; without a call, to the end.
   * @param way  1 or -1
   */
  #beside(way: number, frame: Frame | null) {
    const {recording, thread} = this,
      count = recording.count(thread)
    const within = (turn: number) =>
      frame !== null && turn >= 0 && turn < count && isInside(recording.stacks.at(thread, turn), frame)
    const skip = (turn: number) => {
      let to = turn
      while (within(to)) to += way
      return to
    }
    let at = this.state.at === this.position ? this.state.done(thread) : this.state.seek(this.position).done(thread)
    if (this.pinned < 0) this.pinned = thread
    if (!frame) at = count - 1
    else if (way > 0) {
      at = skip(at)
      for (let next = skip(at + 1); next < count && at >= 0 && this.#same(thread, at, next); next = skip(at + 1)) at = next
    } else {
      at = skip(at - 1)
      for (let last = skip(at - 1); last >= 0 && this.#same(thread, last, at); last = skip(at - 1)) at = last
      at = skip(at - 1)
    }
    const event = recording.nth(thread, at)
    this.seek(event < 0 ? (way > 0 ? this.position : 0) : this.after(event))
  }

  /**
   * Whether two of a thread's events belong to one statement.
   * @param a  their numbers among the thread's events
   */
  #same(thread: number, a: number, b: number) {
    const {recording} = this,
      s = recording.site[recording.nth(thread, a)],
      t = recording.site[recording.nth(thread, b)]
    return recording.line[s] === recording.line[t] && recording.file[s] === recording.file[t] && recording.kind[t] !== KIND.loop
  }

  /** The first event of the statement that a thread's event belongs to. */
  #begin(thread: number, turn: number) {
    while (turn > 0 && this.#same(thread, turn - 1, turn)) turn--
    return turn
  }

  /** The last event of that statement, -1 before the first. */
  #end(thread: number, turn: number) {
    if (turn < 0) return -1
    while (turn + 1 < this.recording.count(thread) && this.#same(thread, turn, turn + 1)) turn++
    return turn
  }

  /** The positions at which all threads that reach a barrier have reached it, in the order shown. */
  get barriers() {
    const known = this.walls[+this.lockstep]
    if (known) return known
    const {recording} = this,
      last: number[] = [],
      arrived = new Uint32Array(recording.threads)
    for (let p = 0; p < recording.length; p++) {
      const e = this.eventAt(p)
      if (recording.kind[recording.site[e]] === KIND.arrive) last[arrived[recording.thread[e]]++] = p + 1
    }
    this.walls[+this.lockstep] = last.sort((a, b) => a - b)
    return last
  }

  /**
   * Move to the next or the previous barrier. Returns whether there is one.
   * @param way  1 or -1
   */
  barrier(way: number) {
    const wall = near(this.barriers, this.position, way)
    if (wall !== undefined) this.seek(wall)
    return wall !== undefined
  }
}

/**
 * The nearest number above or below another in a sorted list, undefined if there is none.
 * @param way  1: above, -1: below
 */
export function near(list: number[], at: number, way: number) {
  if (way > 0) return list.find((n) => n > at)
  return list.findLast((n) => n < at)
}
