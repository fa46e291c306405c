// A recording from the records that a kernel wrote in this browser, as splatscope/tracing/raw_records.py and recordings/wire.py make one
// from those of a device. What does not change with the inputs (sites, variables, sources) is that of another recording of the kernel.
import {Recording} from "./recording.ts"
import type {Column, Head, Site} from "#web/types.ts"

// These values are the same in tracing/instrument/runtime.slang.
const REPLAY = 2 ** 31
const OUTSIDE = 2 ** 30
const CONTINUED = 2 ** 24 - 1
const NO_SLOT = 2 ** 32 - 1

const TICKED = new Set(["read", "write", "atomic", "arrive", "resume", "overrun", "out-of-bounds"]) // kinds of site that take a slot
const INDEXED = new Set(["read", "write", "atomic", "out-of-bounds"]) // kinds whose records have an index after the slot
const MOST_CELLS = 4096 // of a memory whose cells are all in a recording

/** What a kernel did in this browser. */
export interface Run {
  /** Four words for each record; record 0 belongs to no thread. */
  records: Uint32Array
  /** The first record of each thread, counted as in `records`, and the end of the last. */
  starts: Uint32Array
  /** The words of each buffer before and after the dispatch, by name. */
  before: Record<string, Uint32Array<ArrayBuffer>>
  after: Record<string, Uint32Array<ArrayBuffer>>
  /** The words of each uniform, by its dotted name. */
  uniforms: Record<string, number[]>
}

/** All sites of a batch, whose records were written as one, by its first site. */
export type Batches = Record<number, number[]>

/** Events in the order of their threads; the words of each begin at its `wordAt`. */
interface Events {
  thread: number[]
  site: number[]
  slot: number[]
  index: number[]
  flags: number[]
  wordAt: number[]
  words: number[]
}

/**
 * The recording of a run.
 * @param like  another recording of the same kernel
 * @returns null if it cannot be told by that one's sites: a thread wrote more than it had room for, an index was out of bounds, a fault
 */
export function recordingOf(run: Run, batches: Batches, like: Recording): Recording | null {
  const events = read(run, batches, like.sites)
  if (!events) return null
  const order = orderOf(events)
  const inOrder = (column: number[]) => order.map((event) => column[event])
  const {memories, columns, cellOf} = cells(events, run, like)
  const elements = new Map(like.variables.map(({function: of, name}, i) => [`${of} ${name}`, 1 + i]))
  const place = events.site.map((number, event) => {
    const {kind, memory, function: of, name, path} = like.sites[number]
    if (memory !== undefined) return cellOf(memory, events.index[event])
    return kind === "element" ? (elements.get(`${of} ${name}[${events.index[event]}]${path ?? ""}`) ?? 0) : 0
  })
  const atomics = events.site.filter((number) => like.sites[number].kind === "atomic").length
  const outputs = like.head.outputs.map((output) => ({...output, words: run.after[output.name]?.length ?? output.words}))
  outputs.forEach((output, i) => {
    const words = run.after[output.name] ?? new Uint32Array(0)
    columns[`output${i}`] = output.picture ? words : words.subarray(0, MOST_CELLS)
  })
  Object.assign(columns, {
    thread: inOrder(events.thread),
    site: inOrder(events.site),
    place: inOrder(place),
    flags: inOrder(events.flags),
    words: wordsIn(order, events),
    after: new Uint32Array(atomics),
    after_known: new Uint8Array(atomics),
  } satisfies Record<string, Column>)
  const uniforms = like.head.uniforms?.map((one) => ({...one, words: run.uniforms[one.name] ?? one.words}))
  const head: Head = {...like.head, adapter: "this browser", events: order.length, findings: [], memories, outputs, uniforms}
  return new Recording(head, (name) => columns[name])
}

