// How many pictures of a run are kept for its film.
import assert from "node:assert/strict"
import {test} from "node:test"
import {Clip} from "#web/training/clip.ts"

/** A clip of a run with so many pictures of so many bytes. */
function clipOf(count: number, bytes: number) {
  const clip = new Clip()
  const picture = new Blob([new Uint8Array(bytes)])
  for (let iteration = 0; iteration < count; iteration++) clip.add(picture, iteration)
  return clip
}

test("a film has at most 120 pictures, evenly spaced", () => {
  const iterations = clipOf(500, 10).frames.map(({iteration}) => iteration)
  assert.ok(iterations.length <= 120 && iterations.length > 60)
  assert.ok(iterations.every((iteration, i) => iteration === iterations[1] * i))
})

test("large pictures are fewer", () => {
  const {frames} = clipOf(100, 3_000_000)
  assert.ok(frames.reduce((sum, {picture}) => sum + picture.size, 0) <= 48e6)
  assert.ok(frames.length > 5)
})

test("an earlier iteration begins another film", () => {
  const clip = clipOf(500, 10)
  clip.add(new Blob(["x"]), 0)
  clip.add(new Blob(["x"]), 1)
  assert.deepEqual(
    clip.frames.map(({iteration}) => iteration),
    [0, 1],
  )
})
