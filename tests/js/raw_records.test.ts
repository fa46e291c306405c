// A recording made from raw records, as a kernel in the browser writes them, is the one that Python made from the same events.
import assert from "node:assert/strict"
import {test} from "node:test"
import {recordingOf, type Run} from "#web/recording/raw_records.ts"
import type {Recording} from "#web/recording/recording.ts"
import {recordingOf as packed, reduction} from "./packed.ts"

const CONTINUED = 2 ** 24 - 1
const TICKED = ["read", "write", "atomic", "arrive", "resume"]
const ACCESSES = ["read", "write", "atomic"]

/** Write a recording's events as its kernel did: each thread into a part of so many records. */
function run(recording: Recording, room = 200): Run {
  const records = new Uint32Array(4 * (1 + recording.threads * room))
  const starts = Uint32Array.from({length: recording.threads + 1}, (_, thread) => 1 + thread * room)
  for (let thread = 0; thread < recording.threads; thread++) {
    let row = starts[thread]
    for (let n = 0; n < recording.count(thread); n++) {
      const event = recording.nth(thread, n)
      const site = recording.about(event)
      const cell = recording.cellOf(event)
      const before = TICKED.includes(site.kind) ? [event] : []
      if (cell && ACCESSES.includes(site.kind)) before.push(recording.memories[cell.memory].index(cell.cell))
      const words = [...before, ...recording.words.slice(recording.wordAt[event], recording.wordAt[event + 1])]
      for (let at = 0; at < Math.max(1, words.length); at += 3) {
        records.set([at ? CONTINUED : recording.site[event], ...words.slice(at, at + 3)], 4 * row)
        row++
      }
    }
    assert.ok(row < starts[thread + 1] - 2, "the test gives each thread enough room")
  }
  const outputs = recording.outputs.map(({name, data}) => [name, Uint32Array.from(data)])
  return {records, starts, before: {}, after: Object.fromEntries(outputs), uniforms: {}}
}

test("records become the events that they were written for, in the device's order", async () => {
  const like = await reduction()
  const recording = recordingOf(run(like), {}, like)
  assert.ok(recording)
  for (const column of ["thread", "site", "target", "flags", "words", "epoch", "turn"] as const)
    assert.deepEqual([...recording[column]], [...like[column]], column)
  assert.equal(recording.threads, like.threads)
  assert.deepEqual(
    recording.outputs.map(({data}) => [...data]),
    like.outputs.map(({data}) => [...data]),
  )
})

test("a batch is split into the events of its sites", () => {
  const like = packed({
    sites: [
      {}, // no site has the number 0
      {kind: "value", name: "at", type: "float2", width: 2, variable: 0},
      {kind: "loop", line: 2},
      {kind: "value", name: "far", type: "float", width: 1, variable: 1},
      {kind: "value", name: "on", type: "bool", width: 1, variable: 2},
    ],
    variables: ["at", "far", "on"].map((name, i) => ({name, function: "main", type: "float", width: i ? 1 : 2})),
    events: [1, 2, 3, 4].map((site) => ({thread: 0, site, words: [[], [10, 11], [], [12], [1]][site]})),
  })
  const records = Uint32Array.of(...[0, 0, 0, 0], ...[1, 10, 11, 12], ...[4, 1, 0, 0], ...Array(16).fill(0))
  const one = recordingOf({records, starts: Uint32Array.of(1, 7), before: {}, after: {}, uniforms: {}}, {1: [1, 2, 3]}, like)
  assert.deepEqual([...(one?.site ?? [])], [1, 2, 3, 4])
  assert.deepEqual([...(one?.words ?? [])], [10, 11, 12, 1])
})

test("other inputs are the recording's own", async () => {
  const like = await reduction()
  const [memory] = like.head.memories.filter(({space}) => space === "device")
  const output = like.head.outputs.find(({name}) => name === memory.name)
  assert.ok(output)
  const words = Uint32Array.from({length: memory.extent * output.stride}, (_, i) => 7 + i)
  const recording = recordingOf({...run(like), before: {[memory.name]: words}}, {}, like)
  const number = like.head.memories.indexOf(memory)
  assert.deepEqual([...(recording?.memories[number].initial ?? [])], [...words])
})

test("what the other recording's sites cannot tell makes no recording", async () => {
  const like = await reduction()
  const full = run(like)
  full.records[4 * (full.starts[1] - 2)] = 1
  assert.equal(recordingOf(full, {}, like), null, "a thread had too little room")
  const outside = run(like)
  outside.records[4] += 2 ** 30
  assert.equal(recordingOf(outside, {}, like), null, "an index was out of bounds")
  const unknown = run(like)
  unknown.records[4] = like.sites.length
  assert.equal(recordingOf(unknown, {}, like), null, "a site is not among the other's")
})

test("what stays the same from run to run is not computed anew, and what changes is", async () => {
  const like = await reduction()
  const first = recordingOf(run(like), {}, like)
  assert.ok(first)
  const other = run(first)
  const read = first.sites.findIndex(({kind, width}) => kind === "read" && width === 1)
  for (let at = 0; at < other.records.length; at += 4)
    if (other.records[at] === read) [other.records[at + 2], other.records[at + 3]] = [other.records[at + 2], 77]
  const second = recordingOf(other, {}, first)
  assert.ok(second)
  assert.equal(second.lockstep, first.lockstep)
  const anew = recordingOf(other, {}, like)
  for (const column of ["thread", "site", "target", "flags", "words"] as const)
    assert.deepEqual([...second[column]], [...(anew?.[column] ?? [])], column)
  assert.ok(second.words.includes(77))

  const elsewhere = run(first)
  const at = elsewhere.records.findIndex((word, i) => i % 4 === 0 && word === read)
  elsewhere.records[at + 2]++ // another cell
  const third = recordingOf(elsewhere, {}, first)
  assert.ok(third && third.lockstep !== first.lockstep)
  assert.ok(third.target.some((place, event) => place !== first.target[event]))
})

test("a run of fewer threads is not taken for the one before", async () => {
  const like = await reduction()
  const first = recordingOf(run(like), {}, like)
  assert.ok(first)
  const whole = run(first)
  const fewer = recordingOf({...whole, starts: whole.starts.slice(0, -1)}, {}, first)
  const anew = recordingOf({...whole, starts: whole.starts.slice(0, -1)}, {}, like)
  assert.ok(fewer && anew && fewer.thread.length < first.thread.length)
  assert.deepEqual([...fewer.thread], [...anew.thread])
})
