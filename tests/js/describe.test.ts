// What a step's sentence says is true of every event, told from the events alone.
import assert from "node:assert/strict"
import {test} from "node:test"
import {describeEvent, sentenceOf, subscript} from "#web/recording/describe.ts"
import {Moment} from "#web/recording/moment.ts"
import {reduction, shared} from "./packed.ts"

for (const lockstep of [false, true])
  test(`each sentence names its thread and what it did, and counts who is at the barrier, ${lockstep ? "in lockstep" : "as it ran"}`, async () => {
    for (const recording of [await reduction(), shared()]) {
      const moment = new Moment(recording, () => {})
      if (lockstep) moment.setOrder(true)
      const arrived = new Array(recording.threads).fill(0) // barriers that each thread has reached
      const said = new Set<number>()
      for (let position = 1; position <= recording.length; position++) {
        moment.seek(position)
        moment.state.seek(position).meet()
        const {event} = moment
        const thread = recording.thread[event]
        const sentence = sentenceOf(moment)
        assert.ok(sentence.startsWith(`Thread ${thread} `) && sentence.endsWith("."), sentence)
        assert.ok(!/undefined|null|NaN {2}| {2}/.test(sentence), sentence)
        if (recording.about(event).kind !== "arrive") {
          const {target, value} = describeEvent(recording, event)
          assert.ok(sentence.includes(target) && sentence.includes(value), sentence)
          continue
        }
        arrived[thread]++
        const there = arrived.filter((n) => n >= arrived[thread]).length
        const expected =
          there < recording.threads
            ? `waits at the barrier. ${there} of ${recording.threads} ${there === 1 ? "has" : "have"} arrived.`
            : "reaches the barrier"
        assert.ok(sentence.includes(expected), `${sentence} (${there})`)
        said.add(there)
      }
      assert.deepEqual(Math.max(...said), recording.threads)
    }
  })

test("before the first event nothing has run", async () => {
  assert.ok(sentenceOf(new Moment(await reduction(), () => {})).startsWith("Nothing has run yet"))
})

test("an element has its subscripts, a texel its coordinates", () => {
  assert.equal(subscript({dims: []}, 7), "[7]")
  assert.equal(subscript({dims: [2, 3, 4]}, 23), "[1][2][3]")
  assert.equal(subscript({dims: [2, 3, 4], space: "texture"}, 20), "[0, 2, 1]")
})

test("an access outside names its memory, and whether it reads", async () => {
  const recording = await reduction()
  const [memory] = recording.memories.keys()
  const told = (site: object) => {
    const stand = Object.create(recording, {about: {value: () => site}, cellOf: {value: () => null}})
    const {verb, target} = describeEvent(stand, 0)
    return `${verb} ${target}`
  }
  const {name} = recording.memories[memory]
  assert.equal(told({kind: "out-of-bounds", memory}), `would write outside of ${name}`)
  assert.equal(told({kind: "out-of-bounds", name: "table", access: "read"}), "reads outside of table")
})
