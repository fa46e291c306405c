// The size a drawing may have so that its whole figure fits into the window.
import {enclosing, isStill, within, zoomOf} from "#web/runtime/dom.ts"
import {emit} from "#web/runtime/events.ts"

const LEAST = 400 // px of height: if less is left under the title, the reader scrolls to the figure, which then fills the window
const LOWEST = 300 // px: in a window with less height, the figure scrolls
const GRAIN = 4 // px: heights are rounded to this, so that a small change of the title's height changes no drawing
const SCROLLS = 1500 // ms that a smooth scroll takes at most, on a slow machine
const BESIDE = "(min-width: 961px)" // drawing and source are side by side

/**
 * The height of a figure's panes at which all of the figure is in view: settings, panes, sentence, transport. If the window is high
 * enough, the figure fits under the title as the page opens. While presenting, it gets the whole window. Infinity where the panes
 * are below each other.
 */
function heightOf(panes: HTMLElement) {
  const frame = enclosing(panes, ".whole")
  if (!frame || !matchMedia(BESIDE).matches) return Infinity
  const zoom = zoomOf(frame)
  const others = (frame.getBoundingClientRect().height - panes.getBoundingClientRect().height) / zoom // rounded, they could differ
  const whole = (innerHeight - barsHeight()) / zoom - others - 2
  if (document.documentElement.dataset.walk === "present") return Math.max(LOWEST, Math.floor(whole / GRAIN) * GRAIN)
  const underTitle = (innerHeight - frame.getBoundingClientRect().top - scrollY) / zoom - others - 4
  return Math.max(LOWEST, Math.floor(Math.min(whole, Math.max(leastOf(panes), underTitle)) / GRAIN) * GRAIN)
}

/** The least height of a figure's panes under the title. A drawing that does with less says so in its style, as --least. */
function leastOf(panes: HTMLElement) {
  const drawing = within(panes, ".drawing")
  return (drawing && parseFloat(getComputedStyle(drawing).getPropertyValue("--least"))) || LEAST
}

/** The height of the parts that stay at the top of the window: the bar, and the strip of a walk. */
const barsHeight = () => (document.querySelector(".top")?.clientHeight ?? 0) + (document.getElementById("walk")?.offsetHeight ?? 0)

/** the last scroll to a step: of which stepper, where to in px, and when in ms */
let last: {stage?: HTMLElement; goal: number; began: number} = {goal: 0, began: -Infinity}

/**
 * Scroll to what a move of the reader has changed. At the reader's first step, scroll down until all of the figure is in view, or the
 * upper part of one that is higher than the window, unless the reader is below the figure or far above it.
 * @param stage  root of the stepper
 * @param first  whether it is the reader's first step
 */
export function bringIntoView(stage: HTMLElement, first: boolean) {
  const beside = matchMedia(BESIDE).matches
  if (beside && !first) return // the drawing fits the window: nothing is measured
  const box = enclosing(stage, ".whole")?.getBoundingClientRect()
  if (!box) return
  const bar = barsHeight()
  const hidden = first && box.top >= bar && box.top <= innerHeight && box.bottom > innerHeight
  const scrolls = last.stage === stage && performance.now() - last.began < SCROLLS
  const ahead = scrolls ? last.goal - scrollY : 0 // the page still scrolls to an earlier step
  const way = hidden ? Math.min(box.bottom - innerHeight, box.top - bar) : ahead
  const top = way + (beside ? 0 : wayToStep(stage, bar + way))
  if (Math.abs(top) < 1) return
  last = {stage, goal: scrollY + top, began: performance.now()}
  scrollTo({top: last.goal, behavior: isStill() ? "auto" : "smooth"})
}

/**
 * How far to scroll until the part of the drawing that a step is about, marked `data-here`, is between the bar and the dock: then it is
 * in the middle. 0 for a reader who has scrolled on to the source.
 * @param top  where the room for it begins, in px from the window's top
 */
function wayToStep(stage: HTMLElement, top: number) {
  const dock = stage.querySelector(":scope > .dock") as HTMLElement | null
  const aside = stage.querySelector(".aside")
  const part = aside && within(aside, "[data-here]")
  if (!dock || !aside || !part) return 0
  const here = part.getBoundingClientRect()
  const above = parseFloat(getComputedStyle(part).scrollMarginTop) * zoomOf(dock) // what stays in view over it
  const whole = aside.getBoundingClientRect()
  const bottom = top + innerHeight - barsHeight() - dock.offsetHeight * zoomOf(dock)
  const seen = Math.min(bottom, whole.bottom) - Math.max(top, whole.top)
  const begin = here.top - above
  if (seen < (bottom - top) / 2 || (begin >= top && here.bottom <= bottom)) return 0
  const middle = Math.min(begin - top, (begin + here.bottom - top - bottom) / 2)
  return Math.max(whole.top - top, Math.min(whole.bottom - bottom, middle))
}

/**
 * Keep a stepper's `--room` at the height that its panes may have, and notify its drawing of changes.
 * @param stage  root of the stepper
 * @param resized  called when the figure's size has changed
 * @returns ends it
 */
export function keepRoom(stage: HTMLElement, resized: () => void): () => void {
  const panes = stage.querySelector(".panes") as HTMLElement
  let room = 0
  const measure = () => {
    const frame = enclosing(stage, ".whole")
    if (frame) sizes.observe(frame) // its settings are added later, and may wrap
    const height = heightOf(panes)
    if (height === room) return
    room = height
    stage.style.setProperty("--room", height === Infinity ? "99999px" : `${height}px`)
    emit("room", {stage})
  }
  const sizes = new ResizeObserver(() =>
    requestAnimationFrame(() => {
      measure()
      resized()
    }),
  )
  sizes.observe(stage)
  window.addEventListener("resize", measure)
  return () => {
    sizes.disconnect()
    window.removeEventListener("resize", measure)
  }
}

/**
 * The size available to a drawing, in px. The height is what the other parts of the figure leave of the window; Infinity where the
 * panes are below each other.
 */
export function roomOf(root: HTMLElement) {
  const width = root.clientWidth
  const panes = enclosing(root, ".panes")
  const aside = enclosing(root, ".aside")
  if (!panes || !aside) return {width, height: Infinity}
  const {paddingTop, paddingBottom} = getComputedStyle(aside)
  return {width, height: heightOf(panes) - parseFloat(paddingTop) - parseFloat(paddingBottom)}
}
