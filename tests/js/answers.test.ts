// What a reader has answered, as it comes back from storage or a file: anything else is left out.
import assert from "node:assert/strict"
import {test} from "node:test"
import {markOf, validAnswers} from "#web/runtime/answers.ts"

test("a question's mark tells it from others, and is the same the next time", () => {
  assert.equal(markOf("adam", "Which?"), markOf("adam", "Which?"))
  assert.ok(markOf("adam", "Which?") !== markOf("adam", "Who?"))
  assert.ok(markOf("adam", "Which?") !== markOf("undo", "Which?"))
  assert.match(markOf("bitonic-sort", "Ω?"), /^bitonic-sort-\w+$/)
})

test("only answers are taken in, and no more than can be kept", () => {
  assert.deepEqual(validAnswers(null), {})
  assert.deepEqual(validAnswers("x"), {})
  assert.deepEqual(validAnswers({"adam-1": "8", "<b>": "8", "adam-2": 8, "adam-3": "x".repeat(301)}), {"adam-1": "8"})
  const many = Object.fromEntries(Array.from({length: 600}, (_, i) => [`adam-${i}a`, "8"]))
  assert.equal(Object.keys(validAnswers(many)).length, 500)
  assert.ok("adam-599a" in validAnswers(many))
})
