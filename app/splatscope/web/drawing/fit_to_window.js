// The size a drawing may have so that its whole figure fits into the window.
import {enclosing, zoomOf} from "#web/shell/dom.js"
import {emit} from "#web/shell/events.js"

const LEAST = 400 // px of height: if less is left under the title, the reader scrolls to the figure, which then fills the window
const LOWEST = 300 // px: in a window with less height, the figure scrolls
const GRAIN = 4 // px: heights are rounded to this, so that a small change of the title's height changes no drawing
const BESIDE = "(min-width: 961px)" // drawing and source are side by side

/**
 * The height of a figure's panes at which all of the figure is in view: settings, panes, sentence, transport. If the window is high
 * enough, the figure fits under the title as the page opens. While presenting, it gets the whole window. Infinity where the panes
 * are below each other.
 * @param {HTMLElement} panes
 */
function heightOf(panes) {
  const frame = enclosing(panes, ".whole")
  if (!frame || !matchMedia(BESIDE).matches) return Infinity
  const others = frame.offsetHeight - panes.offsetHeight
  const zoom = zoomOf(frame)
  const whole = (innerHeight - barsHeight()) / zoom - others - 2
  if (document.documentElement.dataset.walk === "present") return Math.max(LOWEST, Math.floor(whole / GRAIN) * GRAIN)
  const underTitle = (innerHeight - frame.getBoundingClientRect().top - scrollY) / zoom - others - 4
  return Math.max(LOWEST, Math.floor(Math.min(whole, Math.max(LEAST, underTitle)) / GRAIN) * GRAIN)
}

/** The height of the parts that stay at the top of the window: the bar, and the strip of a walk. */
const barsHeight = () => (document.querySelector(".top")?.clientHeight ?? 0) + (document.getElementById("walk")?.offsetHeight ?? 0)

/**
 * Scroll down until all of a figure is in view, or the upper part of one that is higher than the window. Does nothing if the reader
 * is below the figure or far above it.
 * @param {HTMLElement} stage  root of the stepper
 */
export function bringIntoView(stage) {
  const box = enclosing(stage, ".whole")?.getBoundingClientRect()
  const bar = barsHeight()
  if (!box || box.top < bar || box.top > innerHeight || box.bottom <= innerHeight) return
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches
  scrollBy({top: Math.min(box.bottom - innerHeight, box.top - bar), behavior: still ? "auto" : "smooth"})
}

/**
 * Keep a stepper's `--room` at the height that its panes may have, and notify its drawing of changes.
 * @param {HTMLElement} stage  root of the stepper
 * @param {() => void} resized  called when the figure's size has changed
 * @returns {() => void} ends it
 */
export function keepRoom(stage, resized) {
  const panes = /** @type {HTMLElement} */ (stage.querySelector(".panes"))
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
 * @param {HTMLElement} root
 */
export function roomOf(root) {
  const width = root.clientWidth
  const panes = enclosing(root, ".panes")
  const aside = enclosing(root, ".aside")
  if (!panes || !aside) return {width, height: Infinity}
  const {paddingTop, paddingBottom} = getComputedStyle(aside)
  return {width, height: heightOf(panes) - parseFloat(paddingTop) - parseFloat(paddingBottom)}
}
