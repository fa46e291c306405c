// The order for reading: all threads of the group advance together, statement by statement. Threads that part come together again
// where their paths do: after the if, at the end of a loop's turn for who continues, behind the loop for who breaks.
import {KIND} from "./recording.js"

const LINES = 2 ** 24 // more than a file has lines, or a statement events

// {order, row}: event numbers as they are read, and of each event its statement, equal for the threads that execute it together.
// No event is moved past one that it saw: accesses of one cell stay in the device's order where a write is among them. So every
// read finds what it read, also in a kernel that races, and threads wait there for those that came first.
export function lockstep(recording) {
  const {key, row} = ranks(recording)
  return {order: schedule(recording, key), row}
}

// Where each event stands in the program: epoch by epoch, then along nested blocks. A block is a call, or one turn of a loop; in
// it come lines, in a line the thread's events one after the other, and in one of these the block that it opens.
function ranks(recording) {
  const {length, threads, site, epoch, start, own, line, sites} = recording
  const kind = sites.map((s) => s.kind),
    functions = sites.map((s) => s.function ?? "")
  const nodes = {parent: [0], key: [0]},
    known = new Map()
  const child = (parent, key) => {
    const name = parent * LINES + key
    let node = known.get(name)
    if (node === undefined) {
      known.set(name, (node = nodes.key.length))
      nodes.parent.push(parent)
      nodes.key.push(key)
    }
    return node
  }
  const nodeOf = new Uint32Array(length),
    row = new Uint32Array(length)

  for (let t = 0; t < threads; t++) {
    const ahead = callers(recording, t, kind)
    let stack = []
    const top = () => stack.at(-1)
    const open = (about) => stack.push({...about, line: 0, seq: -1, at: 0})
    const advance = (block, to) => {
      // the thread does something more in this block, on this line
      const behind = to < block.line
      if (behind && block.loop >= 0) to = Math.max(block.line, block.end) // a condition: all come there when their turn is over
      if (to > block.line) {
        block.line = to
        block.seq = -1
      }
      block.at = child((block.row = child(block.node, block.line)), ++block.seq)
    }
    for (let i = start[t]; i < start[t + 1]; i++) {
      const e = own[i],
        s = site[e],
        at = line[s]
      if (kind[s] === "call" || !stack.length) {
        if (stack.length) advance(top(), ahead[i - start[t]])
        open({node: child(stack.length ? top().at : 0, 0), function: functions[s], loop: -1})
      } else {
        const here = (block) => block.function === functions[s]
        while (stack.length > 1 && (top().returned || (!here(top()) && stack.some(here)))) stack.pop()
        if (!here(top())) {
          // entered without a record of it
          advance(top(), top().line)
          open({node: child(top().at, 0), function: functions[s], loop: -1})
        }
        const again = kind[s] === "loop" ? stack.findLastIndex((block) => block.loop === s) : -1
        if (again >= 0) {
          stack.length = again + 1
          const {entry, turn, ...loop} = stack.pop()
          open({...loop, entry, turn: turn + 1, node: child(entry, turn + 1)})
        } else leave(stack, at)
        if (kind[s] === "loop" && again < 0) {
          advance(top(), at)
          open({
            node: child(top().at, 1),
            function: functions[s],
            loop: s,
            entry: top().at,
            turn: 1,
            begin: at,
            end: sites[s].end ?? at,
          })
        }
      }
      advance(top(), at)
      if (kind[s] === "return")
        for (let b = stack.length; b-- > 0; ) {
          stack[b].returned = true
          if (stack[b].loop < 0) break
        }
      nodeOf[e] = top().at
      row[e] = top().row
    }
  }
  const rank = inOrder(nodes),
    key = new Float64Array(length)
  for (let e = 0; e < length; e++) key[e] = epoch[e] * nodes.key.length + rank[nodeOf[e]]
  return {key, row}
}

// Loops of this call that a line lies behind are over.
function leave(stack, line) {
  while (stack.at(-1).loop >= 0 && (line > stack.at(-1).end || line < stack.at(-1).begin)) stack.pop()
}

