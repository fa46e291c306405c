// What a learner has tried of each task: whatever a file holds, and of two records the one that has come further.
import assert from "node:assert/strict"
import {test} from "node:test"
import {attempt, attempts, note, takeIn, valid} from "#web/runtime/attempts.ts"

const kept = new Map<string, string>()
Object.assign(globalThis, {
  localStorage: {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  },
})

test("a task that nobody tried has no tries and no hints", () => {
  kept.clear()
  assert.deepEqual(attempt("map"), {tries: 0, hints: 0})
})

test("what changes is kept beside what was there, and a source that is the start again is forgotten", () => {
  kept.clear()
  note("map", {source: "x", tries: 1})
  note("map", {hints: 2})
  assert.deepEqual(attempt("map"), {source: "x", tries: 1, hints: 2})
  note("map", {source: undefined})
  assert.deepEqual(attempt("map"), {tries: 1, hints: 2})
})

test("anything at all is read as what it holds of attempts", () => {
  for (const wrong of [null, 3, "x", [], {"../up": {tries: 1}}, {map: null}]) assert.deepEqual(valid(wrong), {})
  assert.deepEqual(valid({map: {tries: -1, hints: "2", solved: "soon", source: 7, seen: 1}}), {map: {tries: 0, hints: 0}})
  assert.deepEqual(valid({map: {tries: 2, hints: 1, solved: "2026-01-31", source: "x", seen: true, pending: true}}), {
    map: {tries: 2, hints: 1, solved: "2026-01-31", source: "x", seen: true, pending: true},
  })
  assert.deepEqual(valid({map: {source: "x".repeat(70_000)}}), {map: {tries: 0, hints: 0}})
})

test("a file adds what has come further, and takes nothing away", () => {
  kept.clear()
  note("map", {tries: 3, source: "mine"})
  note("zip", {tries: 1, solved: "2026-01-01", source: "mine"})
  note("guard", {tries: 2, source: "mine"})
  const more = takeIn({
    map: {tries: 1, solved: "2026-02-02", source: "theirs"},
    zip: {tries: 9, solved: "2026-03-03", source: "theirs"},
    guard: {tries: 1, source: "theirs"},
    turn: {tries: 1, hints: 1, pending: true},
  })
  assert.equal(attempt("turn").pending, undefined) // nobody has pressed anything here
  assert.equal(more, 1)
  assert.deepEqual(
    Object.entries(attempts()).map(([name, {source}]) => [name, source]),
    [
      ["map", "theirs"],
      ["zip", "mine"],
      ["guard", "mine"],
      ["turn", undefined],
    ],
  )
})
