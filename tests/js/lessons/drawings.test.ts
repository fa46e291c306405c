import assert from "node:assert/strict"
import {test} from "node:test"
import {labelPlaces, pathOf, powers} from "../../../lessons/adam/drawing.ts"
import {comparedPairs, stopAt} from "../../../lessons/bitonic-sort/drawing.ts"
import {descents, keyColour, PADDING} from "../../../lessons/bitonic-sort/key_rows.ts"
import {newLayer} from "../../../lessons/blending/drawing.ts"
import {decisiveAxis, outcomeOf, separatingLine, testAt} from "../../../lessons/coarse-raster/drawing.ts"
import {groupBorders} from "../../../lessons/dispatch-ids/drawing.ts"
import {depth} from "../../../lessons/fine-raster/drawing.ts"
import {numberPlace} from "../../../lessons/final-count/drawing.ts"
import {dotsText} from "../../../lessons/gaussian/bell.ts"
import {type Round, titleOf} from "../../../lessons/reduction/drawing.ts"
import {sameText} from "../../../lessons/undo/drawing.ts"
import {decimalsOf} from "../../../lessons/caching/drawing.ts"
import {scaleLabel} from "../../../lessons/termination/drawing.ts"
import {cellText, change, kernelAt} from "../../../lessons/training-loop/drawing.ts"
import {actsText, sentence} from "../../../lessons/workgroups/drawing.ts"
import type {Look, MemoryLook} from "#web/drawing/look.ts"

type Shape = Parameters<typeof decisiveAxis>[0]
type Test = Parameters<typeof decisiveAxis>[1]

const identity = (value: number) => value

test("a curve leaves out what is not known, dots have a path each", () => {
  assert.equal(pathOf([1, null, 3], false, identity, identity), "M0.5 1.0L2.5 3.0")
  assert.equal(pathOf([1, null], true, identity, identity), "M0.5 1.0h0")
  assert.equal(pathOf([], false, identity, identity), "M0 0")
})

test("labels of curves stand apart", () => {
  assert.deepEqual(labelPlaces([40, 45], 0), [40, 58])
  assert.deepEqual(labelPlaces([45, 40], 0), [45, 27])
})

test("a logarithmic scale has three lines at most, at whole powers of ten", () => {
  assert.deepEqual(powers(-2.5, 0.2), [-2, -1, 0])
  assert.deepEqual(powers(-6.5, 0.2), [-6, -3, 0])
  assert.deepEqual(powers(0.2, 0.4), [])
  assert.equal(scaleLabel(-12), "10⁻¹²")
})

test("a pass compares each cell once, and a block is ascending where bit k is clear", () => {
  const pairs = comparedPairs(8, {k: 4, j: 2})
  assert.deepEqual(pairs.flatMap(({low, high}) => [low, high]).sort(), [0, 1, 2, 3, 4, 5, 6, 7])
  assert.deepEqual(
    pairs.map(({low, ascending}) => [low, ascending]),
    [
      [0, true],
      [1, true],
      [4, false],
      [5, false],
    ],
  )
})

test("the stop at a step is the first that is not behind it", () => {
  const stops: [number, number, number, number][] = [
    [9, 0, 0, 31],
    [14, 1, 0, 31],
  ]
  assert.deepEqual(
    [0, 5, 9, 10, 99].map((step) => stopAt(stops, 5, step)),
    [-1, 0, 0, 1, 1],
  )
})

test("a sorted list has no descents, and padding has a colour of its own", () => {
  assert.equal(descents([1, 2, 2, 5]), 0)
  assert.equal(descents([3, 1, 2, 0]), 2)
  assert.deepEqual(keyColour(0, 10), [230, 240, 248])
  assert.deepEqual(keyColour(PADDING, 10), [120, 120, 120])
})

test("a new layer has a colour and a shape that no other has", () => {
  const first = newLayer([])
  const second = newLayer([first])
  assert.ok(first.colour !== second.colour)
  assert.deepEqual([first.shape, second.shape], [0, 1])
  assert.equal(newLayer([second]).shape, 0)
})

test("a test of a box says whether the list took it", () => {
  const box = {gaussian: 0, thread: 0, turn: 0, begin: 1, known: 5, end: 5, asked: [2, 3, 4, 5], place: 3}
  assert.equal(outcomeOf(box, 8), "yes")
  assert.equal(outcomeOf(box, 3), "lost")
  assert.equal(outcomeOf({...box, place: -1}, 8), "no")
})

test("the test that is shown is the latest of the chosen thread", () => {
  const of = (thread: number, gaussian: number, begin: number) => ({
    thread,
    gaussian,
    begin,
  })
  const facts = {tests: [of(0, 0, 1), of(1, 1, 2), of(0, 32, 7), of(1, 33, 9)]} as Parameters<typeof testAt>[0]
  const at = (thread: number, step: number) => testAt(facts, {thread, step} as Look).gaussian
  assert.deepEqual([at(0, 3), at(0, 7), at(1, 8), at(1, 9)], [0, 32, 1, 33])
  assert.equal(at(1, 1), 1, "its first, where it has begun none")
  assert.equal(at(5, 8), 32, "the latest of all, where it has none")
})

test("in a low window, the direction that decides is the one with the gap, else the one with the least overlap", () => {
  const shape = {distance: [1, -7, 2, 3], box: [2, 1, 1, 2], tile: [4, 2, 4, 2]} as Shape
  assert.equal(decisiveAxis(shape, {place: -1, asked: [10, 11]} as Test), 1)
  const touching = {...shape, distance: [1, -2, 2, 3.5]}
  assert.equal(decisiveAxis(touching, {place: 0, asked: [10, 11, 12, 13]} as Test), 3)
})

