// Barriers of a kernel, taken out and put back as comments.
import assert from "node:assert/strict"
import {test} from "node:test"
import {barriersIn, countBarriers, withBarrier} from "../../app/splatscope/web/exercises/barrier_switches.ts"

const SOURCE = "a();\n    GroupMemoryBarrierWithGroupSync();  // why\n  b();\nGroupMemoryBarrierWithGroupSync();\n"

test("a barrier that is taken out is a comment, and comes back as it was", () => {
  assert.deepEqual(barriersIn(SOURCE), [
    {line: 2, inPlace: true},
    {line: 4, inPlace: true},
  ])
  const without = withBarrier(SOURCE, 2, false)
  assert.equal(without.split("\n")[1], "    // GroupMemoryBarrierWithGroupSync();  // why")
  assert.equal(countBarriers(without), 1)
  assert.equal(withBarrier(without, 2, true), SOURCE)
})
