// A recording from the records that a kernel wrote in this browser, as splatscope/tracing/raw_records.py and recordings/wire.py make one
// from those of a device. What does not change with the inputs (sites, variables, sources) is that of another recording of the kernel.
import {Recording} from "./recording.ts"
import type {Column, Head, PackedMemory} from "#web/types.ts"

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

/** What a run did, apart from the values: while a hand moves, that is often the same from one run to the next. */
interface Course {
  /** The first row of each thread's records. */
  starts: Uint32Array
  /** The first word of each record, thread by thread, each thread with the 0 after its last. */
  heads: Uint32Array<ArrayBuffer>
  // By event, thread by thread: where its slot and its index are among the words of the records (0: it has none), and what they were.
  slotAt: Uint32Array<ArrayBuffer>
  indexAt: Uint32Array<ArrayBuffer>
  slot: Uint32Array<ArrayBuffer>
  index: Uint32Array<ArrayBuffer>
  /** Elements of the buffer of each memory. */
  extents: number[]
  /** How many events are atomics. */
  atomics: number
  // In the device's order: the columns of the recording, and where each word of its values is among the words of the records.
  thread: Uint32Array<ArrayBuffer>
  site: Uint32Array<ArrayBuffer>
  flags: Uint32Array<ArrayBuffer>
  place: Uint32Array<ArrayBuffer>
  wordFrom: Uint32Array<ArrayBuffer>
  /** By memory, the indices of its cells; empty if it has them all. */
  indices: Uint32Array<ArrayBuffer>[]
}

const courses = new WeakMap<Recording, Course>() // of recordings that were made here

/**
 * The recording of a run.
 * @param like  another recording of the same kernel
 * @returns null if it cannot be told by that one's sites: a thread wrote more than it had room for, an index was out of bounds, a fault
 */
export function recordingOf(run: Run, batches: Batches, like: Recording): Recording | null {
  const extents = like.head.memories.map((memory) => extentOf(memory, run, like))
  const before = courses.get(like)
  const isSame = before !== undefined && follows(run, before, extents)
  const course = isSame ? before : courseOf(run, batches, like, extents)
  if (!course) return null
  const {thread, site, flags, place, wordFrom, atomics} = course
  const words = new Uint32Array(wordFrom.length)
  for (let i = 0; i < words.length; i++) words[i] = run.records[wordFrom[i]]
  const {memories, columns} = cells(course, run, like)
  const outputs = like.head.outputs.map((output) => ({...output, words: run.after[output.name]?.length ?? output.words}))
  outputs.forEach((output, i) => {
    const left = run.after[output.name] ?? new Uint32Array(0)
    columns[`output${i}`] = output.picture ? left : left.subarray(0, MOST_CELLS)
  })
  Object.assign(columns, {
    thread,
    site,
    place,
    flags,
    words,
    after: new Uint32Array(atomics),
    after_known: new Uint8Array(atomics),
  } satisfies Record<string, Column>)
  const uniforms = like.head.uniforms?.map((one) => ({...one, words: run.uniforms[one.name] ?? one.words}))
  const head: Head = {...like.head, adapter: "this browser", events: thread.length, findings: [], memories, outputs, uniforms}
  const recording = new Recording(head, (name) => columns[name], isSame ? like : null)
  courses.set(recording, course)
  return recording
}

/** Whether a run has the events of an earlier one, in the same order and at the same places. */
function follows({records, starts}: Run, course: Course, extents: number[]) {
  const {heads, slotAt, indexAt, slot, index} = course
  if (starts.length !== course.starts.length || starts.some((row, thread) => row !== course.starts[thread])) return false
  let count = 0
  for (let thread = 0; thread + 1 < starts.length; thread++)
    for (let row = starts[thread]; ; row++) {
      if (row === starts[thread + 1] || records[4 * row] !== heads[count++]) return false
      if (!records[4 * row]) break
    }
  const isAt = (places: Uint32Array, values: Uint32Array) => {
    for (let event = 0; event < places.length; event++) if (places[event] && records[places[event]] !== values[event]) return false
    return true
  }
  return isAt(slotAt, slot) && isAt(indexAt, index) && extents.every((extent, memory) => extent === course.extents[memory])
}

