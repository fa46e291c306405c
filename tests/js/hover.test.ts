import assert from "node:assert/strict"
import {test} from "node:test"
import {Moment} from "#web/recording/moment.ts"
import {expressionAt, valueUnder} from "#web/stepper/panes/hover.ts"
import {divergent} from "./packed.ts"

test("a name is taken with the members before it and the subscripts behind it", () => {
  const text = "  sum += As[lid.y][k] * scene.scale(2) + i;"
  const at = (word: string, from = 0) => expressionAt(text, text.indexOf(word, from))
  assert.equal(at("As"), "As[lid.y][k]")
  assert.equal(at("lid"), "lid")
  assert.equal(at("y]"), "lid.y")
  assert.equal(at("k]"), "k")
  assert.equal(at("scene"), "scene")
  assert.equal(at("scale"), "") // a call
  assert.equal(at("+="), "")
  assert.equal(expressionAt("a[b", 0), "a")
})

test("what has a value says it for the chosen thread, and a keyword nothing", () => {
  const moment = new Moment(divergent(), () => {})
  moment.seek(7)
  moment.state.seek(7)
  assert.equal(valueUnder("x", moment), "x = 1 in thread 0")
  assert.equal(valueUnder("for", moment), "")
  assert.equal(valueUnder("", moment), "")
})
