// Lockstep, an order for reading: all threads of the group advance together, statement by statement. Threads that diverge meet
// again where their paths join: after the if; after an iteration of the loop for threads that continue; after the loop for those
// that break. A SIMT device does this with a stack of reconvergence points (W. Fung et al., Dynamic Warp Formation, MICRO 2007,
// section 2). Here it is computed from a recording, whatever the device did.
//
// Example: threads 0 and 1 run
//
//   5  for (i = 0; i < 2; i++)
//   6    if (i == thread) x += 1;
//   7  y = x;
//
// Each event gets a path through nested blocks, made of lines and turns (iterations of a loop). The events of thread 0 are at
// 5.turn1.6 (the condition), 5.turn1.6 (x += 1), 5.turn2.6, 7, and those of thread 1 at 5.turn1.6, 5.turn2.6, 5.turn2.6 (x += 1),
// 7. Sorted by path, both test i == thread in turn 1, then thread 0 adds, then both test in turn 2, then thread 1 adds, and both do
// line 7 together.
import {KIND} from "./kinds.ts"
import type {Recording} from "./recording.ts"

export interface Lockstep {
  /** Event numbers in lockstep order. */
  order: Uint32Array
  /** By event, its place in that order. */
  rank: Uint32Array
  /** By event, its statement: equal for threads that execute it together in an epoch. */
  row: Uint32Array
}

const LINES = 2 ** 24 // more than the lines of any file, or the events of any statement

/**
 * Order a recording's events so that all threads move together.
 *
 * No event is moved past one whose effect it saw: accesses of a cell stay in the device's order if one of them is a write. So every
 * read finds the value that it read, even in a kernel with races. Threads wait for accesses that came first.
 */
export function lockstep(recording: Recording): Lockstep {
  const {key, row} = ranks(recording)
  const order = schedule(recording, key)
  const rank = new Uint32Array(order.length)
  for (let place = 0; place < order.length; place++) rank[order[place]] = place
  return {order, rank, row}
}

/**
 * Rank each event by its place in the program: by epoch, then by its path through nested blocks.
 * @returns the sort key, and the statement
 */
function ranks(recording: Recording): {key: Float64Array; row: Uint32Array} {
  const {length, threads, epoch} = recording
  const tree = new Tree(),
    nodeOf = new Uint32Array(length),
    row = new Uint32Array(length)
  for (let t = 0; t < threads; t++) {
    const path = new Path(recording, tree, t)
    for (let i = recording.start[t]; i < recording.start[t + 1]; i++) {
      const e = recording.own[i]
      const {at, row: statement} = path.follow(e)
      nodeOf[e] = at
      row[e] = statement
    }
  }
  const rank = tree.inOrder(),
    key = new Float64Array(length)
  for (let e = 0; e < length; e++) key[e] = epoch[e] * tree.size + rank[nodeOf[e]]
  return {key, row}
}

/** The blocks, lines and events of all threads, as a tree of numbered nodes; the root is 0. */
class Tree {
  parent: number[]
  key: number[]
  known: Map<number, number>

  constructor() {
    this.parent = [0]
    this.key = [0]
    this.known = new Map()
  }

  get size() {
    return this.key.length
  }

  /** The child of a node with this key, created if it is new. */
  child(parent: number, key: number) {
    const name = parent * LINES + key
    let node = this.known.get(name)
    if (node === undefined) {
      node = this.key.length
      this.known.set(name, node)
      this.parent.push(parent)
      this.key.push(key)
    }
    return node
  }

  /** The position of each node in a walk through the tree, with children sorted by their keys. */
  inOrder() {
    const {parent, key} = this
    const ids = Array.from(key.keys())
      .slice(1)
      .sort((a, b) => parent[a] - parent[b] || key[a] - key[b])
    const first = new Map<number, number>()
    const after = new Int32Array(key.length).fill(-1)
    ids.forEach((id, i) => {
      if (!first.has(parent[id])) first.set(parent[id], id)
      if (i + 1 < ids.length && parent[ids[i + 1]] === parent[id]) after[id] = ids[i + 1]
    })
    const rank = new Uint32Array(key.length),
      stack = [0]
    for (let count = 0; stack.length; count++) {
      const id = stack.pop() as number,
        child = first.get(id)
      rank[id] = count
      if (after[id] >= 0) stack.push(after[id])
      if (child !== undefined) stack.push(child)
    }
    return rank
  }
}