test("the separating line runs through the middle of the gap", () => {
  const shape = {
    center: [0, 0],
    axis: [1, 0],
    half: [1, 1],
    strongest: 0,
    distance: [10, 0, 10, 0],
    box: [2, 2, 2, 2],
    tile: [4, 4, 4, 4],
  }
  const line = separatingLine(shape as Shape, 2, 1, {x: 100, y: 50}, 7)
  assert.equal(line, "M106 57L106 43") // 4 of the tile, 2 of the box, 4 between
})

test("on the scale of T, equal factors are equal distances, and the least T that a pixel can reach is at its end", () => {
  assert.equal(Math.abs(depth(1)), 0)
  assert.ok(Math.abs(depth(0.01) - 2 * depth(0.1)) < 1e-12)
  assert.ok(Math.abs(depth((1 / 255) * 0.01) - 1) < 1e-12)
  assert.equal(depth(0), 1)
})

test("a border stands between pixels of different workgroups alone", () => {
  assert.equal(groupBorders([0, 31, 32, 33], 2, 10), "M0 10h10M10 10h10")
  assert.equal(groupBorders([0, 1, 2, 3], 2, 10), "")
})

test("a round says what went wrong in it once it is past", () => {
  const round: Round = {
    stride: 8,
    end: 2,
    written: [],
    stale: [
      [0, 1],
      [3, 1],
    ],
    wrong: [3],
  }
  assert.equal(titleOf(round, 32, false), "stride 8: 8 of 32 threads add")
  assert.equal(titleOf(round, 32, true), "stride 8: 8 of 32 threads add, 2 too early, 1 wrong")
  assert.equal(titleOf({...round, stale: [], wrong: []}, 32, true), "stride 8: 8 of 32 threads add")
})

test("powers below a thousandth are written as powers", () => {
  assert.deepEqual([0, -3, -4, -10].map(scaleLabel), ["1", "0.001", "0.0001", "10⁻¹⁰"])
})

test("the kernel at a step is the one that ends there, else the one that runs", () => {
  const ends = [10, 20, 30, 40]
  assert.deepEqual(kernelAt(ends, 5), {index: 0, over: false})
  assert.deepEqual(kernelAt(ends, 10), {index: 0, over: true})
  assert.deepEqual(kernelAt(ends, 11), {index: 1, over: false})
  assert.deepEqual(kernelAt(ends, 99), {index: 3, over: true})
})

test("a value that moves less than the facts are rounded stays", () => {
  assert.equal(change(0.5, 0.5 + 1e-8), "stays 0.500")
  assert.equal(change(0.5, -0.25), "0.500 → −0.250")
  assert.equal(change(0, -0.0002), "0 → −0.0002")
})

test("a count stands between two lines of the grid, clear of the way at its corner", () => {
  for (const gap of [18, 24, 38]) {
    const layout = {x: (i: number) => 54 + 40 * i, width: 560, gap}
    for (const [px, py, turned] of [
      [54, 300, false],
      [54, 300, true],
      [214, 300, false],
      [214, 300, true],
    ] as [number, number, boolean][]) {
      // prettier-ignore
      const {y} = numberPlace(px, py, turned, false, layout)
      const up = (py - (y - 4)) / gap // the middle of its digits, in lines
      assert.equal(Math.abs(up % 1), 0.5)
    }
    assert.ok(300 - numberPlace(54, 300, false, false, layout).y >= 14)
  }
})

test("of a state that came back the larger error is named, of its T or a part of its C", () => {
  const memory = (parts: number[]) => ({number: (_: number, part = 0) => parts[part]}) as unknown as MemoryLook
  const was = memory([0.5, 0.25, 0, 0.125])
  assert.equal(sameText(was, memory([0.5, 0.25, 0, 0.125]), 0), "the same")
  assert.equal(sameText(was, memory([0.5, 0.75, 0, 0.375]), 0), "C off by 0.5")
  assert.equal(sameText(was, memory([0.5, 0.375, 0, 0.625]), 0), "T off by 0.5")
  assert.equal(sameText(was, memory([0.5, Number.NaN, 0, 0.625]), 0), "◆ NaN")
})

test("threads whose barrier has opened are released, and not said to wait", () => {
  const statuses = ["run", "wait", "wait", "held", "done"]
  const look = {status: (thread: number) => statuses[thread]} as unknown as Look
  assert.equal(sentence(look, 5), "1 thread runs, 2 wait at the barrier, 1 is released from the barrier, 1 is done.")
})

test("the chart of a workgroup says how much was done of each kind, and nothing of a barrier that is not there", () => {
  const moment = {after: (event: number) => event + 1, position: 2}
  assert.equal(actsText(["write", "", "write", "read"], moment), "So far: 1 of 2 writes, 0 of 1 reads.")
})

test("the bell curve is told by the pixels nearest to each whole distance, where there are any", () => {
  const text = dotsText([
    [0.04, 0.99, 0.8],
    [0.97, 0.62, 0.5],
    [1.5, 0.32, 0.26],
  ])
  assert.match(text, /: at 0: 0\.990 and 0\.800; at 1: 0\.620 and 0\.500\.$/)
})

test("the numbers of a column have the decimals of its largest", () => {
  assert.deepEqual([[0.0326, -0.0005], [-12.5, 0.1], [0], [Number.NaN]].map(decimalsOf), [6, 3, 0, 0])
})

test("values in cells have as many decimals, and what is rounded to zero has no sign", () => {
  assert.deepEqual([-0.25, 0.0006, -0.0002, 0].map(cellText), ["−0.250", "0.001", "0.000", "0"])
})
