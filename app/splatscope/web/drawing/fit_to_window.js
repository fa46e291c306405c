// How much room a drawing has, so that its whole figure is in view.
import {enclosing, zoomOf} from "#web/shell/dom.js"
import {emit} from "#web/shell/events.js"

const LEAST = 400 // px: in a lower window one scrolls from the title to the figure, which then fills it
const LOWEST = 300 // a window lower still scrolls the figure
const GRAIN = 4 // px: a title that is a fraction of a pixel higher changes no drawing
const BESIDE = "(min-width: 961px)" // where drawing and source stand side by side

/**
 * The height of a figure's panes at which all of the figure is in view: settings, panes, sentence, transport. Under the title, as the
 * page opens, if the window is high enough for that; who presents scrolls to it, and gives it all of the window. Infinity where the panes stand below each other.
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

/** The height of what stays at the top of the window: the bar, and the strip of a walk. */
const barsHeight = () => (document.querySelector(".top")?.clientHeight ?? 0) + (document.getElementById("walk")?.offsetHeight ?? 0)

/**
 * Scroll so far that all of a figure is in view, where its lower part is not yet; of one higher than the window, the upper part. A
 * reader who is below it, or far above, is left where they are.
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
 * Keep a stepper's `--room` at the height that its panes may have, and tell its drawing of a change.
 * @param {HTMLElement} stage  root of the stepper
 * @param {() => void} resized  called when the figure has another size
 * @returns {() => void} ends it
 */
export function keepRoom(stage, resized) {
  const panes = /** @type {HTMLElement} */ (stage.querySelector(".panes"))
  let room = 0
  const measure = () => {
    const frame = enclosing(stage, ".whole")
    if (frame) sizes.observe(frame) // its settings come later, and wrap
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
 * The room of a drawing, in px. Its height is what the window has left beside all of the figure that is not beside it; Infinity where
 * the panes stand below each other.
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
