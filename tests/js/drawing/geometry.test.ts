import assert from "node:assert/strict"
import {test} from "node:test"
import {bits, show} from "#web/drawing/look.ts"
import {classes, css} from "#web/drawing/svg.ts"
import {contour} from "#web/lesson_results/contours.ts"
import {diverging, fire} from "#web/lesson_results/colour_maps.ts"
import {placeText} from "#web/lesson_results/paths.ts"
import {rangeOf} from "#web/lesson_results/pictures.ts"

test("a colour is clamped to what a screen shows", () => {
  assert.equal(css([-1, 0.5, 2]), "rgb(0 128 255)")
})

test("classes that do not apply are left out", () => {
  assert.equal(classes("cell", false, null, "", "own"), "cell own")
})

test("bits are as many as asked for, also of a large number", () => {
  assert.equal(bits(5, 4), "0101")
  assert.equal(bits(-1, 8), "11111111")
})

test("a number is written as the stepper writes it", () => {
  assert.equal(show(0.123456), "0.1235")
  assert.equal(show(-2), "−2")
  assert.equal(show(-0.5), "−0.5")
})

test("a contour crosses a slope where the height is the level", () => {
  const slope = [
    [0, 1],
    [0, 1],
  ]
  assert.equal(contour(slope, 0.25, 100, 10), "M25.0 10.0L25.0 0.0")
  assert.equal(contour(slope, 2, 100, 10), "")
})

test("a colour map begins and ends with its first and last colour", () => {
  assert.deepEqual(fire(0), [10, 10, 30])
  assert.deepEqual(fire(1).map(Math.round), [252, 255, 164])
  assert.deepEqual(diverging(0.5), [236, 236, 231])
})

test("a map's range is that of its finite values, of a signed one it is symmetric", () => {
  assert.deepEqual(rangeOf({}, Float32Array.of(3, NaN, -1)), {low: -1, high: 3})
  assert.deepEqual(rangeOf({signed: true}, Float32Array.of(3, -5)), {low: -5, high: 5})
  assert.deepEqual(rangeOf({low: 0, high: 9}, Float32Array.of(3)), {low: 0, high: 9})
})

test("a path that left the landscape is gone", () => {
  assert.equal(placeText([1.234, -2]), "at 1.23, −2")
  assert.equal(placeText([1000, 0]), "gone")
  assert.equal(placeText([NaN, 0]), "gone")
})
