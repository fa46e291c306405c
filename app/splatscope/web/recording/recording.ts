// A recording from Python: columns of events in the device's order, and indices for frequent queries.
import {KIND, kindOf} from "./kinds.ts"
import {constantsOf} from "#web/recording/expressions/constants.ts"
import {type Lockstep, lockstep} from "./lockstep.ts"
import {loopLocals} from "./loop_locals.ts"
import {Stacks} from "./stack.ts"
import {show} from "./values.ts"
import type {Column, Finding, Head, Memory, Output, PackedHead, Site, Variable} from "#web/types.ts"

const ARRAYS = {uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array}

/**
 * Decompress and read a recording that splatscope/recordings/wire.py packed.
 * @param sources  the sources that it does not contain itself (`wire.lean`)
 */
export async function unpack(bytes: BlobPart, sources?: Record<string, string>) {
  const packed = new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate")))
  return read(await packed.arrayBuffer(), sources)
}

/**
 * Read an unpacked stream of `uint32 length, JSON, columns`.
 * @param sources  the sources that it does not contain itself
 */
export function read(buffer: ArrayBuffer, sources?: Record<string, string>) {
  const length = new Uint32Array(buffer, 0, 1)[0]
  const {columns, ...head}: PackedHead = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)))
  Object.assign(head.sources, sources)
  return new Recording(head, (name) => {
    const [type, start, count] = columns[name]
    return new ARRAYS[type](buffer, 4 + length + start, count)
  })
}

/** The server does not have the recording at an address: it has restarted, or another server answers. */
export class MissingRecording extends Error {}

/** Shows what is waited for; "" for nothing any more. */
type Tell = (words: string) => void

let get: (address: string, tell: Tell) => Promise<Response> = (address) => fetch(address)

/** Have files fetched by `next`, which may wait. */
export function fetchWith(next: typeof get) {
  get = next
}

// the file that was opened last
let opened: {address: string; words: string; tell: Tell; recording: Promise<Recording>} | null = null

/**
 * Fetch and unpack the recording in a file. The one opened last is not fetched again, unless that failed.
 * @throws {MissingRecording}
 */
