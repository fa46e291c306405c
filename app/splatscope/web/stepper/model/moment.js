// Where a stepper stands: a position in an order of events, a chosen thread, what is followed. Panes are told of each change.
import {KIND} from "./recording.js"
import {State} from "./state.js"

export class Moment {
  constructor(recording, changed) {
    this.recording = recording
    this.changed = changed
    this.lockstep = false
    this.states = [new State(recording), null]
    this.states[0].seek(recording.length) // folds once, so that every later seek begins at a copy
    this.position = 0
    this.pinned = -1 // the thread that the reader chose, -1: that of the event
    this.followed = null // {memory, cell} or {variable, thread}
    this.finding = -1
    this.chain = null // of slice.js, while it is shown
  }

  get state() {
    return this.states[+this.lockstep]
  }
  get order() {
    return this.state.order
  }

  // The event at the cursor, counted from 1; 0 before the first.
  get step() {
    return this.position === 0 ? 0 : this.eventAt(this.position - 1) + 1
  }
  get event() {
    return this.step - 1
  }
  get thread() {
    return this.pinned >= 0 ? this.pinned : this.position === 0 ? 0 : this.recording.thread[this.event]
  }

  eventAt(position) {
    return this.order ? this.order[position] : position
  }

  // How many events are done once `event` is, in the order shown.
  after(event) {
    if (!this.order) return event + 1
    if (!this.rank) {
      this.rank = new Uint32Array(this.recording.length)
      this.order.forEach((e, p) => {
        this.rank[e] = p
      })
    }
    return this.rank[event] + 1
  }

  seek(position) {
    this.position = Math.max(0, Math.min(this.recording.length, position))
    this.changed()
  }

  // To the moment after the event of this number, counted from 1.
  goto(step) {
    this.seek(step > 0 ? this.after(Math.min(step, this.recording.length) - 1) : 0)
  }

  setOrder(lockstep) {
    const event = this.event
    this.lockstep = lockstep
    if (lockstep && !this.states[1]) {
      this.states[1] = new State(this.recording, this.recording.lockstep.order)
      this.states[1].seek(this.recording.length)
    }
    this.seek(event < 0 ? 0 : this.after(event))
  }

  choose(thread) {
    this.pinned = this.pinned === thread ? -1 : thread
    this.changed()
  }

  follow(what) {
    this.followed = what
    this.changed()
  }

  // What a thread is about; in lockstep also "apart": it left the others' path and waits until they come to where it stands.
  status(thread) {
    const {state, recording, event} = this,
      status = state.status(thread)
    if (status !== "run" || !this.lockstep || event < 0) return status
    const last = state.last(thread) - 1,
      next = state.next(thread)
    return [last, next].some((e) => e >= 0 && this.together(e, event)) ? "run" : "apart"
  }

  // Whether two events are the same statement at the same time, in lockstep.
  together(a, b) {
    const {row} = this.recording.lockstep
    return row[a] === row[b] && this.recording.epoch[a] === this.recording.epoch[b]
  }

  // A statement on or back: in lockstep of all who execute it together, in the device's order of a wave.
  line(way) {
    const {recording} = this
    let p = this.position + way
    while (p > 0 && p < recording.length && !this.#begins(p)) p += way
    this.seek(p)
  }

  #begins(p) {
    const {recording} = this,
      a = this.eventAt(p - 1),
      b = this.eventAt(p)
    if (this.lockstep) return !this.together(a, b)
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

  // The chosen thread's next or previous statement: to its last event, so that its values are there.
  statement(way) {
    const {recording, thread} = this
    const at = this.state.seek(this.position).done(thread)
    const next = way > 0 ? this.#end(thread, at) : this.#end(thread, this.#begin(thread, at - 1) - 1, true)
    if (this.pinned < 0) this.pinned = thread // stepping a thread is choosing it
    const event = recording.nth(thread, next)
    this.seek(event < 0 ? (way > 0 ? this.position : 0) : this.after(event))
  }

  #same(thread, a, b) {
    const {recording} = this,
      s = recording.site[recording.nth(thread, a)],
      t = recording.site[recording.nth(thread, b)]
    return recording.line[s] === recording.line[t] && recording.file[s] === recording.file[t] && recording.kind[t] !== KIND.loop
  }

  #begin(thread, turn) {
    while (turn > 0 && this.#same(thread, turn - 1, turn)) turn--
    return turn
  }

  #end(thread, turn, back = false) {
    if (turn < 0 || (back && turn < 0)) return -1
    while (turn + 1 < this.recording.count(thread) && this.#same(thread, turn, turn + 1)) turn++
    return turn
  }

  // Positions at which a barrier has been reached by all who reach it, in the order shown.
  get barriers() {
    this.walls ??= []
    const kept = this.walls[+this.lockstep]
    if (kept) return kept
    const {recording} = this,
      last = [],
      arrived = new Uint32Array(recording.threads)
    for (let p = 0; p < recording.length; p++) {
      const e = this.eventAt(p)
      if (recording.kind[recording.site[e]] === KIND.arrive) last[arrived[recording.thread[e]]++] = p + 1
    }
    return (this.walls[+this.lockstep] = last.sort((a, b) => a - b))
  }

  barrier(way) {
    this.seek(near(this.barriers, this.position, way) ?? (way > 0 ? this.recording.length : 0))
  }
}

// The nearest number of a sorted list beyond `at`.
export function near(list, at, way) {
  if (way > 0) return list.find((n) => n > at)
  return list.findLast((n) => n < at)
}
