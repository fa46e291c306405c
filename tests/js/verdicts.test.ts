// The last verdicts on tasks: what is kept comes back, and what is no verdict does not.
import assert from "node:assert/strict"
import {test} from "node:test"
import {keepVerdict, keptVerdict} from "#web/exercises/verdicts.ts"

const kept = new Map<string, string>()
Object.assign(globalThis, {
  localStorage: {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  },
})

const verdict = (task: string) => ({
  source: "void main() {}",
  mark: {task, number: 1, passed: true, points: 1, causes: [], cases: [], diagnostics: []},
})

test("a verdict is kept until it is forgotten", () => {
  kept.clear()
  assert.equal(keptVerdict("map"), null)
  keepVerdict("map", verdict("map"))
  assert.deepEqual(keptVerdict("map"), verdict("map"))
  keepVerdict("map", null)
  assert.equal(keptVerdict("map"), null)
})

test("of many verdicts the latest are kept", () => {
  kept.clear()
  for (let i = 0; i < 50; i++) keepVerdict(`task-${i}`, verdict(`task-${i}`))
  assert.equal(keptVerdict("task-0"), null)
  assert.deepEqual(keptVerdict("task-49"), verdict("task-49"))
})

test("what is no verdict on the task is none", () => {
  for (const wrong of [
    "",
    "null",
    "[]",
    '{"map": 3}',
    '{"map": {"source": 1}}',
    '{"map": {"source": "x", "mark": {"task": "map"}}}',
  ]) {
    kept.set("splatscope-verdicts", wrong)
    assert.equal(keptVerdict("map"), null, wrong)
  }
  kept.set("splatscope-verdicts", JSON.stringify({map: verdict("zip")}))
  assert.equal(keptVerdict("map"), null)
})