/** Read the events, thread by thread; null if they cannot be told by these sites. */
function read({records, starts}: Run, batches: Batches, sites: Site[]): Events | null {
  const ticked = sites.map(({kind}) => TICKED.has(kind))
  const before = sites.map(({kind}) => (INDEXED.has(kind) ? 2 : TICKED.has(kind) || kind === "element" ? 1 : 0)) // words before its own
  const width = sites.map((site) => site.width ?? 0)
  const events: Events = {thread: [], site: [], slot: [], index: [], flags: [], wordAt: [], words: []}
  const own: number[] = [] // the words of one record
  for (let thread = 0; thread + 1 < starts.length; thread++) {
    const end = starts[thread + 1]
    if (records[4 * (end - 2)]) return null // its part was full
    for (let row = starts[thread]; row < end && records[4 * row]; ) {
      const word = records[4 * row]
      const number = word % (CONTINUED + 1)
      if (word % REPLAY >= OUTSIDE || !sites[number]) return null
      own.length = 0
      do {
        own.push(records[4 * row + 1], records[4 * row + 2], records[4 * row + 3])
        row++
      } while (row < end && records[4 * row] % (CONTINUED + 1) === CONTINUED)
      let at = 0
      for (const site of batches[number] ?? [number]) {
        if (!sites[site]) return null
        events.thread.push(thread)
        events.site.push(site)
        events.flags.push(word >= REPLAY ? 2 : 0)
        events.slot.push(ticked[site] ? own[0] : NO_SLOT)
        events.index.push(before[site] ? own[before[site] - 1] : 0)
        events.wordAt.push(events.words.length)
        at += before[site]
        for (let i = 0; i < width[site]; i++) events.words.push(own[at++] ?? 0)
      }
    }
  }
  return events
}

/** Event numbers in the device's order: by their slots. One without a slot comes right after its thread's previous event. */
function orderOf({thread, slot}: Events) {
  const bySlot: number[] = []
  const order = new Uint32Array(slot.length)
  let count = 0
  /** Add events of a thread up to the next with a slot. */
  const follow = (from: number) => {
    for (let event = from; thread[event] === thread[from] && (event === from || slot[event] === NO_SLOT); event++)
      order[count++] = event
  }
  slot.forEach((one, event) => {
    if (one !== NO_SLOT) bySlot[one] = event
    else if (event === 0 || thread[event - 1] !== thread[event]) follow(event)
  })
  for (const event of bySlot) if (event !== undefined) follow(event)
  return order
}

/** The words of events in some order. */
function wordsIn(order: Uint32Array, {wordAt, words}: Events) {
  const ordered = new Uint32Array(words.length)
  let count = 0
  for (const event of order) {
    const end = wordAt[event + 1] ?? words.length
    for (let at = wordAt[event]; at < end; at++) ordered[count++] = words[at]
  }
  return ordered
}

/** Number the cells of each memory, as `Cells` in recordings/wire_cells.py does. */
function cells(events: Events, run: Run, like: Recording) {
  const columns: Record<string, Column> = {}
  let first = 0
  const numbered = like.head.memories.map((memory, number) => {
    const layout = like.head.outputs.find(({name}) => name === memory.name)
    const words = run.before[memory.name]
    const extent = layout && words ? Math.floor(words.length / layout.stride) : memory.extent
    const whole = extent <= MOST_CELLS
    const of = (event: number) => like.sites[events.site[event]].memory === number
    const touched = whole ? [] : [...new Set(events.index.filter((_, event) => of(event)))].sort((a, b) => a - b)
    const indices = Uint32Array.from(touched)
    const count = whole ? extent : indices.length
    const initial = new Uint32Array(memory.space === "shared" ? 0 : count * memory.width)
    if (layout && words)
      for (const [name, scalar, byte] of layout.parts) {
        const at = memory.parts.find(([part]) => part === name)?.[2]
        if (at === undefined || scalar.endsWith("64_t") || scalar === "double") continue
        for (let cell = 0; cell < count; cell++)
          initial[cell * memory.width + at] = words[(whole ? cell : indices[cell]) * layout.stride + byte / 4] ?? 0
      }
    columns[`indices${number}`] = indices
    columns[`initial${number}`] = initial
    const begin = first
    first += count
    const places = new Map(touched.map((index, cell) => [index, cell]))
    const place = (index: number) => 1 + begin + (whole ? index : (places.get(index) ?? 0))
    return {about: {...memory, extent, count, first: begin}, place}
  })
  return {
    memories: numbered.map(({about}) => about),
    columns,
    cellOf: (memory: number, index: number) => numbered[memory].place(index),
  }
}
