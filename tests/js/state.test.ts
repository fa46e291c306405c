import assert from "node:assert/strict"
import {test} from "node:test"
import {State} from "#web/recording/state.ts"
import {Moment, near} from "#web/recording/moment.ts"
import {divergent, reduction, shared} from "./packed.ts"

test("seeking there and back gives the same state as folding from the start", async () => {
  const recording = await reduction()
  for (const order of [null, recording.lockstep.order]) {
    const state = new State(recording, order)
    state.every = 64 // several copies in a short recording
    for (const position of [recording.length, 700, 3, 0, 129, 128, 127, 64, recording.length, 1])
      assert.deepEqual(state.seek(position).words, new State(recording, order).seek(position).words, `at ${position}`)
    assert.ok(state.copies.length > 5)
  }
})

test("a cell is unknown until it is written, and remembers who wrote and read it", () => {
  const state = new State(shared())
  assert.deepEqual(state.cell(0, 1), [null])
  assert.deepEqual(state.seek(1).cell(0, 1), ["2.5"])
  assert.equal(state.cellNumber(0, 1), 2.5)
  assert.equal(state.written(0, 1), 1)
  assert.equal(state.read(0, 1), 0)
  assert.equal(state.seek(6).read(0, 1), 6)
  assert.deepEqual(state.cell(0, 0), [null])
})

test("a read tells what stands in a cell where nothing is known of it, and changes nothing else", () => {
  const recording = shared()
  const state = new State(recording, new Uint32Array([1, 2, 3, 4, 5, 6, 0]))
  assert.deepEqual(state.seek(5).cell(0, 1), ["2.5"])
  assert.equal(state.written(0, 1), 0)
})

test("a thread runs, waits at a barrier, is held once all are there, and is done", () => {
  const state = new State(shared())
  const statuses = (position: number) => {
    state.seek(position).meet()
    return [0, 1].map((thread) => state.status(thread))
  }
  assert.deepEqual(statuses(1), ["run", "run"])
  assert.deepEqual(statuses(2), ["wait", "run"])
  assert.deepEqual(statuses(3), ["held", "held"])
  assert.deepEqual(statuses(4), ["done", "held"])
  assert.deepEqual(statuses(7), ["done", "done"])
})

test("a variable has changed only in the statement that gave it another value", () => {
  const state = new State(divergent())
  assert.equal(state.seek(0).value(0, 0), "")
  assert.equal(state.seek(3).value(0, 0), "0")
  assert.equal(state.seek(4).value(0, 0), "1")
  assert.ok(state.changed(0, 0))
  assert.ok(!state.seek(7).changed(0, 0))
})

test("a moment keeps its event when the order changes", () => {
  const moment = new Moment(divergent(), () => {})
  for (let step = 0; step <= moment.recording.length; step++) {
    moment.setOrder(false)
    moment.goto(step)
    moment.setOrder(true)
    assert.equal(moment.step, step)
  }
})

test("a move stays within the recording", () => {
  const moment = new Moment(divergent(), () => {})
  moment.seek(-5)
  assert.equal(moment.position, 0)
  moment.seek(1000)
  assert.equal(moment.position, moment.recording.length)
})

test("a barrier is passed where the last thread reaches it", () => {
  const moment = new Moment(shared(), () => {})
  assert.deepEqual(moment.barriers, [3])
  assert.equal(moment.barrier(-1), false)
  assert.equal(moment.barrier(1), true)
  assert.equal(moment.position, 3)
  assert.equal(moment.barrier(1), false, "there is none after it")
  assert.equal(moment.position, 3)
  moment.seek(4)
  assert.equal(moment.barrier(-1), true)
  assert.equal(moment.position, 3)
})

test("the nearest number is beyond the given one", () => {
  assert.equal(near([1, 4, 9], 4, 1), 9)
  assert.equal(near([1, 4, 9], 4, -1), 1)
  assert.equal(near([1, 4, 9], 9, 1), undefined)
})
