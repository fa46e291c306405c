// What a walk brings into view.
import {pageRoot} from "#web/shell/page.js"

const LOADS = 3000 // ms within which what stands above may still grow
const MOVES = ["wheel", "touchmove", "pointerdown", "keydown"] // by which a reader moves the page themselves

let release = () => {}

/**
 * Bring a part of the page now shown into view, and keep it there while what stands above it loads.
 * @param {string} show  its figure, or a block by its kind and name; "" for the top
 */
export function bring(show) {
  release()
  if (!show) return scrollTo(0, 0)
  const page = pageRoot()
  const block = page?.querySelector(`[data-block="${CSS.escape(show)}"]`)
  if (!page || !block) return
  const grows = new ResizeObserver(() => block.scrollIntoView({block: "start"}))
  const end = () => {
    grows.disconnect()
    for (const type of MOVES) removeEventListener(type, end, true)
  }
  release = end
  for (const type of MOVES) addEventListener(type, end, true)
  setTimeout(end, LOADS)
  block.scrollIntoView({block: "start"})
  grows.observe(page)
}
