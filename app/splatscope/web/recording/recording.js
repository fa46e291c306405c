// A recording from Python: columns of events in the device's order, and indices for frequent queries.
import {KIND, kindOf} from "./kinds.js"
import {constantsOf} from "#web/recording/expressions/constants.js"
import {lockstep} from "./lockstep.js"
import {loopLocals} from "./loop_locals.js"
import {Stacks} from "./stack.js"
import {show} from "./values.js"

/**
 * @import {Column, Head, Memory, Output} from "#web/types.d.ts"
 * @import {Lockstep} from "./lockstep.js"
 */

const ARRAYS = {uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array}

/**
 * Decompress and read a recording that splatscope/recordings/wire.py packed.
 * @param {BlobPart} bytes
 * @param {Record<string, string>} [sources]  the sources that it does not contain itself (`wire.lean`)
 */
export async function unpack(bytes, sources) {
  const packed = new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate")))
  return new Recording(await packed.arrayBuffer(), sources)
}

/** The server does not have the recording at an address: it has restarted, or another server answers. */
export class MissingRecording extends Error {}

/** @typedef {(words: string) => void} Tell  shows what is waited for; "" for nothing any more */

/** @type {(address: string, tell: Tell) => Promise<Response>} */
let get = (address) => fetch(address)

/**
 * Have files fetched by `next`, which may wait.
 * @param {typeof get} next
 */
export function fetchWith(next) {
  get = next
}

/** @type {{address: string, words: string, tell: Tell, recording: Promise<Recording>} | null} */
let opened = null // the file that was opened last

/**
 * Fetch and unpack the recording in a file. The one opened last is not fetched again, unless that failed.
 * @param {string} address
 * @param {Tell} [tell]
 * @throws {MissingRecording}
 */
export function openFile(address, tell = () => {}) {
  if (opened?.address === address) {
    opened.tell = tell
    if (opened.words) tell(opened.words)
    return opened.recording
  }
  const waits = (/** @type {string} */ words) => {
    file.words = words
    file.tell(words)
  }
  const recording = fetched(address, waits).then((bytes) => unpack(bytes))
  const file = {address, words: "", tell, recording}
  recording.catch(() => {
    if (opened === file) opened = null
  })
  opened = file
  return recording
}

/**
 * The bytes at an address.
 * @param {string} address
 * @param {Tell} tell
 */
async function fetched(address, tell) {
  const answer = await get(address, tell)
  if (answer.status === 404) throw new MissingRecording("the server no longer has it. Reload the page to have it made again.")
  if (!answer.ok) throw new Error(`the server answers ${answer.status}`)
  return answer.arrayBuffer()
}

/** Events are numbered from 0, in the device's order; sites, memories and variables are indices into their tables. */
export class Recording {
  /** @type {Lockstep | null} */
  #lockstep = null
  /** @type {Map<string, string> | null} */
  #constants = null
  /** @type {number[][] | null} */
  #loopLocals = null

