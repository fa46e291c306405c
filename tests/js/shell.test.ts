import assert from "node:assert/strict"
import {test} from "node:test"
import {UNNAMED, format, parse} from "#web/runtime/address.ts"
import {chordOf} from "#web/runtime/keys.ts"

test("an address says page, step and inputs", () => {
  assert.deepEqual(parse("?page=cas&step=12&count=16&seed=2"), {page: "cas", step: 12, inputs: "count=16&seed=2"})
  assert.deepEqual(parse(""), {page: "home", step: UNNAMED, inputs: ""})
  assert.deepEqual(parse("?page=cas&walk=day&class=AB12&key=x&stop=3&notes=1&n=4"), {page: "cas", step: UNNAMED, inputs: "n=4"})
})

test("a step that is no whole number from 0 is none; 0 is the start, not where the page likes to open", () => {
  for (const step of ["-1", "1.5", "x", "", "1e99999"]) assert.equal(parse(`?page=cas&step=${step}`).step, UNNAMED, step)
  assert.equal(parse("?page=cas&step=0").step, 0)
  assert.equal(format({page: "cas", step: 0, inputs: ""}), "?page=cas&step=0")
})

test("an address that was written is read as the same place", () => {
  for (const place of [
    {page: "home", step: UNNAMED, inputs: ""},
    {page: "cas", step: 0, inputs: ""},
    {page: "fine-raster", step: 7, inputs: "a=1&b=x+y"},
    {page: "a&b=c", step: UNNAMED, inputs: ""},
  ])
    assert.deepEqual(parse(format(place)), place)
})

const press = (key: string, modifiers = {}) =>
  chordOf({key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...modifiers})

test("a chord names its modifiers, and letters without regard to case", () => {
  assert.equal(press("e"), "e")
  assert.equal(press("E"), "e") // Caps Lock
  assert.equal(press("E", {shiftKey: true}), "Shift+e")
  assert.equal(press("ArrowRight", {shiftKey: true}), "Shift+ArrowRight")
  assert.equal(press("Enter", {metaKey: true}), "Ctrl+Enter")
  assert.equal(press("b", {ctrlKey: true, altKey: true}), "Ctrl+Alt+b")
})

test("a sign stands alone, whether Shift makes it or not", () => {
  assert.equal(press("?", {shiftKey: true}), "?")
  assert.equal(press("/", {shiftKey: true}), "/")
  assert.equal(press(" ", {shiftKey: true}), "Shift+ ")
})

test("a document of the book is the name of its page", () => {
  assert.deepEqual(parse("/book/cas.html?step=12&count=16"), {page: "cas", step: 12, inputs: "count=16"})
  assert.deepEqual(parse("C:/my book/bitonic-sort.html"), {page: "bitonic-sort", step: UNNAMED, inputs: ""})
  assert.deepEqual(parse("/book/index.html?page=cas&step=0"), {page: "cas", step: 0, inputs: ""})
  for (const home of ["/book/", "/book/index.html", "/app", "/book/index.html?step=x", "/"])
    assert.equal(parse(home).page, "home", home)
})
