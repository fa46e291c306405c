// The browser's reading of Slang's types against the table in Python, which writes down what it says in slang_types.json.
import assert from "node:assert/strict"
import {readFileSync} from "node:fs"
import {test} from "node:test"
import {number, shape} from "#web/recording/values.ts"

const {words, types} = JSON.parse(readFileSync(new URL("../unit/gpu/slang_types.json", import.meta.url), "utf8"))

test("every numeric type has the scalar, the count and the words that Python's table gives it", () => {
  assert.ok(types.length > 200)
  for (const {type, scalar, count, size} of types) assert.deepEqual({...shape(type)}, {scalar, count, size}, type)
})

test("recorded words are the same number in each type", () => {
  for (const {type, scalar, first} of types) assert.equal(number(Uint32Array.from(words), 0, scalar), first, type)
})

test("other types have no shape", () => {
  for (const type of ["", "void", "Pair", "interval", "int32_t", "vector<float,3>", undefined]) assert.equal(shape(type), null)
})
