// The state of every thread, variable and cell after a number of events: a fold over the events, with a copy kept at intervals.
import {KIND} from "./kinds.ts"
import {type Quantity, vector} from "#web/recording/expressions/quantities.ts"
import {number, numbers, shape, show, text} from "./values.ts"
import type {Recording} from "./recording.ts"

const EVERY = 4096 // events between two copies
const MOST = 64 * 2 ** 20 // bytes of all copies: copies of a large state are kept further apart
const THREAD = 5 // words per thread: events done, last event, first event of its statement, barriers reached, last access in this epoch
const DONE = 0,
  LAST = 1,
  SINCE = 2,
  ARRIVED = 3,
  ACCESS = 4
const CELL = 3 // words before a cell's values: which of them are known, last write, last read
const KNOWN = 0,
  WRITTEN = 1,
  READ = 2
const SET = 0,
  CHANGED = 1 // words before a variable's values: the event that set it, and the one that changed it
// Events are stored as their number counted from 1; 0 is none.

/** One state of a recording, moved by seek(). `words` holds the threads one after another, then the cells of memories. */
export class State {
  recording: Recording
  order: Uint32Array | null
  variableAt: number[]
  ofThread: number
  cellsAt: number
  memoryAt: number[]
  words: Uint32Array<ArrayBuffer>
  puts: (Uint8Array<ArrayBuffer> | null)[]
  isLoad: Uint8Array<ArrayBuffer>
  memoryOf: Int32Array<ArrayBuffer>
  variableOf: Int32Array<ArrayBuffer>
  unset: number[][]
  every: number
  copies: Uint32Array<ArrayBuffer>[]
  at: number
  everybody: number

  /** @param order  event numbers in the order in which they are folded; null for the device's order */
  constructor(recording: Recording, order: Uint32Array | null = null) {
    this.recording = recording
    this.order = order
    let at = 0
    this.variableAt = recording.variables.map((variable) => {
      const here = at
      at += 2 + variable.width
      return here
    })
    this.ofThread = THREAD + at
    this.cellsAt = recording.threads * this.ofThread
    let end = this.cellsAt
    this.memoryAt = recording.memories.map((memory) => {
      const here = end
      end += memory.count * (CELL + memory.width)
      return here
    })
    this.words = new Uint32Array(end)
    this.puts = recording.sites.map((site) => (site.puts ? Uint8Array.from(site.puts) : null))
    this.isLoad = Uint8Array.from(recording.sites, (site) => (site.kind === "read" || site.operation?.includes("load") ? 1 : 0))
    this.memoryOf = Int32Array.from(recording.sites, (site) => site.memory ?? -1)
    this.variableOf = Int32Array.from(recording.sites, (site) => site.variable ?? -1)
    this.unset = recording.loopLocals
    this.every = EVERY
    while ((recording.length / this.every) * this.words.byteLength > MOST) this.every *= 2
    this.#begin()
    this.copies = [this.words.slice()] // copies[i]: after i × every events
    this.at = 0 // events folded
    this.everybody = 0 // barriers that all threads have reached, as of meet()
  }