  /**
   * @param {ArrayBuffer} buffer  `uint32 length, JSON, columns`
   * @param {Record<string, string>} [sources]
   */
  constructor(buffer, sources) {
    const length = new Uint32Array(buffer, 0, 1)[0]
    /** @type {Head} */
    const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)))
    Object.assign(head.sources, sources)
    /** @type {(name: string) => Column} */
    const column = (name) => {
      const [type, start, count] = head.columns[name]
      return new ARRAYS[type](buffer, 4 + length + start, count)
    }
    this.head = head
    this.length = head.events
    this.threads = head.threads
    this.sites = head.sites
    this.variables = head.variables
    this.findings = head.findings
    /** What the host set besides buffers. */
    this.uniforms = (head.uniforms ?? []).map((one) => ({...one, words: Uint32Array.from(one.words)}))
    this.thread = column("thread")
    this.site = column("site")
    /** What each event accesses, counted from 1: a cell among those of all memories, or for kind `element` a variable. 0: nothing. */
    this.target = column("place")
    /** 1: outside of the memory, 2: replayed for its derivative. */
    this.flags = column("flags")
    this.words = column("words")
    /** The word that each atomic left in its cell, and whether it is known. */
    this.after = column("after")
    this.afterKnown = column("after_known")
    this.memories = head.memories.map((packed, i) => {
      const indices = column(`indices${i}`)
      /** @type {Memory} */
      const memory = {
        ...packed,
        initial: column(`initial${i}`),
        index: (cell) => (indices.length ? indices[cell] : cell),
        cell: (index) => (indices.length ? indices.indexOf(index) : index < packed.count ? index : -1),
      }
      return memory
    })
    /** @type {Output[]} */
    this.outputs = head.outputs.map((output, i) => ({...output, data: column(`output${i}`)}))

    // by site
    this.kind = Uint8Array.from(this.sites, kindOf)
    this.width = Uint8Array.from(this.sites, (s) => s.width ?? 0)
    this.line = Uint32Array.from(this.sites, (s) => s.line)
    this.files = Object.keys(head.sources)
    this.file = Int16Array.from(this.sites, (s) => this.files.indexOf(s.file))

    // by event: where its words and its atomic begin, the number of barriers its thread has passed, its number among its thread's
    // events
    this.wordAt = new Uint32Array(this.length + 1)
    this.atomicAt = new Uint32Array(this.length)
    this.epoch = new Uint32Array(this.length)
    this.turn = new Uint32Array(this.length)
    // the events of each thread in order, thread by thread, and where each thread's events begin
    this.own = new Uint32Array(this.length)
    this.start = new Uint32Array(this.threads + 1)
    this.epochs = this.#index()
    this.stacks = new Stacks(this)
  }

  /** Fill the arrays by event and by thread. Returns the number of epochs. */
  #index() {
    const {length, threads, thread, site, sites} = this
    const waits = Uint8Array.from(sites, (s) => (s.name?.endsWith("WithGroupSync") ? 1 : 0))
    const passed = new Uint32Array(threads)
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
    for (let e = 0; e < length; e++) {
      const t = thread[e]
      this.turn[e] = fill[t] - this.start[t]
      this.own[fill[t]++] = e
    }
    return passed.reduce((most, n) => Math.max(most, n), 0) + 1
  }

  /**
   * The number of events of a thread.
   * @param {number} thread
   */
  count(thread) {
    return this.start[thread + 1] - this.start[thread]
  }

  /**
   * The nth event of a thread, -1 before its first and after its last.
   * @param {number} thread
   * @param {number} n
   */
  nth(thread, n) {
    return n >= 0 && n < this.count(thread) ? this.own[this.start[thread] + n] : -1
  }

  /**
   * The site of an event.
   * @param {number} event
   */
  about(event) {
    return this.sites[this.site[event]]
  }

  /**
   * The cell that an event reads or writes, null if it accesses none that is recorded.
   * @param {number} event
   */
  cellOf(event) {
    const {memory} = this.about(event),
      target = this.target[event]
    return memory === undefined || !target ? null : {memory, cell: target - 1 - this.memories[memory].first}
  }

  /**
   * An event's value as text, "" if none was recorded.
   * @param {number} event
   */
  value(event) {
    const site = this.about(event)
    return site.width ? show(this.words, this.wordAt[event], site.type) : ""
  }

  /** For each variable, 1 if any thread ever sets it. */
  everSet() {
    const set = new Uint8Array(this.variables.length)
    for (let e = 0; e < this.length; e++) {
      const site = this.site[e]
      if (this.kind[site] === KIND.value) set[this.sites[site].variable ?? -1] = 1
      else if (this.kind[site] === KIND.element && this.target[e]) set[this.target[e] - 1] = 1
    }
    return set
  }

  /** Constants of the source by name, as expressions. */
  get constants() {
    this.#constants ??= constantsOf(this.head)
    return this.#constants
  }

  /** For each site of a loop, the variables that its body declares; for other sites []. Computed once. */
  get loopLocals() {
    this.#loopLocals ??= loopLocals(this)
    return this.#loopLocals
  }

  /** The order in which all threads move together. Computed once. */
  get lockstep() {
    this.#lockstep ??= lockstep(this)
    return this.#lockstep
  }
}
