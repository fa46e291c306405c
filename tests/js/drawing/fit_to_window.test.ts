import assert from "node:assert/strict"
import {test} from "node:test"
import {bringIntoView} from "#web/drawing/fit_to_window.ts"

/** What the function reads of a browser: a window 800 px high, in which a scroll takes its time. */
class Figure {
  top: number

  /** @param top  of the figure, in px of the window */
  constructor(top: number) {
    this.top = top
  }
  matches(selector: string) {
    return selector === ".whole"
  }
  getBoundingClientRect() {
    return {top: this.top, bottom: this.top + 600}
  }
}

const goals: number[] = []
Object.assign(globalThis, {
  HTMLElement: Figure,
  innerHeight: 800,
  scrollY: 0,
  document: {querySelector: () => ({clientHeight: 48}), getElementById: () => null},
  matchMedia: () => ({matches: true}),
  scrollTo: ({top}: {top: number}) => goals.push(top),
})
const figureAt = (top: number) => new Figure(top) as Figure & HTMLElement

test("the first step scrolls until the figure is in view, and the next one does not end that scroll", () => {
  const figure = figureAt(300)
  bringIntoView(figure, true)
  assert.deepEqual(goals.splice(0), [100])
  Object.assign(globalThis, {scrollY: 40}) // on the way
  figure.top = 260
  bringIntoView(figure, true)
  assert.deepEqual(goals.splice(0), [100])
})

test("a figure on another page does not scroll to where the last one was", () => {
  Object.assign(globalThis, {scrollY: 140})
  bringIntoView(figureAt(48), true)
  assert.deepEqual(goals.splice(0), [])
})
