import assert from "node:assert/strict"
import {test} from "node:test"
import {Alignment} from "#web/compare/alignment.ts"
import {differences, effect} from "#web/recording/difference.ts"
import {divergent, float, recordingOf, shared} from "./packed.ts"
import type {Part} from "#web/types.ts"

/** @param second  the value on line 2 */
const twoValues = (second: number) =>
  recordingOf({
    source: "a = 1;\nb = 2;\n",
    sites: ["a", "b"].map((name, i) => ({kind: "value", line: i + 1, name, type: "float", width: 1, variable: i})),
    variables: ["a", "b"].map((name) => ({name, function: "main", type: "float", width: 1})),
    events: [1, second].map((value, site) => ({thread: 0, site, words: [float(value)]})),
  })

test("a recording does not differ from itself", () => {
  assert.deepEqual(differences(divergent(), divergent()), {event: null, value: null, outputs: []})
})

test("the first event and the first value that differ are found", () => {
  const {event, value} = differences(twoValues(2), twoValues(3))
  assert.deepEqual(event, {first: 1, second: 1})
  assert.deepEqual(value, {first: 1, second: 1})
})

test("where one thread does something more, the other has no event", () => {
  const {event} = differences(shared(), twoValues(2))
  assert.ok(event)
  assert.ok(event.first === 0 || event.second === 0)
})

test("a joint position leads to one of each recording, and back", () => {
  const recordings = [shared(), divergent()]
  for (const byEpoch of [false, true]) {
    const alignment = new Alignment(recordings, byEpoch)
    recordings.forEach(({length}, i) => {
      assert.equal(alignment.at(i, alignment.length), length)
      for (let position = 0; position <= alignment.length; position++) {
        const own = alignment.at(i, position)
        assert.ok(own <= length)
        assert.equal(alignment.at(i, alignment.of(i, own)), own)
      }
    })
  }
})

test("what a fix did is told by the first element of the results that it changed", () => {
  const left = (...values: number[]) => {
    const recording = divergent()
    const parts = [["", "uint", 0]] as Part[]
    recording.outputs = [{name: "histogram", words: values.length, stride: 1, parts, data: Uint32Array.from(values)}]
    return recording
  }
  assert.equal(effect(left(4, 5, 7), left(4, 6, 7)), "histogram[1]: 5 before, 6 now.")
  assert.equal(effect(left(4, 5, 7), left(4, 6, 9)), "histogram[1]: 5 before, 6 now; 1 more of histogram changed.")
  assert.equal(effect(left(4), left(4)), "")
})
