import assert from "node:assert/strict"
import {test} from "node:test"
import {Moment} from "#web/recording/moment.ts"
import {find, nextStop} from "#web/recording/search.ts"
import {isNonFinite, slice} from "#web/recording/slice.ts"
import {divergent, float, recordingOf, shared} from "./packed.ts"
import type {Site} from "#web/types.ts"

/** a = 0; b = 1/a (infinite); c = b - b (NaN), on lines 1 to 3. */
function nonFinite() {
  const sites: Partial<Site>[] = ["a", "b", "c"].map((name, i) => {
    const origins = i ? ["a", "b"].slice(i - 1, i) : []
    return {kind: "value", line: i + 1, name, type: "float", width: 1, variable: i, origins}
  })
  return recordingOf({
    sites,
    variables: ["a", "b", "c"].map((name) => ({name, function: "main", type: "float", width: 1})),
    events: [0, Infinity, NaN].map((value, site) => ({thread: 0, site, words: [float(value)]})),
  })
}

test("the first event that fits is found, from either end", () => {
  const moment = new Moment(divergent(), () => {})
  assert.equal(find(moment, "x == 1", 0), 4)
  assert.equal(find(moment, "y == 1", 0), 7)
  assert.equal(find(moment, "y == 1", 7), 14)
  assert.equal(find(moment, "y == 1", 14, -1), 7)
  assert.equal(find(moment, "x > 5", 0), null)
})

test("NaN and infinity are found by name", () => {
  const moment = new Moment(nonFinite(), () => {})
  assert.equal(find(moment, "inf", 0), 2)
  assert.equal(find(moment, "NaN", 0), 3)
  assert.equal(find(new Moment(shared(), () => {}), "NaN", 0), null)
})

test("what names nothing is refused", () => {
  const moment = new Moment(divergent(), () => {})
  assert.throws(() => find(moment, "1 < 2", 0), /Name a variable or a cell/)
  assert.throws(() => find(moment, "nobody", 0), /No variable or memory/)
})

test("a breakpoint stops where a statement begins, if its condition holds", () => {
  const moment = new Moment(divergent(), () => {})
  assert.equal(nextStop(moment, new Map([["a.slang:7", ""]]), 1), 7)
  moment.seek(7)
  assert.equal(nextStop(moment, new Map([["a.slang:7", ""]]), 1), 14)
  assert.equal(nextStop(moment, new Map([["a.slang:7", "x == 2"]]), 1), null)
  assert.equal(nextStop(moment, new Map(), 1), null)
  moment.seek(14)
  assert.equal(nextStop(moment, new Map([["a.slang:7", ""]]), -1), 7)
  moment.pinned = 1
  assert.equal(nextStop(moment, new Map([["a.slang:7", ""]]), -1), null)
})

test("a value that is not finite is traced back to the first that was not", () => {
  const recording = nonFinite()
  assert.ok(!isNonFinite(recording, 0))
  assert.deepEqual(slice(recording, 2), {events: [1, 2], inputs: [0]})
  assert.equal(slice(recording, 0), null)
})