/** The most rows that a thread has filled. */
export function fullest({records, starts}: Pick<Run, "records" | "starts">) {
  let most = 0
  for (let thread = 0; thread + 1 < starts.length; thread++) {
    const [from, end] = [starts[thread], starts[thread + 1]]
    if (records[4 * (end - 2)]) return end - from
    while (from + most < end && records[4 * (from + most)]) most++
  }
  return most
}

/** A record of a thread: its first row, its first word, and the row after it. */
type Visit = (thread: number, row: number, head: number, after: number) => void

/** Visit all records, thread by thread. Returns false if a thread's part was full. */
function visit({records, starts}: Run, act: Visit) {
  for (let thread = 0; thread + 1 < starts.length; thread++) {
    const end = starts[thread + 1]
    if (records[4 * (end - 2)]) return false
    for (let row = starts[thread]; row < end && records[4 * row]; ) {
      let after = row + 1
      while (after < end && records[4 * after] % (CONTINUED + 1) === CONTINUED) after++
      act(thread, row, records[4 * row], after)
      row = after
    }
  }
  return true
}

/** Lay out a run; null if it cannot be told by another recording's sites. */
function courseOf(run: Run, batches: Batches, like: Recording, extents: number[]): Course | null {
  const {records, starts} = run
  const {sites} = like
  const ticked = sites.map(({kind}) => TICKED.has(kind))
  const before = sites.map(({kind}) => (INDEXED.has(kind) ? 2 : TICKED.has(kind) || kind === "element" ? 1 : 0)) // words before its own
  const width = sites.map((site) => site.width ?? 0)
  const sitesOf = (head: number) => batches[head % (CONTINUED + 1)] ?? [head % (CONTINUED + 1)]
  let [length, words, rows, isKnown] = [0, 0, starts.length - 1, true]
  const count: Visit = (_, row, head, after) => {
    rows += after - row
    if (head % REPLAY >= OUTSIDE) isKnown = false
    for (const site of sitesOf(head)) {
      if (!sites[site]) isKnown = false
      else words += width[site]
      length++
    }
  }
  if (!visit(run, count) || !isKnown) return null

  const column = () => new Uint32Array(length)
  const [thread, site, flags, slotAt, indexAt, slot, index] = Array.from({length: 7}, column)
  const wordAt = new Uint32Array(length + 1)
  const wordFrom = new Uint32Array(words)
  let event = 0
  let word = 0
  visit(run, (of, row, head, after) => {
    let own = 0 // of the words of this record, three to a row
    const at = (n: number) => (row + Math.floor(n / 3) < after ? 4 * (row + Math.floor(n / 3)) + 1 + (n % 3) : 0) // word 0 is 0
    for (const number of sitesOf(head)) {
      thread[event] = of
      site[event] = number
      flags[event] = head >= REPLAY ? 2 : 0
      if (ticked[number]) slotAt[event] = at(0)
      if (before[number]) indexAt[event] = at(before[number] - 1)
      slot[event] = ticked[number] ? records[slotAt[event]] : NO_SLOT
      index[event] = before[number] ? records[indexAt[event]] : 0
      wordAt[event] = word
      own += before[number]
      for (let i = 0; i < width[number]; i++) wordFrom[word++] = at(own++)
      event++
    }
  })
  wordAt[length] = word

  const heads = new Uint32Array(rows)
  let filled = 0
  for (let of = 0; of + 1 < starts.length; of++) {
    for (let row = starts[of]; row < starts[of + 1] && records[4 * row]; row++) heads[filled++] = records[4 * row]
    filled++
  }
  const order = orderOf(thread, slot)
  const inOrder = (values: Uint32Array<ArrayBuffer>) => order.map((event) => values[event])
  const {place, indices} = placesOf(site, index, like, extents)
  return {
    ...{starts, heads, slotAt, indexAt, slot, index, extents, indices},
    atomics: site.reduce((count, number) => count + Number(sites[number].kind === "atomic"), 0),
    thread: inOrder(thread),
    site: inOrder(site),
    flags: inOrder(flags),
    place: inOrder(place),
    wordFrom: wordsIn(order, wordAt, wordFrom),
  }
}

