import assert from "node:assert/strict"
import {test} from "node:test"
import {divergent, reduction, shared} from "./packed.ts"

test("threads that part come together again in the next turn and behind the loop", () => {
  const recording = divergent(),
    {order, row} = recording.lockstep
  const steps = [...order].map((event) => {
    const {kind, line} = recording.about(event)
    return `${line} ${kind} ${recording.thread[event]}`
  })
  assert.deepEqual(steps, [
    ...["4 value 0", "4 value 1"],
    ...["5 loop 0", "5 loop 1", "6 branch 0", "6 branch 1", "6 value 0"], // thread 0 takes the branch in the first turn
    ...["5 loop 0", "5 loop 1", "6 branch 0", "6 branch 1", "6 value 1"],
    ...["7 value 0", "7 value 1"],
  ])
  const [a, b] = [recording.nth(0, recording.count(0) - 1), recording.nth(1, recording.count(1) - 1)]
  assert.equal(row[a], row[b])
})

test("every event comes once, each thread's in the order of its program, epoch after epoch", async () => {
  for (const recording of [divergent(), shared(), await reduction()]) {
    const {order} = recording.lockstep,
      next = new Uint32Array(recording.threads)
    assert.equal(new Set(order).size, recording.length)
    for (const event of order) assert.equal(recording.turn[event], next[recording.thread[event]]++)
    const epochs = [...order].map((event) => recording.epoch[event])
    assert.deepEqual(
      epochs,
      epochs.toSorted((a, b) => a - b),
    )
  }
})

test("every read finds what it read", async () => {
  const recording = await reduction(),
    cells = new Map<number, string>()
  let checked = 0
  for (const event of recording.lockstep.order) {
    const target = recording.target[event],
      {kind} = recording.about(event)
    if (kind === "write") cells.set(target, recording.value(event))
    if (kind !== "read" || !cells.has(target)) continue
    assert.equal(recording.value(event), cells.get(target))
    checked++
  }
  assert.ok(checked > 10)
})
