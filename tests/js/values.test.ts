import assert from "node:assert/strict"
import {test} from "node:test"
import {text} from "#web/recording/values.ts"

const shown = (value: number, digits = 3) => text(value, "float", digits).replaceAll("\u202f", " ")

test("a number is written without a power of ten unless it is tiny or huge", () => {
  assert.deepEqual(
    [0, 0.0704, 0.000878, 0.00009996, 1234567].map((value) => shown(value)),
    ["0", "0.0704", "0.000878", "0.0001", "1.23 × 10⁶"],
  ) // prettier-ignore
  assert.deepEqual(
    [1.8e-7, -3.04e-8, 9.996e-8].map((value) => shown(value)),
    ["1.8 × 10⁻⁷", "−3.04 × 10⁻⁸", "1 × 10⁻⁷"],
  )
  assert.deepEqual(
    [3.04e-8, -0.0326412, 12.5].map((value) => shown(value, 1)),
    ["3 × 10⁻⁸", "−0.03", "10"],
  )
})

test("minus signs are real ones, of integers too", () => {
  assert.equal(text(-3, "int"), "−3")
  assert.equal(shown(-0.25), "−0.25")
  assert.equal(shown(-Infinity), "−∞")
})
