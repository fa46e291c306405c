import assert from "node:assert/strict"
import {test} from "node:test"
import {alongEllipse, alongLine, alongPath, clearest, placeLabels} from "#web/drawing/labels.ts"

const ROOM = {width: 100, height: 100}

test("a label takes the first place that is inside and meets nothing", () => {
  const label = {
    width: 20,
    height: 10,
    places: [
      [-5, 0],
      [10, 40],
      [60, 40],
    ] as [number, number][],
  } // prettier-ignore
  const points = alongLine([0, 45], [40, 45])
  assert.deepEqual(placeLabels([label], ROOM, {points}), [[60, 40]])
  assert.deepEqual(placeLabels([label], ROOM, {points: []}), [[10, 40]])
  assert.deepEqual(placeLabels([label], ROOM, {points, boxes: [{x: 70, y: 30, width: 5, height: 30}]}), [null])
})

test("labels keep clear of each other", () => {
  const label = {
    width: 20,
    height: 10,
    places: [
      [10, 10],
      [10, 30],
    ] as [number, number][],
  } // prettier-ignore
  assert.deepEqual(placeLabels([label, label, label], ROOM, {points: []}), [[10, 10], [10, 30], null]) // prettier-ignore
})

test("a label without a free place covers as few points as it can", () => {
  const label = {
    width: 10,
    height: 10,
    places: [
      [0, 0],
      [40, 0],
      [80, 0],
    ] as [number, number][],
  } // prettier-ignore
  const points = [...alongLine([5, -5], [5, 15]), ...alongLine([35, 5], [42, 5]), ...alongLine([85, -5], [85, 15])]
  assert.deepEqual(placeLabels([label], ROOM, {points}), [null])
  assert.deepEqual(clearest(label, {points}), [40, 0])
  assert.deepEqual(clearest(label, {points: []}), [0, 0])
  const boxes = [{x: 38, y: 2, width: 30, height: 6}]
  assert.deepEqual(clearest(label, {points, boxes}), [0, 0], "but never another label")
})

test("points along lines and ellipses leave no gap that a label fits into", () => {
  for (const points of [
    alongLine([0, 0], [90, 40]),
    alongPath([
      [0, 0],
      [90, 0],
      [90, 40],
    ]), // prettier-ignore
    alongEllipse([50, 50], [40, 10], 0.4),
  ])
    points.slice(1).forEach(([x, y], i) => {
      assert.ok(Math.hypot(x - points[i][0], y - points[i][1]) < 4, `${points[i]} to ${[x, y]}`)
    })
  assert.ok(alongEllipse([50, 50], [40, 10], 0).every(([x, y]) => Math.abs(((x - 50) / 40) ** 2 + ((y - 50) / 10) ** 2 - 1) < 1e-9))
})
