// What a walk brings into view.
import {enclosing, zoomOf} from "#web/shell/dom.js"
import {pageRoot} from "#web/shell/page.js"

const LOADS = 3000 // ms within which what stands above may still grow
const MOVES = ["wheel", "touchmove", "pointerdown", "keydown"] // by which a reader moves the page themselves

const NEAR = 40 // px within which a block still stands where it was brought

let release = () => {}
let unfollow = () => {}
let restore = () => {} // brings a block again that stands where it was brought
window.addEventListener("resize", () => restore())

/**
 * Bring a part of the page now shown into view, and keep it there while what stands above it loads.
 * @param {string} show  its figure, or a block by its kind and name; "" for the top
 */
export function bring(show) {
  release()
  unfollow()
  if (!show) return scrollTo(0, 0)
  const page = pageRoot()
  const block = page?.querySelector(`[data-block="${CSS.escape(show)}"]`)
  if (!page || !block) return
  const scroll = () => withControls(block).scrollIntoView({block: "start"})
  const grows = new ResizeObserver(scroll)
  const end = () => {
    grows.disconnect()
    for (const type of MOVES) removeEventListener(type, end, true)
  }
  release = end
  for (const type of MOVES) addEventListener(type, end, true)
  setTimeout(end, LOADS)
  scroll()
  grows.observe(page)
  follow(block, show)
}

/**
 * Bring a block again whenever the window takes another size, for as long as the reader leaves it where it stands.
 * @param {Element} block
 * @param {string} show
 */
function follow(block, show) {
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
    requestAnimationFrame(() => bring(show)) // once the window is laid out anew
  }
}

/**
 * How far below its place a block stands, in px of the window.
 * @param {Element} block
 */
function offsetOf(block) {
  const target = withControls(block)
  const zoom = zoomOf(/** @type {HTMLElement} */ (target))
  return target.getBoundingClientRect().top - parseFloat(getComputedStyle(target).scrollMarginTop) * zoom
}

/**
 * The figure with its controls, if the window has room for both below the strip; else the block alone.
 * @param {Element} block
 */
function withControls(block) {
  const whole = enclosing(block, ".whole")
  if (!whole) return block
  const height = whole.offsetHeight + parseFloat(getComputedStyle(whole).scrollMarginTop)
  return height * zoomOf(whole) <= innerHeight ? whole : block
}