  /** Fill memories with their contents before the first event. */
  #begin() {
    this.recording.memories.forEach((memory, m) => {
      const {initial, width, count} = memory
      if (!initial.length) return
      for (let cell = 0; cell < count; cell++) {
        const at = this.memoryAt[m] + cell * (CELL + width)
        this.words[at + KNOWN] = 0xffffffff
        for (let w = 0; w < width; w++) this.words[at + CELL + w] = initial[cell * width + w]
      }
    })
  }

  /** Become the state after the first `position` events of the order. */
  seek(position: number) {
    const copy = Math.min(Math.floor(position / this.every), this.copies.length - 1)
    if (position < this.at || copy * this.every > this.at) {
      this.words.set(this.copies[copy])
      this.at = copy * this.every
    }
    while (this.at < position) {
      const stop = Math.min(position, (Math.floor(this.at / this.every) + 1) * this.every)
      this.#fold(this.at, stop)
      this.at = stop
      if (stop % this.every === 0 && stop / this.every === this.copies.length) this.copies.push(this.words.slice())
    }
    return this
  }

  /** Apply the events from one position of the order to another. */
  #fold(from: number, to: number) {
    const {recording, order, words, ofThread, variableAt, puts, isLoad, memoryOf, variableOf, unset} = this
    const {thread, site, target, kind, line, file, wordAt, width, words: values} = recording
    for (let p = from; p < to; p++) {
      const e = order ? order[p] : p
      const t = thread[e],
        s = site[e],
        k = kind[s],
        base = t * ofThread
      const last = words[base + LAST]
      words[base + DONE]++
      words[base + LAST] = e + 1
      if (last === 0 || k === KIND.loop || line[site[last - 1]] !== line[s] || file[site[last - 1]] !== file[s])
        words[base + SINCE] = e + 1
      if (k === KIND.loop) {
        // what the body declares has no value until its declaration is executed again
        for (const v of unset[s]) words[base + THREAD + variableAt[v] + SET] = 0
        continue
      }
      if (k === KIND.other || k === KIND.fence) continue
      if (k === KIND.arrive) {
        words[base + ARRIVED]++
        continue
      }
      if (k === KIND.resume) {
        words[base + ACCESS] = 0
        continue
      }
      if (k <= KIND.element) {
        const v = k === KIND.value ? variableOf[s] : target[e] - 1
        if (v < 0) continue
        const at = base + THREAD + variableAt[v]
        let other = words[at + SET] === 0
        for (let w = 0, n = width[s], from = wordAt[e]; w < n; w++) {
          const value = values[from + w]
          if (words[at + 2 + w] !== value) {
            words[at + 2 + w] = value
            other = true
          }
        }
        words[at + SET] = e + 1
        if (other) words[at + CHANGED] = e + 1
        continue
      }
      if (target[e] === 0) continue
      words[base + ACCESS] = e + 1
      const m = memoryOf[s],
        memory = recording.memories[m]
      const at = this.memoryAt[m] + (target[e] - 1 - memory.first) * (CELL + memory.width)
      const load = isLoad[s] === 1
      words[at + (load ? READ : WRITTEN)] = e + 1
      const put = puts[s]
      if (k === KIND.atomic) {
        const a = recording.atomicAt[e],
          w = put?.length ? put[0] : 0
        if (recording.afterKnown[a]) {
          words[at + CELL + w] = recording.after[a]
          words[at + KNOWN] |= 1 << w
        } else words[at + KNOWN] &= ~(1 << w)
      } else if (!put || !width[s]) {
        if (!load) words[at + KNOWN] = 0
      } else {
        for (let w = 0, from = wordAt[e]; w < put.length; w++) {
          const bit = 1 << Math.min(put[w], 31)
          if (load && words[at + KNOWN] & bit) continue // a read only fills in words that are not known yet
          words[at + CELL + put[w]] = values[from + w]
          words[at + KNOWN] |= bit
        }
      }
    }
  }

  // The following methods return events counted from 1, 0 for none.

  /** The last event of a thread. */
  last(thread: number) {
    return this.words[thread * this.ofThread + LAST]
  }
  /** The number of events a thread has done. */
  done(thread: number) {
    return this.words[thread * this.ofThread + DONE]
  }
  /** The number of barriers a thread has reached. */
  arrived(thread: number) {
    return this.words[thread * this.ofThread + ARRIVED]
  }
  /** A thread's last access in its current epoch. */
  access(thread: number) {
    return this.words[thread * this.ofThread + ACCESS]
  }
  /** The last write of a cell. */
  written(memory: number, cell: number) {
    return this.words[this.#cell(memory, cell) + WRITTEN]
  }
  /** The last read of a cell. */
  read(memory: number, cell: number) {
    return this.words[this.#cell(memory, cell) + READ]
  }
  /** The event that last set a variable of a thread. */
  set(thread: number, variable: number) {
    return this.words[this.#variable(thread, variable) + SET]
  }

  /** The number of a thread's next event, -1 once it is done. */
  next(thread: number) {
    return this.recording.nth(thread, this.done(thread))
  }

  /** Whether a thread's current statement has changed a variable. */
  changed(thread: number, variable: number) {
    const {words, ofThread} = this,
      since = words[thread * ofThread + SINCE]
    const changed = words[this.#variable(thread, variable) + CHANGED]
    return changed > 0 && this.recording.turn[changed - 1] >= this.recording.turn[since - 1]
  }

  /** A variable's value as text, "" while it has none. */
  value(thread: number, variable: number) {
    const at = this.#variable(thread, variable)
    return this.words[at + SET] ? show(this.words, at + 2, this.recording.variables[variable].type) : ""
  }

  /** A variable's value, null while it has none. */
  quantity(thread: number, variable: number): Quantity | null {
    const at = this.#variable(thread, variable),
      {type} = this.recording.variables[variable],
      form = shape(type)
    if (!form || !this.words[at + SET]) return null
    const columns = /\dx(\d)$/.exec(type)?.[1]
    return {...vector(numbers(this.words, at + 2, type), form.scalar), columns: columns ? +columns : undefined}
  }

  /** Index in `words` of a cell: which of its words are known, its last write, its last read, then its values. */
  cellAt(memory: number, cell: number) {
    return this.#cell(memory, cell)
  }

  /** The parts of a cell as text, null where they are not known. */
  cell(memory: number, cell: number) {
    const at = this.#cell(memory, cell),
      known = this.words[at + KNOWN]
    return this.recording.memories[memory].parts.map(([, scalar, word]) =>
      known & (1 << Math.min(word, 31)) ? text(number(this.words, at + CELL + word, scalar), scalar) : null,
    )
  }

  /** One part of a cell as a number, null if it is not known. */
  cellNumber(memory: number, cell: number, part = 0) {
    const at = this.#cell(memory, cell),
      found = this.recording.memories[memory].parts[part]
    if (!found) return null
    const [, scalar, word] = found
    return this.words[at + KNOWN] & (1 << Math.min(word, 31)) ? number(this.words, at + CELL + word, scalar) : null
  }

  /** A thread's status: "run", "wait" at a barrier, "held" once all have reached that barrier (as of meet()), "done". */
  status(thread: number) {
    const last = this.last(thread)
    if (this.done(thread) === this.recording.count(thread))
      return last && this.recording.kind[this.recording.site[last - 1]] === KIND.arrive ? "wait" : "done"
    if (!last || this.recording.kind[this.recording.site[last - 1]] !== KIND.arrive) return "run"
    return this.everybody >= this.arrived(thread) ? "held" : "wait"
  }

  /** Count the barriers that all threads have reached. Call this once per moment, before status(). */
  meet() {
    let least = Infinity
    for (let t = 0; t < this.recording.threads; t++) {
      const over = this.done(t) === this.recording.count(t)
      if (!over || this.recording.kind[this.recording.site[Math.max(0, this.last(t) - 1)]] === KIND.arrive)
        least = Math.min(least, this.arrived(t))
    }
    this.everybody = least
    return this
  }

  #variable(thread: number, variable: number) {
    return thread * this.ofThread + THREAD + this.variableAt[variable]
  }
  #cell(memory: number, cell: number) {
    return this.memoryAt[memory] + cell * (CELL + this.recording.memories[memory].width)
  }
}
