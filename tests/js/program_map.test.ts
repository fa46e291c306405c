// What the map of the home page writes beside its boxes.
import assert from "node:assert/strict"
import {test} from "node:test"
import {timeText} from "#web/home/program_map.ts"

test("a time has two digits and no power of ten", () => {
  const written = [0.004, 0.0949, 0.095, 0.96, 9.94, 9.96, 99.4, 99.5, 99.9, 100, 1234.4].map(timeText)
  assert.deepEqual(written, ["0.00", "0.09", "0.095", "0.96", "9.9", "10", "99", "100", "100", "100", "1234"])
})