// Of each of a thread's calls, the line on which its caller goes on: a call's own events come before those of its statement.
function callers(recording, t, kind) {
  const {start, own, site, line} = recording,
    first = start[t],
    count = recording.count(t)
  const depth = new Uint16Array(count),
    ahead = new Uint32Array(count),
    next = []
  for (let i = 0, d = 0, returned = []; i < count; i++) {
    const s = site[own[first + i]]
    if (kind[s] === "call") returned[++d] = false
    else while (d > 1 && returned[d]) d--
    depth[i] = d
    if (kind[s] === "return") returned[d] = true
  }
  for (let i = count - 1; i >= 0; i--) {
    const s = site[own[first + i]],
      d = depth[i]
    if (kind[s] === "call") {
      ahead[i] = next[d - 1] ?? 0
      next[d] = 0
    } else next[d] = line[s]
  }
  return ahead
}

// The place of each node in a walk through the tree, children by their keys.
function inOrder({parent, key}) {
  const ids = Array.from(key.keys())
    .slice(1)
    .sort((a, b) => parent[a] - parent[b] || key[a] - key[b])
  const first = new Map(),
    after = new Int32Array(key.length).fill(-1)
  ids.forEach((id, i) => {
    if (!first.has(parent[id])) first.set(parent[id], id)
    if (i + 1 < ids.length && parent[ids[i + 1]] === parent[id]) after[id] = ids[i + 1]
  })
  const rank = new Uint32Array(key.length)
  let count = 0
  for (const stack = [0]; stack.length; ) {
    const id = stack.pop()
    rank[id] = count++
    if (after[id] >= 0) stack.push(after[id])
    if (first.has(id)) stack.push(first.get(id))
  }
  return rank
}

// Always the thread that is furthest behind, unless what it is about to do has to wait for another's access of the same cell.
function schedule(recording, key) {
  const {length, threads, target, site, kind, thread} = recording
  const touches = (e) => target[e] > 0 && kind[site[e]] >= KIND.read && kind[site[e]] <= KIND.atomic
  const isRead = (e) => kind[site[e]] === KIND.read
  const cells = recording.memories.reduce((n, memory) => n + memory.count, 0) + 1
  const writes = new Uint32Array(cells),
    reads = new Uint32Array(cells) // of a cell: writes so far, reads since
  const version = new Uint32Array(length),
    before = new Uint32Array(length)
  const count = (e) => {
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
  const may = (e) => !touches(e) || (writes[target[e]] === version[e] && (isRead(e) || reads[target[e]] === before[e]))

  const turn = new Uint32Array(threads),
    queue = new Queue((a, b) => key[a] - key[b] || thread[a] - thread[b]),
    waiting = new Map()
  const offer = (e) => {
    if (e < 0) return
    if (may(e)) return queue.push(e)
    if (!waiting.has(target[e])) waiting.set(target[e], [])
    waiting.get(target[e]).push(e)
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
        held.forEach(offer)
      }
    }
    offer(recording.nth(thread[e], ++turn[thread[e]]))
  }
  return order
}

// A heap: the least first.
class Queue {
  constructor(compare) {
    this.compare = compare
    this.heap = []
  }

  push(item) {
    const {heap, compare} = this
    let at = heap.push(item) - 1
    for (let up; at > 0 && compare(heap[at], heap[(up = (at - 1) >> 1)]) < 0; at = up) [heap[at], heap[up]] = [heap[up], heap[at]]
  }

  pop() {
    const {heap, compare} = this,
      least = heap[0],
      last = heap.pop()
    if (heap.length) {
      heap[0] = last
      for (let at = 0, down; (down = 2 * at + 1) < heap.length; at = down) {
        if (down + 1 < heap.length && compare(heap[down + 1], heap[down]) < 0) down++
        if (compare(heap[at], heap[down]) <= 0) break
        ;[heap[at], heap[down]] = [heap[down], heap[at]]
      }
    }
    return least
  }
}
