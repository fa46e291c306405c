// Scrolls what a walk shows into view.
import {enclosing, zoomOf} from "#web/runtime/dom.ts"
import {hold} from "#web/runtime/hold.ts"
import {pageRoot} from "#web/runtime/router.ts"
import {unfold} from "#web/runtime/sought.ts"

const NEAR = 40 // px by which a block may be off and still count as where it was scrolled to

let release = () => {}
let unfollow = () => {}
let restore = () => {} // scrolls to a block again if the reader has not moved it
window.addEventListener("resize", () => restore())

/**
 * Scroll to a part of the current page, and keep it in place while the content above it loads.
 * @param show  its figure, or a block by its kind and name; "" for the top
 */
export function bring(show: string) {
  release()
  unfollow()
  if (!show) return scrollTo(0, 0)
  const page = pageRoot()
  const block = page?.querySelector(`[data-block="${CSS.escape(show)}"]`)
  if (!page || !block) return
  unfold(block)
  release = hold(page, () => withControls(block))
  follow(block, show)
}

/** What a block is, by the beginning of its name. */
const KINDS = {figure: "Figure", claim: "Claim", quiz: "Question", show: "Result", map: "Map"}

/** What a stop shows, in a word; "" for the top of its page. */
export const kindOf = (show: string) => Object.entries(KINDS).find(([kind]) => show.startsWith(kind))?.[1] ?? ""

/** Move the focus to a part of the current page, where Tab and a screen reader go on. The title has it if there is no such part. */
export function land(show: string) {
  const block = pageRoot()?.querySelector(`[data-block="${CSS.escape(show)}"]`)
  if (!(block instanceof HTMLElement)) return
  block.tabIndex = -1
  block.setAttribute("role", "group")
  block.setAttribute("aria-label", kindOf(show))
  block.focus({preventScroll: true})
}

/** Scroll to a block again whenever the window is resized, until the reader moves it. */
function follow(block: Element, show: string) {
  let stays = true
  const look = () => {
    stays = block.isConnected && Math.abs(offsetOf(block)) < NEAR
  }
  const end = () => {
    restore = () => {}
    removeEventListener("scroll", look)
  }
  unfollow = end
  addEventListener("scroll", look, {passive: true})
  restore = () => {
    if (!stays || !block.isConnected) return
    end()
    requestAnimationFrame(() => bring(show)) // after the new layout
  }
}

/** How far a block is below its place, in px of the window. */
function offsetOf(block: Element) {
  const target = withControls(block)
  const zoom = zoomOf(target as HTMLElement)
  return target.getBoundingClientRect().top - parseFloat(getComputedStyle(target).scrollMarginTop) * zoom
}

/** The figure with its controls, if both fit below the strip; else the block alone. */
function withControls(block: Element) {
  const whole = enclosing(block, ".whole")
  if (!whole) return block
  const height = whole.offsetHeight + parseFloat(getComputedStyle(whole).scrollMarginTop)
  return height * zoomOf(whole) <= innerHeight ? whole : block
}
