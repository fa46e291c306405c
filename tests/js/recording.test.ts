import assert from "node:assert/strict"
import {test} from "node:test"
import {describeEvent, subscript} from "#web/recording/describe.ts"
import {AccessIndex} from "#web/recording/accesses.ts"
import {openFile} from "#web/recording/recording.ts"
import {divergent, recordingOf, reduction, shared} from "./packed.ts"
import type {Site} from "#web/types.ts"

test("a recording that Python packed is read with all its tables and columns", async () => {
  const recording = await reduction()
  assert.equal(recording.head.version, 1)
  assert.equal(recording.length, 731)
  assert.equal(recording.threads, 16)
  assert.equal(recording.thread.length, recording.length)
  assert.equal(recording.words.length, recording.wordAt[recording.length])
  assert.ok(recording.memories.some(({space}) => space === "shared"))
  for (const output of recording.outputs) assert.equal(output.data.length, output.words)
})

test("each thread's events are numbered in the order of its program", async () => {
  const recording = await reduction()
  for (let t = 0; t < recording.threads; t++) {
    for (let n = 0; n < recording.count(t); n++) {
      const event = recording.nth(t, n)
      assert.equal(recording.thread[event], t)
      assert.equal(recording.turn[event], n)
    }
    assert.equal(recording.nth(t, recording.count(t)), -1)
    assert.equal(recording.nth(t, -1), -1)
  }
})

test("an epoch begins when a thread goes on after a barrier", () => {
  assert.deepEqual([...shared().epoch], [0, 0, 0, 1, 1, 1, 1])
})

test("an event is described with what it touches and its value", () => {
  const recording = shared()
  assert.deepEqual(describeEvent(recording, 0), {verb: "writes", target: "keys[1]", value: "2.5", sign: "="})
  assert.deepEqual(describeEvent(recording, 1), {verb: "reaches the barrier", target: "", value: "", sign: ""})
  assert.deepEqual(describeEvent(recording, 5), {verb: "reads", target: "keys[1]", value: "2.5", sign: "→"})
  assert.equal(describeEvent(divergent(), 2).verb, "takes the branch")
})

test("the index of an array of several dimensions is written dimension by dimension", () => {
  assert.equal(subscript({dims: [4]}, 3), "[3]")
  assert.equal(subscript({dims: [2, 4]}, 7), "[1][3]")
  assert.equal(subscript({dims: [2, 3, 4]}, 23), "[1][2][3]")
})

test("the accesses of a cell and of a variable are found", () => {
  const index = new AccessIndex(shared())
  assert.deepEqual(index.of({memory: 0, cell: 1}), {writes: [0], reads: [5]})
  assert.deepEqual(index.of({memory: 0, cell: 2}), {writes: [], reads: []})
  assert.deepEqual(index.of({thread: 1, variable: 0}), {writes: [6], reads: []})
  assert.deepEqual(index.of({thread: 0, variable: 0}), {writes: [], reads: []})
})

test("a file is fetched once, and again only if that failed", async () => {
  const real = globalThis.fetch
  let asked = 0
  try {
    globalThis.fetch = () => Promise.reject(new TypeError(`no network, ${++asked}`))
    const failure = () =>
      openFile("recordings/one").then(
        () => "",
        (reason) => reason.message,
      )
    assert.equal(await failure(), "no network, 1")
    assert.equal(await failure(), "no network, 2")
    globalThis.fetch = () => {
      asked++
      return new Promise(() => {})
    }
    assert.equal(openFile("recordings/one"), openFile("recordings/one"))
    assert.equal(asked, 3)
  } finally {
    globalThis.fetch = real
  }
})

test("barriers are counted beyond 65,535", () => {
  const sites: Partial<Site>[] = [
    {kind: "arrive", name: "GroupMemoryBarrierWithGroupSync"},
    {kind: "resume", name: "GroupMemoryBarrierWithGroupSync"},
  ]
  const events = Array.from({length: 140_000}, (_, i) => ({thread: 0, site: i % 2}))
  assert.equal(recordingOf({sites, events}).epoch.at(-1), 70_000)
})

test("a variable that no thread ever sets is known as such", () => {
  const sites: Partial<Site>[] = [
    {kind: "value", variable: 2, width: 1, type: "float"},
    {kind: "element", width: 1, type: "float"},
  ]
  const variables = ["a", "b", "c"].map((name) => ({name, type: "float", function: "main", width: 1}))
  const events = [
    {thread: 0, site: 0, words: [1]},
    {thread: 0, site: 1, words: [2], target: 1},
  ]
  assert.deepEqual([...recordingOf({sites, variables, events}).everSet], [1, 0, 1])
})
