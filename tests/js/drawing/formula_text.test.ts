import assert from "node:assert/strict"
import {test} from "node:test"
import {parseField, splitEquation, splitSentence} from "#web/drawing/formula_text.ts"

test("a field is an expression, and its own label", () => {
  assert.deepEqual(parseField("i ^ j"), {expression: "i ^ j", label: "i ^ j", mine: false, format: undefined})
})

test("a star gives a field the colour of the chosen thread", () => {
  const field = parseField("l*")
  assert.equal(field.mine, true)
  assert.equal(field.expression, "l")
})

test("a format follows a colon", () => {
  assert.equal(parseField("T:6").format, "6")
  assert.equal(parseField("l:b4").format, "b4")
  assert.equal(parseField("l:x").format, "x")
})

test("a label stands before an equals sign, a comparison is none", () => {
  assert.deepEqual([parseField("l = i ^ j").label, parseField("l = i ^ j").expression], ["l", "i ^ j"])
  assert.equal(parseField("a == b").expression, "a == b")
  assert.equal(parseField("a <= b").label, "a <= b")
})

test("a choice has two texts and no label", () => {
  const field = parseField("i < l ? goes up | goes down")
  assert.equal(field.expression, "i < l ")
  assert.equal(field.label, "")
  assert.deepEqual(field.choice, ["goes up", "goes down"])
})

test("a choice may have a label, which is one word", () => {
  const field = parseField("= = isnan(T) ? ≠ | =")
  assert.deepEqual([field.label, field.expression, field.choice], ["=", "isnan(T) ", ["≠", "="]])
  assert.deepEqual([parseField("< = T < 1/255 ? < | ≥").label, parseField("a == b ? yes | no").label], ["<", ""])
})

test("an equation is split into fields and signs", () => {
  const words = splitEquation("{l*} = {i*} ⊕ {j}")
  assert.deepEqual(
    words.map((word) => (typeof word === "string" ? word : word.expression)),
    ["l", "=", "i", "⊕", "j"],
  )
})

test("a sentence is split into text, fields and code", () => {
  assert.deepEqual(splitSentence("Thread {i} reads `keys[i]`."), ["Thread ", "{i}", " reads ", "`keys[i]`", "."])
})
