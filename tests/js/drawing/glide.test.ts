// What travels from one stop to the next: things that another element shows, and the parts of what has been made.
import assert from "node:assert/strict"
import {test} from "node:test"
import {travels} from "#web/drawing/glide.ts"

/** @param el  a name in place of an element */
const thing = (el: string, left: number, top: number, of: string[] = []) => ({
  el: el as unknown as Element,
  box: {left, top, width: 10, height: 10},
  of,
})

test("two keys that change places travel, and one that stays does not", () => {
  const before = new Map([
    ["3", thing("a", 0, 0)],
    ["8", thing("b", 0, 20)],
    ["5", thing("c", 0, 40)],
  ]) // prettier-ignore
  const after = new Map([
    ["8", thing("a", 0, 0)],
    ["3", thing("b", 0, 20)],
    ["5", thing("c", 0, 40)],
  ]) // prettier-ignore
  assert.deepEqual(travels(before, after), {
    moved: [
      {el: "a", from: [0, 20], to: [0, 0]},
      {el: "b", from: [0, -20], to: [0, 0]},
    ],
    parts: [],
  })
})

test("what is made of two things is reached by both, and going back they come out of it", () => {
  const parts = [
    ["x", thing("x", 0, 0)],
    ["y", thing("y", 40, 0)],
  ] as [string, ReturnType<typeof thing>][] // prettier-ignore
  const before = new Map(parts)
  const after = new Map([...parts, ["sum", thing("sum", 0, 30, ["x", "y"])]])
  assert.deepEqual(travels(before, after).parts, [
    {el: "x", from: [0, 0], to: [0, 30]},
    {el: "y", from: [0, 0], to: [-40, 30]},
  ])
  assert.deepEqual(travels(after, before).parts, [
    {el: "x", from: [0, 30], to: [0, 0]},
    {el: "y", from: [-40, 30], to: [0, 0]},
  ])
})

test("middles meet, not corners, and a part that was not there before comes from nowhere", () => {
  const x = thing("x", 0, 0)
  const wide = {...thing("wide", 0, 30, ["x", "new"]), box: {left: 0, top: 30, width: 30, height: 10}}
  const found = travels(
    new Map([["x", x]]),
    new Map([
      ["x", x],
      ["new", thing("new", 5, 5)],
      ["wide", wide],
    ]),
  ) // prettier-ignore
  assert.deepEqual(found, {moved: [], parts: [{el: "x", from: [0, 0], to: [10, 30]}]})
})
