// A recording as it comes from Python: columns of events in the device's order, with what is asked of them again and again.

import {lockstep} from "./lockstep.js"

const ARRAYS = {uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array}

// What an event does to the state, in few numbers for the fold.
export const KIND = {other: 0, value: 1, element: 2, read: 3, write: 4, atomic: 5, arrive: 6, resume: 7, fence: 8, loop: 9}

export async function unpack(bytes) {
  const packed = new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate")))
  return new Recording(await packed.arrayBuffer())
}

export class Recording {
  constructor(buffer) {
    const length = new Uint32Array(buffer, 0, 1)[0]
    const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)))
    const column = (name) => {
      const [type, start, count] = head.columns[name]
      return new ARRAYS[type](buffer, 4 + length + start, count)
    }
    this.head = head
    this.length = head.events
    this.threads = head.threads
    this.sites = head.sites
    this.memories = head.memories
    this.variables = head.variables
    this.findings = head.findings
    for (const name of ["thread", "site", "flags", "words", "after", "after_known"]) this[name] = column(name)
    this.target = column("place")
    this.memories.forEach((memory, i) => {
      const indices = column(`indices${i}`)
      memory.initial = column(`initial${i}`)
      memory.index = (cell) => (indices.length ? indices[cell] : cell)
      memory.cell = (index) => (indices.length ? indices.indexOf(index) : index < memory.count ? index : -1)
    })
    this.outputs = head.outputs.map((output, i) => ({...output, data: column(`output${i}`)}))
    this.#index()
  }

  #index() {
    const {length, threads, thread, site, sites} = this
    this.kind = Uint8Array.from(sites, kindOf)
    this.width = Uint8Array.from(sites, (s) => s.width ?? 0)
    this.line = Uint32Array.from(sites, (s) => s.line)
    this.files = Object.keys(this.head.sources)
    this.file = Int16Array.from(sites, (s) => this.files.indexOf(s.file))
    const waits = Uint8Array.from(sites, (s) => (s.name?.endsWith("WithGroupSync") ? 1 : 0))

    // where each event's words and atomics begin; how many barriers its thread has passed; each thread's events in their order
    this.wordAt = new Uint32Array(length + 1)
    this.atomicAt = new Uint32Array(length)
    this.epoch = new Uint16Array(length)
    this.start = new Uint32Array(threads + 1)
    const passed = new Uint16Array(threads)
    let words = 0,
      atomics = 0
    for (let e = 0; e < length; e++) {
      const s = site[e],
        t = thread[e]
      this.wordAt[e] = words
      words += this.width[s]
      if (this.kind[s] === KIND.atomic) this.atomicAt[e] = atomics++
      if (this.kind[s] === KIND.resume && waits[s]) passed[t]++
      this.epoch[e] = passed[t]
      this.start[t + 1]++
    }
    this.wordAt[length] = words
    for (let t = 0; t < threads; t++) this.start[t + 1] += this.start[t]
    const fill = this.start.slice(0, threads)
    this.own = new Uint32Array(length) // thread by thread
    this.turn = new Uint32Array(length) // the how manieth of its thread an event is
    for (let e = 0; e < length; e++) {
      const t = thread[e]
      this.turn[e] = fill[t] - this.start[t]
      this.own[fill[t]++] = e
    }
    this.epochs = passed.reduce((most, n) => Math.max(most, n), 0) + 1
  }

  count(thread) {
    return this.start[thread + 1] - this.start[thread]
  }

  // The nth event of a thread, -1 past its end.
  nth(thread, n) {
    return n >= 0 && n < this.count(thread) ? this.own[this.start[thread] + n] : -1
  }

  about(event) {
    return this.sites[this.site[event]]
  }

  // An event's value as it is shown, "" where none was recorded.
  value(event) {
    const site = this.about(event)
    return site.width ? show(this.words, this.wordAt[event], site.type) : ""
  }

  // {order, row} of reading: all threads move together.
  get lockstep() {
    return (this.read ??= lockstep(this))
  }
}

function kindOf(site) {
  if (site.kind === "resume" && !site.name.endsWith("WithGroupSync")) return KIND.fence
  return KIND[site.kind] ?? KIND.other
}

const F32 = new Float32Array(1),
  BITS = new Uint32Array(F32.buffer),
  F64 = new Float64Array(1),
  PAIR = new Uint32Array(F64.buffer)
const SHAPE = /^(bool|u?int(?:8|16|64)_t|u?int|float|half|double)(?:(\d)x(\d)|(\d))?$/
const shapes = new Map()

export function shape(type) {
  if (!shapes.has(type)) {
    const match = SHAPE.exec(type ?? "")
    shapes.set(
      type,
      match && {
        scalar: match[1],
        count: match[2] ? match[2] * match[3] : +(match[4] ?? 1),
        size: /64|double/.test(match[1]) ? 2 : 1,
      },
    )
  }
  return shapes.get(type)
}

// One scalar as a number.
export function number(words, at, scalar) {
  switch (scalar) {
    case "float":
    case "half":
      BITS[0] = words[at]
      return F32[0]
    case "double":
      PAIR[0] = words[at]
      PAIR[1] = words[at + 1]
      return F64[0]
    case "int":
    case "int16_t":
    case "int8_t":
      return words[at] | 0
    case "int64_t":
      return Number(BigInt.asIntN(64, BigInt(words[at]) | (BigInt(words[at + 1]) << 32n)))
    case "uint64_t":
      return Number(BigInt(words[at]) | (BigInt(words[at + 1]) << 32n))
    default:
      return words[at]
  }
}

export function numbers(words, at, type) {
  const form = shape(type)
  return form ? Array.from({length: form.count}, (_, i) => number(words, at + i * form.size, form.scalar)) : []
}

export function text(value, scalar, digits = 4) {
  if (scalar === "bool") return value ? "true" : "false"
  if (scalar !== "float" && scalar !== "half" && scalar !== "double") return String(value)
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "−∞"
  const size = Math.abs(value)
  if (size !== 0 && (size < 1e-3 || size >= 1e6))
    return value.toExponential(2).replace("e+", "e").replace("-", "−").replace("e-", "e−")
  return String(Number(value.toPrecision(digits))).replace("-", "−")
}

export function show(words, at, type) {
  const form = shape(type)
  if (!form) return ""
  if (form.count === 1) return text(number(words, at, form.scalar), form.scalar)
  return `(${numbers(words, at, type)
    .map((n) => text(n, form.scalar, 3))
    .join(", ")})`
}
