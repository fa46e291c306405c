// The call stack of a thread, and what steps over, into and out of calls.
import assert from "node:assert/strict"
import {test} from "node:test"
import {Moment} from "#web/recording/moment.ts"
import {recordingOf} from "./packed.ts"
import type {Site} from "#web/types.ts"

/**
 * One thread, of which main calls `twice` on line 10 and again on line 11, and `twice` returns `half(x) + half(x)`:
 *
 *   1 half { 2 y = ...; 3 return y; }   5 twice { 6 z = ...; 7 return half(z) + half(z); }   9 main { 10 a = twice(1); 11 b = twice(a); 12 }
 */
function calls() {
  const source = [
    "int half(int x) {",
    "  int y = x;",
    "  return y;",
    "}",
    "int twice(int x) {",
    "  int z = x;",
    "  return half(z) + half(z);",
    "}",
    "void main() {",
    "  int a = twice(1);",
    "  int b = twice(a);",
    "}",
  ].join("\n")
  const sites: Partial<Site>[] = [
    {kind: "call", line: 1, name: "half", function: "half"},
    {kind: "value", line: 2, name: "y", function: "half", type: "int", width: 1, variable: 0},
    {kind: "return", line: 3, column: 3, name: "half", function: "half"},
    {kind: "call", line: 5, name: "twice", function: "twice"},
    {kind: "value", line: 6, name: "z", function: "twice", type: "int", width: 1, variable: 1},
    {kind: "return", line: 7, column: 3, name: "twice", function: "twice"},
    {kind: "call", line: 9, name: "main", function: "main"},
    {kind: "value", line: 10, name: "a", function: "main", type: "int", width: 1, variable: 2},
    {kind: "value", line: 11, name: "b", function: "main", type: "int", width: 1, variable: 3},
    {kind: "return", line: 12, name: "main", function: "main"},
  ]
  const half = [0, 1, 2],
    twice = [3, 4, 5, ...half, ...half]
  const run = [6, ...twice, 7, ...twice, 8, 9]
  return recordingOf({
    sites,
    source,
    variables: ["y", "z", "a", "b"].map((name, i) => ({
      name,
      function: ["half", "twice", "main", "main"][i],
      type: "int",
      width: 1,
    })),
    events: run.map((site) => ({thread: 0, site, words: sites[site].width ? [1] : []})),
  })
}

const stackAt = (recording: ReturnType<typeof calls>, turn: number) => {
  const names = []
  for (let frame = recording.stacks.at(0, turn); frame; frame = frame.parent) names.push(frame.function)
  return names.join(" ")
}

test("what a return's value calls stands on top of the function that returns", () => {
  const recording = calls()
  assert.equal(stackAt(recording, 0), "main")
  assert.equal(stackAt(recording, 3), "twice main") // the return, recorded before its value
  assert.equal(stackAt(recording, 5), "half twice main")
  assert.equal(stackAt(recording, 8), "half twice main")
  assert.equal(stackAt(recording, 10), "main") // a is set: both have returned
  assert.equal(stackAt(recording, 11), "twice main") // and the next call is main's, not the first one's
  assert.equal(stackAt(recording, recording.length - 1), "main")
})

test("a frame knows the line of its call", () => {
  const recording = calls()
  const half = recording.stacks.at(0, 5) as NonNullable<ReturnType<typeof recording.stacks.at>>
  assert.equal(recording.stacks.calledFrom(0, half), 7)
  assert.equal(recording.stacks.calledFrom(0, half.parent as typeof half), 10)
  const later = recording.stacks.at(0, 12) as typeof half
  assert.equal(recording.stacks.calledFrom(0, later), 11)
})

test("into, over and out of calls", () => {
  const recording = calls(),
    moment = new Moment(recording, () => {})
  const line = () => recording.about(moment.event).line
  moment.seek(1)
  moment.statement(1)
  assert.equal(line(), 5) // into twice
  moment.seek(1)
  moment.over(1)
  assert.equal(line(), 10)
  moment.over(1)
  assert.equal(line(), 11)
  moment.over(-1)
  assert.equal(line(), 10)
  moment.over(-1)
  assert.equal(line(), 9)
  moment.seek(6) // in half, called by twice
  assert.equal(stackAt(recording, 5), "half twice main")
  moment.out()
  assert.equal(line(), 10) // twice has nothing left to do after its last half
  moment.seek(4)
  moment.out()
  assert.equal(line(), 10)
  moment.out()
  assert.equal(moment.position, recording.length) // out of the entry point is the end
})
