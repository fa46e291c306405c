import assert from "node:assert/strict"
import {test} from "node:test"
import {numbersAt} from "#web/drawing/formula.ts"
import {type Field, splitEquation} from "#web/drawing/formula_text.ts"
import type {Look} from "#web/drawing/look.ts"

/** A look at these values, and later at those. */
function lookAt(values: Record<string, number>, later: Record<string, number> = values): Look {
  const value = (name: string) => values[name] ?? null
  const text = (name: string) => (value(name) === null ? null : String(value(name)))
  return {thread: 0, value, text, firstWith: () => lookAt(later)} as unknown as Look
}

const fields = splitEquation("{value} = {before} − {step}").filter((word) => typeof word !== "string") as Field[]
const texts = (look: Look) => numbersAt(fields, look, []).map(({text, later}) => `${text}${later ? " later" : ""}`)

test("an equation's numbers are those of now where all are known", () => {
  assert.deepEqual(texts(lookAt({value: 1.5, before: 2, step: 0.5}, {value: 1, before: 1.5, step: 0.5})), ["1.5", "2", "0.5"])
})

test("an equation whose step is not known yet shows no old value beside it, so that it closes", () => {
  const coming = {value: 1.2, before: 1.5, step: 0.3}
  assert.deepEqual(texts(lookAt({value: 1.5}, coming)), ["1.2 later", "1.5 later", "0.3 later"])
  assert.deepEqual(texts(lookAt({before: 1.5}, coming)), ["1.2 later", "1.5", "0.3 later"])
})

test("an equation that is never whole, of a thread without work, shows no half of itself", () => {
  assert.deepEqual(texts(lookAt({value: 1.5}, {value: 9, before: 2})), ["null later", "null later", "null later"])
})
