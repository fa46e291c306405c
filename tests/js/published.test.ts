// What a published page shows for inputs that were recorded, and for others.
import assert from "node:assert/strict"
import {test} from "node:test"
import {flat} from "#web/runtime/host.ts"
import {inputsOf, insteadOf, nearest, noteOn, type Published, stateOf, valuesIn} from "#web/publish/states.ts"

const PAGE: Published = {
  figure: true,
  view: {
    id: 0,
    class: "Page",
    values: {html: "first"},
    children: {slots: [{id: 1, class: "Stepper", values: {stops: [1]}, children: {}}], aside: null},
  },
  values: [[1, 2], "other"],
  defaults: {count: 8, barrier: true, place: [0, 0]},
  fix: {},
  states: [
    {address: "", inputs: {}, patch: {}},
    {address: "count=16", inputs: {count: 16}, patch: {1: {stops: 0}}},
    {address: "barrier=false", inputs: {barrier: false}, patch: {0: {html: 1}}},
    {address: "place=%5B4%2C4%5D", inputs: {place: [4, 4]}, patch: {}},
    {address: "recorded=1", inputs: {}, patch: {0: {html: 1}}},
  ],
}
const [FIRST, MORE, OPEN, MOVED, ELSEWHERE] = PAGE.states

test("an address leads to its state, whatever its writing", () => {
  assert.equal(stateOf(PAGE, ""), FIRST)
  assert.equal(stateOf(PAGE, "count=16"), MORE)
  assert.equal(stateOf(PAGE, "place=[4,4]"), MOVED)
  assert.equal(stateOf(PAGE, "recorded=1"), ELSEWHERE)
})

test("an address that was not recorded leads to the nearest, and an unknown name is passed over", () => {
  assert.equal(stateOf(PAGE, "count=15"), MORE)
  assert.equal(stateOf(PAGE, "sort=fast"), FIRST)
  assert.equal(stateOf(PAGE, "barrier=false&count=oops"), OPEN)
})

test("the input that was moved decides, then how many others are as they were", () => {
  assert.equal(nearest(PAGE, {...PAGE.defaults, count: 13}, "count"), MORE)
  assert.equal(nearest(PAGE, {...PAGE.defaults, count: 16, barrier: false}, "barrier"), OPEN)
  assert.equal(nearest(PAGE, {...PAGE.defaults, place: [3, 5]}, "place"), MOVED)
  assert.equal(nearest(PAGE, PAGE.defaults, "count"), FIRST)
})

test("a control is told what was recorded, and what went back", () => {
  const wanted = {...PAGE.defaults, count: 13}
  assert.equal(noteOn(PAGE, MORE, wanted, "count"), "Recorded for this book: 8; 16.")
  assert.equal(noteOn(PAGE, MORE, inputsOf(PAGE, MORE), "count"), "")
  assert.ok(
    /initial values of the other settings/.test(noteOn(PAGE, OPEN, {...PAGE.defaults, barrier: false, count: 16}, "barrier")),
  )
  assert.ok(/nearest/.test(noteOn(PAGE, FIRST, {...PAGE.defaults, place: [1, 0]}, "place")))
})

test("an input that the figure does not have is named, with those it has", () => {
  assert.equal(insteadOf(PAGE, FIRST, "keys=21"), "This figure has no input keys. It has count, barrier, place.")
  assert.equal(insteadOf(PAGE, MORE, "count=16"), "")
})

test("an address that was not recorded is told what is shown instead", () => {
  assert.equal(
    insteadOf(PAGE, stateOf(PAGE, "count=15"), "count=15"),
    "Not recorded: count=15. Shown instead: count=16, from where the figure opens.",
  )
  assert.equal(insteadOf(PAGE, MORE, "count=16"), "")
  assert.equal(insteadOf(PAGE, ELSEWHERE, "recorded=1"), "")
  assert.equal(insteadOf(PAGE, FIRST, "slide="), "")
})

test("a state gives back what another one changed", () => {
  assert.deepEqual(valuesIn(PAGE, MORE, 1), {stops: [1, 2]})
  assert.deepEqual(valuesIn(PAGE, FIRST, 1), {stops: [1]})
  assert.deepEqual(valuesIn(PAGE, OPEN, 0), {html: "other"})
  assert.deepEqual(
    flat(PAGE.view).map((one) => one.class),
    ["Page", "Stepper"],
  )
})

test("a pixel of a trained picture leads to its state, or to the nearest that was recorded", () => {
  const pixel = (x: number, y: number) => ({picture: "chelsea", at: [x, y]})
  const page: Published = {
    ...PAGE,
    defaults: {count: 8, picture: "", at: []},
    states: [
      {address: "", inputs: {}, patch: {}},
      {address: "picture=chelsea&pixel=10%2C20", inputs: pixel(10, 20), patch: {}},
      {address: "picture=chelsea&pixel=200%2C100", inputs: pixel(200, 100), patch: {}},
    ],
  }
  assert.equal(stateOf(page, "picture=chelsea&pixel=10,20"), page.states[1])
  assert.equal(stateOf(page, "picture=chelsea&pixel=190,101"), page.states[2])
  assert.equal(insteadOf(page, page.states[1], "picture=chelsea&pixel=10,20"), "")
  assert.equal(insteadOf(PAGE, FIRST, "picture=chelsea&pixel=10,20"), "") // a section that shows none
})
