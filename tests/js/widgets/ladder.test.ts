import assert from "node:assert/strict"
import {test} from "node:test"
import {Ladder, ladder} from "#web/widgets/ladder.ts"

const SLIDERS = [
  {name: "linear", span: {from: 0.004, to: 1, log: false, whole: false}, values: [0.5, 0.513, 0.004, 1]},
  {name: "linear, whole", span: {from: 2, to: 64, log: false, whole: true}, values: [2, 3, 17, 64]},
  {name: "linear, below 0", span: {from: -3, to: 3, log: false, whole: false}, values: [-3, 0, 0.7, 3]},
  {name: "logarithmic", span: {from: 0.002, to: 0.4, log: true, whole: false}, values: [0.002, 0.0125, 0.3, 0.4]},
  {name: "logarithmic, whole", span: {from: 16, to: 65_536, log: true, whole: true}, values: [16, 17, 2048, 65_536]},
]

for (const {name, span, values} of SLIDERS) {
  test(`${name}: as many presses back as forward lead back exactly, and each one moves the slider`, () => {
    for (const value of values) {
      for (const way of [1, -1]) {
        const keys = new Ladder(span)
        const stops = [value]
        for (let i = 0; i < 4; i++) stops.push(keys.next(stops.at(-1) as number, way))
        const there = stops.filter((stop, i) => stop !== stops[i - 1]) // at the slider's end, further presses do nothing
        let now = there.at(-1) as number
        for (const stop of there.slice(0, -1).reverse()) {
          now = keys.next(now, -way)
          assert.equal(now, stop)
        }
      }
    }
  })

  test(`${name}: the stops ascend, from one end to the other`, () => {
    const stops = ladder(span, span.from)
    assert.equal(stops[0], span.from)
    assert.equal(stops.at(-1), span.to)
    assert.ok(stops.every((stop, i) => i === 0 || stop > stops[i - 1]))
    assert.ok(stops.length > 20 && stops.length < 80, String(stops.length))
  })
}

test("the stops are round numbers", () => {
  assert.deepEqual(ladder({from: 0.004, to: 1, log: false, whole: false}, 0.5).slice(0, 4), [0.004, 0.02, 0.04, 0.06])
  assert.deepEqual(ladder({from: 16, to: 200, log: true, whole: true}, 33).slice(0, 8), [16, 18, 20, 25, 30, 33, 35, 40])
  assert.deepEqual(ladder({from: 1, to: 12, log: true, whole: true}, 1), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12])
})
