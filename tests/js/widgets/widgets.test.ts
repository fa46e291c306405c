import assert from "node:assert/strict"
import {test} from "node:test"
import {clock, headsText} from "#web/classroom/notes.ts"
import {asHexadecimal, meaningOf} from "#web/widgets/bit_field.ts"
import {ARROWS, neighbour, onArrows} from "#web/widgets/roving.ts"

test("a ring of elements has no end", () => {
  assert.equal(neighbour(3, 1, 4), 0)
  assert.equal(neighbour(0, -1, 4), 3)
})

test("arrow keys move, and are not the stepper's; with Shift they are", () => {
  const el = {} as HTMLElement & {onkeydown(event: object): void}
  const moved: number[] = []
  onArrows(el, ARROWS, (step) => moved.push(step))
  const press = (key: string, shiftKey = false) => {
    let stopped = false
    el.onkeydown({key, shiftKey, preventDefault() {}, stopPropagation: () => (stopped = true)})
    return stopped
  }
  assert.equal(press("ArrowRight"), true)
  assert.equal(press("ArrowUp"), true)
  assert.equal(press("ArrowRight", true), false)
  assert.equal(press("a"), false)
  assert.equal(press("toString"), false)
  assert.deepEqual(moved, [1, -1])
})

test("a number in base 16 has all its digits", () => {
  assert.equal(asHexadecimal(0x3f800000, 32), "0x3F800000")
  assert.equal(asHexadecimal(5, 9), "0x005")
})

test("bits that are parted like a float's are heard as the float", () => {
  assert.equal(meaningOf(0x3f99999a, [1, 8, 23]), "1.2")
  assert.equal(meaningOf(0x7fc00000, [1, 8, 23]), "NaN")
  assert.equal(meaningOf(5, [1, 8]), "5")
})

test("a class is counted in words, a clock in minutes", () => {
  assert.equal(headsText({follow: 1, apart: 0}), "1 follows")
  assert.equal(headsText({follow: 23, apart: 2}), "23 follow, 2 on their own")
  assert.equal(clock(725.9), "12:05")
})
