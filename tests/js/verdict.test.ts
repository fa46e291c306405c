// What was missed is decided in Python; here it is shown, with no sentence twice and not too many.
import assert from "node:assert/strict"
import {test} from "node:test"
import {verdictOf} from "#web/stepper/panes/findings.ts"
import type {Head} from "#web/types.ts"

const verdict = (about: Partial<Head>) => verdictOf({verdict: "Nothing found", missed: [], ...about} as Head)

test("a whole recording without a finding is clean", () => {
  assert.deepEqual(verdict({}), {heading: "Nothing found", level: "ok", missed: []})
})

test("a recording of which something was missed is never called clean, whatever else its head says", () => {
  const part = {verdict: "Nothing found in what was recorded", missed: ["Only one workgroup was looked at."]}
  assert.deepEqual(verdict({...part, truncated: false, same_as_plain: true, stepped_over: {}}), {
    heading: part.verdict,
    level: "note",
    missed: part.missed,
  })
})

test("what the heading says is not said again", () => {
  const missed = ["Nothing was recorded.", "main was not recorded: it has a loop."]
  assert.deepEqual(verdict({verdict: "Nothing was recorded", missed}).missed, missed.slice(1))
})

test("of many sentences the first are shown", () => {
  const missed = Array.from({length: 9}, (_, i) => `f${i} was not recorded: it has a loop.`)
  assert.deepEqual(verdict({missed}).missed, [...missed.slice(0, 6), "And 3 more."])
})