/**
 * A call, or one turn of a loop. It contains lines, a line contains the thread's events in order, and an event may contain the
 * block that it opens.
 */
interface Block {
  node: number
  function: string
  /** The line that the thread is on. */
  line: number
  /** Node of that line. */
  row: number
  /** Node of the last event on it. */
  at: number
  /** Number of that event on the line. */
  seq: number
  returned: boolean
  /** Null for a call. */
  loop: Loop | null
}

interface Loop {
  site: number
  /** Node of the event that opened its first turn. */
  entry: number
  /** Counted from 1. */
  turn: number
  /** Its first line. */
  begin: number
  /** Its last line. */
  end: number
}

/** The place of one thread while its events are followed: a stack of blocks. */
class Path {
  #stack: Block[] = []
  recording: Recording
  tree: Tree
  callerLines: Uint32Array<ArrayBuffer>

  constructor(recording: Recording, tree: Tree, thread: number) {
    this.recording = recording
    this.tree = tree
    this.callerLines = callerLines(recording, thread)
  }

  get #top() {
    return this.#stack[this.#stack.length - 1]
  }

  /**
   * Move to the thread's next event.
   * @returns the block that contains it; its `at` and `row` are the event's
   */
  follow(e: number): Block {
    const {recording} = this,
      s = recording.site[e],
      {kind, function: name = ""} = recording.sites[s],
      line = recording.line[s]
    if (kind === "call" || !this.#stack.length) {
      if (this.#stack.length) this.#advance(this.callerLines[recording.turn[e]])
      this.#open(this.tree.child(this.#top?.at ?? 0, 0), name)
    } else {
      this.#returnTo(name)
      if (kind !== "loop") this.#leaveLoops(line)
      else if (!this.#nextTurn(s)) this.#enterLoop(s, name)
    }
    this.#advance(line)
    if (kind === "return") this.#markReturned()
    return this.#top
  }

  /** @param name  of the function */
  #open(node: number, name: string, loop: Loop | null = null) {
    this.#stack.push({node, function: name, loop, line: 0, row: 0, at: 0, seq: -1, returned: false})
  }

  /** Add an event on this line to the innermost block. */
  #advance(line: number) {
    const block = this.#top
    // the loop's condition, which all threads reach at the end of their turn
    if (line < block.line && block.loop) line = Math.max(block.line, block.loop.end)
    if (line > block.line) {
      block.line = line
      block.seq = -1
    }
    block.row = this.tree.child(block.node, block.line)
    block.at = this.tree.child(block.row, ++block.seq)
  }

  /**
   * Leave finished blocks until the innermost belongs to this function. If the function was entered without a record, open a block.
   */
  #returnTo(name: string) {
    const inside = (block: Block) => block.function === name
    while (this.#stack.length > 1 && (this.#top.returned || (!inside(this.#top) && this.#stack.some(inside)))) this.#stack.pop()
    if (inside(this.#top)) return
    this.#advance(this.#top.line)
    this.#open(this.tree.child(this.#top.at, 0), name)
  }

  /** Begin the next turn of a loop. Returns false if the thread is not in the loop. */
  #nextTurn(site: number) {
    const at = this.#stack.findLastIndex((block) => block.loop?.site === site)
    const block = this.#stack[at],
      loop = block?.loop
    if (!loop) return false
    this.#stack.length = at
    const turn = loop.turn + 1
    this.#open(this.tree.child(loop.entry, turn), block.function, {...loop, turn})
    return true
  }

  /**
   * Begin the first turn of a loop.
   * @param name  of the function
   */
  #enterLoop(site: number, name: string) {
    const begin = this.recording.line[site]
    this.#leaveLoops(begin)
    this.#advance(begin)
    const entry = this.#top.at
    this.#open(this.tree.child(entry, 1), name, {site, entry, turn: 1, begin, end: this.recording.sites[site].end ?? begin})
  }

  /** Leave the loops of this call that do not contain a line. */
  #leaveLoops(line: number) {
    for (let {loop} = this.#top; loop && (line > loop.end || line < loop.begin); {loop} = this.#top) this.#stack.pop()
  }

  /** End the current call and the loops in it. */
  #markReturned() {
    for (const block of this.#stack.toReversed()) {
      block.returned = true
      if (!block.loop) break
    }
  }
}