/** Event numbers in the device's order: by their slots. One without a slot comes right after its thread's previous event. */
function orderOf(thread: Uint32Array, slot: Uint32Array) {
  const last = slot.reduce((most, one) => (one === NO_SLOT ? most : Math.max(most, one)), 0)
  const bySlot = new Uint32Array(last + 1) // counted from 1
  const order = new Uint32Array(slot.length)
  let count = 0
  /** Add events of a thread up to the next with a slot. */
  const follow = (from: number) => {
    for (let event = from; thread[event] === thread[from] && (event === from || slot[event] === NO_SLOT); event++)
      order[count++] = event
  }
  slot.forEach((one, event) => {
    if (one !== NO_SLOT) bySlot[one] = 1 + event
    else if (event === 0 || thread[event - 1] !== thread[event]) follow(event)
  })
  for (const event of bySlot) if (event) follow(event - 1)
  return order
}

/** The words of events in some order. */
function wordsIn(order: Uint32Array, wordAt: Uint32Array, words: Uint32Array) {
  const ordered = new Uint32Array(words.length)
  let count = 0
  for (const event of order) for (let at = wordAt[event]; at < wordAt[event + 1]; at++) ordered[count++] = words[at]
  return ordered
}

/** How many elements a memory has in a run. */
function extentOf(memory: PackedMemory, run: Run, like: Recording) {
  const layout = like.head.outputs.find(({name}) => name === memory.name)
  const words = run.before[memory.name]
  return layout && words ? Math.floor(words.length / layout.stride) : memory.extent
}

/** Number the cells of all memories, as `Cells` in recordings/wire_cells.py does, and tell for each event which one it accesses. */
function placesOf(site: Uint32Array, index: Uint32Array, like: Recording, extents: number[]) {
  const memoryOf = like.sites.map(({memory = -1}) => memory)
  const touched = extents.map(() => new Set<number>())
  site.forEach((number, event) => touched[memoryOf[number]]?.add(index[event]))
  const indices = extents.map((extent, memory) =>
    extent <= MOST_CELLS ? new Uint32Array(0) : Uint32Array.from(touched[memory]).sort(),
  )
  const numbers = indices.map((own) => new Map([...own].map((at, cell) => [at, cell])))
  const firsts = firstsOf(extents, indices)
  const elements = new Map(like.variables.map(({function: of, name}, i) => [`${of} ${name}`, 1 + i]))
  const place = site.map((number, event) => {
    const memory = memoryOf[number]
    if (memory >= 0) return 1 + firsts[memory] + (indices[memory].length ? (numbers[memory].get(index[event]) ?? 0) : index[event])
    const {kind, function: of, name, path} = like.sites[number]
    return kind === "element" ? (elements.get(`${of} ${name}[${index[event]}]${path ?? ""}`) ?? 0) : 0
  })
  return {place, indices}
}

/** The number of each memory's first cell. */
function firstsOf(extents: number[], indices: Uint32Array[]) {
  let count = 0
  return extents.map((extent, memory) => {
    const first = count
    count += countOf(extent, indices[memory])
    return first
  })
}

/** How many cells of a memory a recording has. */
const countOf = (extent: number, indices: Uint32Array) => (extent <= MOST_CELLS ? extent : indices.length)

/** What cells hold before a run. */
function cells({extents, indices}: Course, run: Run, like: Recording) {
  const columns: Record<string, Column> = {}
  const firsts = firstsOf(extents, indices)
  const memories = like.head.memories.map((memory, number) => {
    const layout = like.head.outputs.find(({name}) => name === memory.name)
    const words = run.before[memory.name]
    const count = countOf(extents[number], indices[number])
    const initial = new Uint32Array(memory.space === "shared" ? 0 : count * memory.width)
    if (layout && words)
      for (const [name, scalar, byte] of layout.parts) {
        const at = memory.parts.find(([part]) => part === name)?.[2]
        if (at === undefined || scalar.endsWith("64_t") || scalar === "double") continue
        for (let cell = 0; cell < count; cell++)
          initial[cell * memory.width + at] =
            words[(indices[number].length ? indices[number][cell] : cell) * layout.stride + byte / 4] ?? 0
      }
    columns[`indices${number}`] = indices[number]
    columns[`initial${number}`] = initial
    return {...memory, extent: extents[number], count, first: firsts[number]}
  })
  return {memories, columns}
}
