// Where the Gaussians of a run in the browser begin, and where others are added.
import assert from "node:assert/strict"
import {readFileSync} from "node:fs"
import {test} from "node:test"
import {begin, FIELDS, nextStage, type Photograph, placements, type Settings} from "#web/training/browser/gaussians.ts"
import {drawFrom, randomFrom, shuffle, sumsOf} from "#web/training/browser/random.ts"
import type {TrainingKernels} from "#components"

const FILE = new URL("../../app/splatscope/web/training/browser/training-kernels.json", import.meta.url)
const {constants}: TrainingKernels = JSON.parse(readFileSync(FILE, "utf8"))
const SETTINGS: Settings = {blobs: 200, iterations: 300, seed: 1, growth: true, kernels: "binned", rates: [0.2, 0.04, 0.04, 0.05]}

/** Dark to the left, bright to the right. */
function halves(width = 40, height = 30): Photograph {
  const data = new Uint8ClampedArray(4 * width * height)
  for (let pixel = 0; pixel < width * height; pixel++) data.fill(pixel % width < width / 2 ? 20 : 220, 4 * pixel, 4 * pixel + 4)
  return {name: "halves", width, height, data}
}

const field = (raw: Float32Array, number: number) => raw.subarray(number * SETTINGS.blobs, (number + 1) * SETTINGS.blobs)

test("equal seeds give equal numbers, between 0 and 1, all over", () => {
  const [one, same, other] = [5, 5, 6].map((seed) => Array.from({length: 2000}, randomFrom(seed)))
  assert.deepEqual(one, same)
  assert.ok(one.some((number, i) => number !== other[i]))
  assert.ok(one.every((number) => number >= 0 && number < 1))
  for (let tenth = 0; tenth < 10; tenth++) {
    const share = one.filter((number) => Math.floor(10 * number) === tenth).length / one.length
    assert.ok(Math.abs(share - 0.1) < 0.03, `${share} of them are in tenth ${tenth}`)
  }
})

test("an index is drawn by its odds, and never one without any", () => {
  const sums = sumsOf([0, 1, 0, 3])
  assert.deepEqual(
    [0, 0.5, 1, 2, 3.999].map((drawn) => drawFrom(sums, drawn)),
    [1, 1, 3, 3, 3],
  )
})

test("a shuffled array has the same items", () => {
  const items = Array.from({length: 50}, (_, i) => i)
  const shuffled = shuffle([...items], randomFrom(1))
  assert.ok(shuffled.some((item, i) => item !== items[i]))
  assert.deepEqual(
    shuffled.sort((a, b) => a - b),
    items,
  )
})

test("Gaussians begin within the picture, in its colours, more of them on its edge", () => {
  const picture = halves()
  const raw = begin(picture, {...SETTINGS, growth: false}, constants, randomFrom(1))
  assert.equal(raw.length, FIELDS * SETTINGS.blobs)
  const [x, y, red] = [0, 1, 5].map((number) => field(raw, number))
  assert.ok(x.every((at) => at >= -0.5 && at < picture.width - 0.5))
  assert.ok(y.every((at) => at >= -0.5 && at < picture.height - 0.5))
  x.forEach((at, i) => assert.equal(red[i], Math.fround((Math.round(at) < picture.width / 2 ? 20 : 220) / 255)))
  const onEdge = x.filter((at) => Math.abs(at - picture.width / 2 + 0.5) < 1.5).length
  assert.ok(onEdge > SETTINGS.blobs / 3, `${onEdge} are on the edge`)
})

test("with growth, a tenth is visible at first", () => {
  const opacities = field(begin(halves(), SETTINGS, constants, randomFrom(1)), 8)
  assert.equal(opacities.filter((logit) => logit === constants.hidden).length, 0.9 * SETTINGS.blobs)
})

test("Gaussians are added at ten stages in the first half of a run", () => {
  const stages: number[] = []
  for (let step: number | null = 0; step !== null; step = nextStage(SETTINGS, step, constants)) stages.push(step)
  assert.deepEqual(stages, [0, 15, 30, 45, 60, 75, 90, 105, 120, 135, 150])
  assert.equal(nextStage({...SETTINGS, growth: false}, 0, constants), null)
})

test("a long run moves Gaussians from then on until its half", () => {
  const settings = {...SETTINGS, iterations: 4000}
  const stages: number[] = []
  for (let step: number | null = 900; step !== null; step = nextStage(settings, step, constants)) stages.push(step)
  assert.deepEqual(stages, [900, 1000, 1500, 2000])
})

test("those that are worth least move, at most a twentieth, and none that is worth more than others would be", () => {
  const odds = Float32Array.of(1, 1)
  const worth = Float32Array.from({length: SETTINGS.blobs}, (_, id) => 1 + ((7 * id) % SETTINGS.blobs))
  const idsOf = (error: number) => {
    const {words, count} = placements(SETTINGS, 500, worth, error, odds, constants, randomFrom(1))
    const whole = new Uint32Array(words.buffer)
    return Array.from({length: count}, (_, i) => worth[whole[6 * i + 5]])
  }
  const share = SETTINGS.blobs / constants.cheap // the error at which worth below 1 is cheap
  assert.deepEqual(idsOf(3.5 * share), [1, 2, 3])
  assert.equal(idsOf(1e6 * share).length, constants.mostMoved * SETTINGS.blobs)
})

test("the highest ids that nobody sees are placed in the blocks with odds, as many as are missing", () => {
  const worth = new Float32Array(SETTINGS.blobs)
  const odds = Float32Array.of(0, 2, 0, 2)
  const {words, count} = placements(SETTINGS, 15, worth, 1, odds, constants, randomFrom(1))
  assert.equal(count, Math.ceil(SETTINGS.blobs * 0.19))
  const whole = new Uint32Array(words.buffer)
  for (let i = 0; i < count; i++) {
    assert.equal(whole[6 * i + 5], SETTINGS.blobs - 1 - i)
    assert.ok([1, 3].includes(whole[6 * i + 4]))
    assert.ok(words[6 * i + 3] >= 0 && words[6 * i + 3] <= 2)
    assert.ok(Math.abs(words[6 * i]) <= 0.5 && Math.abs(words[6 * i + 1]) <= 0.5)
  }
})
