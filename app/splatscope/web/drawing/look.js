// What a drawing asks of the moment: expressions over a thread's variables, cells of memory, what threads are doing.
import {parse} from "#web/stepper/model/expression.js"
import {lookup} from "#web/stepper/model/lookup.js"
import {text} from "#web/stepper/model/values.js"

const parsed = new Map()
const read = (expression) => {
  if (!parsed.has(expression)) parsed.set(expression, parse(expression))
  return parsed.get(expression)
}

export class Look {
  constructor(moment) {
    this.moment = moment
    this.recording = moment.recording
    this.state = moment.state
    this.step = moment.step
    this.thread = moment.thread
    this.threads = moment.recording.threads
    this.ways = new Map()
  }

  // The number an expression has for a thread now, null where it has none: `T < 1/255`, `blobs[i ^ j]`, `state.w`.
  value(expression, thread = this.thread) {
    if (!this.ways.has(thread)) this.ways.set(thread, lookup(this.recording, this.state, thread))
    return read(expression).value(this.ways.get(thread))
  }

  // As the stepper writes numbers.
  text(expression, thread = this.thread, digits = 4) {
    const value = this.value(expression, thread)
    return value === null ? null : show(value, digits)
  }

  status(thread) {
    return this.state.status(thread)
  }

  // A memory by name: how many cells, their numbers, and whether the event at the cursor reads or writes one.
  memory(name) {
    const {recording, state, moment} = this,
      m = recording.memories.findIndex((memory) => memory.name === name)
    if (m < 0) return null
    const memory = recording.memories[m],
      cell = (index) => memory.cell(index)
    return {
      count: memory.count,
      number: (index, part = 0) => {
        const c = cell(index)
        return c < 0 ? null : state.cellNumber(m, c, part)
      },
      written: (index) => {
        const c = cell(index)
        return c < 0 ? 0 : state.written(m, c)
      },
      read: (index) => {
        const c = cell(index)
        return c < 0 ? 0 : state.read(m, c)
      },
      touched: (index) => {
        const e = moment.event,
          c = cell(index)
        if (e < 0 || c < 0 || recording.about(e).memory !== m || recording.target[e] !== memory.first + c + 1) return ""
        return recording.about(e).kind === "read" ? "rd" : "wr"
      },
      follow: (index) => moment.follow({memory: m, cell: cell(index)}),
    }
  }
}

export const show = (value, digits = 4) => text(value, Number.isInteger(value) ? "int" : "float", digits)

// Numbers in base 2, so many bits.
export const bits = (value, count) => (value >>> 0).toString(2).padStart(count, "0").slice(-count)
