// "Nothing found" is said only of what was looked at.
import assert from "node:assert/strict"
import {test} from "node:test"
import {verdictOf} from "#web/stepper/panes/findings.js"

/** @import {Head} from "#web/types.d.ts" */

/** @param {Partial<Head>} about */
const verdict = (about) => verdictOf(/** @type {Head} */ ({events: 10, truncated: false, stepped_over: {}, findings: [], ...about}))

test("a whole recording without a finding is clean", () => {
  assert.deepEqual(verdict({}), {heading: "Nothing found", level: "ok", why: []})
})

test("a recording of nothing says so, and why", () => {
  const {heading, level, why} = verdict({events: 0, stepped_over: {main: "the compiler does not survive its recorded form"}})
  assert.equal(heading, "Nothing was recorded")
  assert.equal(level, "note")
  assert.ok(/main \(the compiler does not survive its recorded form\).*Choose fewer functions/.test(why.join(" ")))
})

test("a full recording and one without a function are not called clean", () => {
  assert.equal(verdict({truncated: true}).heading, "Nothing found in the part that was recorded")
  const {heading, why} = verdict({stepped_over: {trace: "it was not chosen"}})
  assert.equal(heading, "Nothing found in what was recorded")
  assert.deepEqual(why, ["Not looked at: trace (it was not chosen)."])
  const finding = /** @type {Head["findings"]} */ ([{kind: "race"}])
  assert.equal(verdict({truncated: true, findings: finding}).heading, "Not all of it was recorded")
})

test("of many functions the first are named", () => {
  const over = Object.fromEntries(Array.from({length: 9}, (_, i) => [`f${i}`, "it has a loop"]))
  assert.ok(verdict({stepped_over: over}).why[0].endsWith("f5 (it has a loop) and 3 more."))
})

test("of functions that were not chosen there is a count where there are many", () => {
  const over = Object.fromEntries(Array.from({length: 9}, (_, i) => [`f${i}`, "it was not chosen"]))
  assert.deepEqual(verdict({stepped_over: over}).why, ["Not looked at: 9 functions that were not chosen."])
  const mixed = verdict({stepped_over: {...over, main: "it has a loop"}}).why
  assert.deepEqual(mixed, ["Not looked at: main (it has a loop) and 9 functions that were not chosen."])
})

test("what is said not to be recorded makes a verdict one of a part, and a note does not", () => {
  const {heading, level, why} = verdict({unseen: ["k.slang, line 3: this barrier is not recorded."]})
  assert.deepEqual([heading, level, why.join("")], ["Nothing found in what was recorded", "note", ""])
  assert.equal(verdict({notes: ["No thread reached line 7 of k.slang."], unseen: []}).level, "ok")
})