/** For each of a thread's calls, the line on which its caller continues. A call's own events come before those of its statement. */
function callerLines(recording: Recording, thread: number) {
  const {sites, line} = recording,
    count = recording.count(thread)
  const site = (i: number) => recording.site[recording.nth(thread, i)]
  const depth = new Uint16Array(count),
    lines = new Uint32Array(count)
  const returned: boolean[] = []
  for (let i = 0, d = 0; i < count; i++) {
    const {kind} = sites[site(i)]
    if (kind === "call") returned[++d] = false
    else while (d > 1 && returned[d]) d--
    depth[i] = d
    if (kind === "return") returned[d] = true
  }
  const next: number[] = [] // by depth, the line of the next event there
  for (let i = count - 1; i >= 0; i--) {
    const s = site(i),
      d = depth[i]
    if (sites[s].kind === "call") {
      lines[i] = next[d - 1] ?? 0
      next[d] = 0
    } else next[d] = line[s]
  }
  return lines
}

/**
 * Always advance the thread that is furthest behind, unless its next event must wait for another thread's access of the same cell.
 */
function schedule(recording: Recording, key: Float64Array) {
  const {length, threads, target, site, kind, thread} = recording
  type EventNumber = number
  const touches = (e: EventNumber) => target[e] > 0 && kind[site[e]] >= KIND.read && kind[site[e]] <= KIND.atomic
  const isRead = (e: EventNumber) => kind[site[e]] === KIND.read
  const cells = recording.memories.reduce((n, memory) => n + memory.count, 0) + 1
  const writes = new Uint32Array(cells),
    reads = new Uint32Array(cells) // by cell: writes so far, reads since the last write
  const version = new Uint32Array(length),
    before = new Uint32Array(length)
  const count = (e: EventNumber) => {
    if (isRead(e)) reads[target[e]]++
    else {
      writes[target[e]]++
      reads[target[e]] = 0
    }
  }
  for (let e = 0; e < length; e++) {
    if (!touches(e)) continue
    version[e] = writes[target[e]]
    before[e] = reads[target[e]]
    count(e)
  }
  writes.fill(0)
  reads.fill(0)
  const may = (e: EventNumber) => !touches(e) || (writes[target[e]] === version[e] && (isRead(e) || reads[target[e]] === before[e]))

  const turn = new Uint32Array(threads),
    queue = new Queue((a, b) => key[a] - key[b] || thread[a] - thread[b])
  const waiting = new Map<number, EventNumber[]>() // by the cell that they access
  const offer = (e: EventNumber) => {
    if (e < 0) return
    if (may(e)) return queue.push(e)
    const others = waiting.get(target[e])
    if (others) others.push(e)
    else waiting.set(target[e], [e])
  }
  for (let t = 0; t < threads; t++) offer(recording.nth(t, 0))
  const order = new Uint32Array(length)
  for (let p = 0; p < length; p++) {
    const e = queue.pop()
    order[p] = e
    if (touches(e)) {
      count(e)
      const held = waiting.get(target[e])
      if (held) {
        waiting.delete(target[e])
        for (const other of held) offer(other)
      }
    }
    offer(recording.nth(thread[e], ++turn[thread[e]]))
  }
  return order
}

/** A binary heap of numbers, with the least on top. */
class Queue {
  compare: (a: number, b: number) => number
  heap: number[]

  constructor(compare: (a: number, b: number) => number) {
    this.compare = compare
    this.heap = []
  }

  push(item: number) {
    const {heap, compare} = this
    let at = heap.push(item) - 1
    while (at > 0) {
      const up = (at - 1) >> 1
      if (compare(heap[at], heap[up]) >= 0) break
      ;[heap[at], heap[up]] = [heap[up], heap[at]]
      at = up
    }
  }

  /** Remove and return the least. The heap must not be empty. */
  pop() {
    const {heap, compare} = this,
      least = heap[0],
      last = heap.pop() as number
    if (heap.length) heap[0] = last
    for (let at = 0; ; ) {
      let down = 2 * at + 1
      if (down >= heap.length) return least
      if (down + 1 < heap.length && compare(heap[down + 1], heap[down]) < 0) down++
      if (compare(heap[at], heap[down]) <= 0) return least
      ;[heap[at], heap[down]] = [heap[down], heap[at]]
      at = down
    }
  }
}