export function openFile(address: string, tell: Tell = () => {}) {
  if (opened?.address === address) {
    opened.tell = tell
    if (opened.words) tell(opened.words)
    return opened.recording
  }
  const waits = (words: string) => {
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

/** The bytes at an address. */
async function fetched(address: string, tell: Tell) {
  const answer = await get(address, tell)
  if (answer.status === 404) throw new MissingRecording("the server no longer has it. Reload the page to have it made again.")
  if (!answer.ok) throw new Error(`the server answers ${answer.status}`)
  return answer.arrayBuffer()
}

/** Events are numbered from 0, in the device's order; sites, memories and variables are indices into their tables. */
export class Recording {
  #constants: Map<string, string> | null = null
  #computed: Computed
  head: Head
  length: number
  threads: number
  sites: Site[]
  variables: Variable[]
  findings: Finding[]
  /** What the host set besides buffers. */
  uniforms
  thread: Column
  site: Column
  /** What each event accesses, counted from 1: a cell among those of all memories, or for kind `element` a variable. 0: nothing. */
  target: Column
  /** 1: outside of the memory, 2: replayed for its derivative. */
  flags: Column
  words: Column
  /** The word that each atomic left in its cell, and whether it is known. */
  after: Column
  afterKnown: Column
  memories: Memory[]
  outputs: Output[]
  kind: Uint8Array<ArrayBuffer>
  width: Uint8Array<ArrayBuffer>
  line: Uint32Array<ArrayBuffer>
  files: string[]
  file: Int16Array<ArrayBuffer>
  wordAt: Uint32Array<ArrayBuffer>
  atomicAt: Uint32Array<ArrayBuffer>
  epoch: Uint32Array<ArrayBuffer>
  turn: Uint32Array<ArrayBuffer>
  own: Uint32Array<ArrayBuffer>
  start: Uint32Array<ArrayBuffer>
  epochs: number
  stacks: Stacks

  /**
   * @param column  a column by its name
   * @param same  a recording of the same events with other values
   */
  constructor(head: Head, column: (name: string) => Column, same: Recording | null = null) {
    this.head = head
    this.length = head.events
    this.threads = head.threads
    this.sites = head.sites
    this.variables = head.variables
    this.findings = head.findings
    this.uniforms = (head.uniforms ?? []).map((one) => ({...one, words: Uint32Array.from(one.words)}))
    this.thread = column("thread")
    this.site = column("site")
    this.target = column("place")
    this.flags = column("flags")
    this.words = column("words")
    this.after = column("after")
    this.afterKnown = column("after_known")
    this.memories = head.memories.map((packed, i) => {
      const indices = column(`indices${i}`)
      const memory: Memory = {
        ...packed,
        initial: column(`initial${i}`),
        index: (cell) => (indices.length ? indices[cell] : cell),
        cell: (index) => (indices.length ? indices.indexOf(index) : index < packed.count ? index : -1),
      }
      return memory
    })
    this.outputs = head.outputs.map((output, i) => ({...output, data: column(`output${i}`)}))

    // by site
    this.kind = same?.kind ?? Uint8Array.from(this.sites, kindOf)
    this.width = same?.width ?? Uint8Array.from(this.sites, (s) => s.width ?? 0)
    this.line = same?.line ?? Uint32Array.from(this.sites, (s) => s.line)
    this.files = Object.keys(head.sources)
    this.file = same?.file ?? Int16Array.from(this.sites, (s) => this.files.indexOf(s.file))

    // by event: where its words and its atomic begin, the number of barriers its thread has passed, its number among its thread's
    // events
    this.wordAt = same?.wordAt ?? new Uint32Array(this.length + 1)
    this.atomicAt = same?.atomicAt ?? new Uint32Array(this.length)
    this.epoch = same?.epoch ?? new Uint32Array(this.length)
    this.turn = same?.turn ?? new Uint32Array(this.length)
    // the events of each thread in order, thread by thread, and where each thread's events begin
    this.own = same?.own ?? new Uint32Array(this.length)
    this.start = same?.start ?? new Uint32Array(this.threads + 1)
    this.epochs = same?.epochs ?? this.#index()
    this.stacks = same?.stacks ?? new Stacks(this)
    this.#computed = same ? same.#computed : {}
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

  /** The number of events of a thread. */
  count(thread: number) {
    return this.start[thread + 1] - this.start[thread]
  }

  /** The nth event of a thread, -1 before its first and after its last. */
  nth(thread: number, n: number) {
    return n >= 0 && n < this.count(thread) ? this.own[this.start[thread] + n] : -1
  }

  /** The site of an event. */
  about(event: number) {
    return this.sites[this.site[event]]
  }

  /** The cell that an event reads or writes, null if it accesses none that is recorded. */
  cellOf(event: number) {
    const {memory} = this.about(event),
      target = this.target[event]
    return memory === undefined || !target ? null : {memory, cell: target - 1 - this.memories[memory].first}
  }

  /** An event's value as text, "" if none was recorded. */
  value(event: number) {
    const site = this.about(event)
    return site.width ? show(this.words, this.wordAt[event], site.type) : ""
  }

  /** For each variable, 1 if any thread ever sets it. Computed once. */
  get everSet() {
    this.#computed.everSet ??= everSet(this)
    return this.#computed.everSet
  }

  /** Constants of the source by name, as expressions. */
  get constants() {
    this.#constants ??= constantsOf(this.head)
    return this.#constants
  }

  /** For each site of a loop, the variables that its body declares; for other sites []. Computed once. */
  get loopLocals() {
    this.#computed.loopLocals ??= loopLocals(this)
    return this.#computed.loopLocals
  }

  /** The order in which all threads move together. Computed once. */
  get lockstep() {
    this.#computed.lockstep ??= lockstep(this)
    return this.#computed.lockstep
  }

  /** The events of each site, in the device's order. Computed once. */
  get bySite() {
    this.#computed.bySite ??= bySite(this)
    return this.#computed.bySite
  }
}

/** What is computed when it is first asked for, once for all recordings of the same events. */
interface Computed {
  lockstep?: Lockstep
  loopLocals?: number[][]
  bySite?: Uint32Array[]
  everSet?: Uint8Array
}

function everSet({variables, length, site, sites, kind, target}: Recording) {
  const set = new Uint8Array(variables.length)
  for (let e = 0; e < length; e++) {
    if (kind[site[e]] === KIND.value) set[sites[site[e]].variable ?? -1] = 1
    else if (kind[site[e]] === KIND.element && target[e]) set[target[e] - 1] = 1
  }
  return set
}

function bySite({sites, site, length}: Recording) {
  const counts = new Uint32Array(sites.length)
  for (let event = 0; event < length; event++) counts[site[event]]++
  const events = Array.from(counts, (count) => new Uint32Array(count))
  counts.fill(0)
  for (let event = 0; event < length; event++) events[site[event]][counts[site[event]]++] = event
  return events
}
