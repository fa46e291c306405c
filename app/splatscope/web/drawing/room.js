// How much room a drawing has, so that its whole figure is in view.
import {around} from "#web/shell/dom.js"

const LEAST = 360 // px: a lower window scrolls
const BESIDE = "(min-width: 1101px)" // where drawing and source stand side by side

/**
 * What is around an element, up to the document.
 * @param {Node} el
 * @param {string} selector
 * @returns {HTMLElement | null}
 */
function enclosing(el, selector) {
  /** @type {Node | null} */
  let node = el
  while (node) {
    if (node instanceof HTMLElement && node.matches(selector)) return node
    node = around(node)
  }
  return null
}

/**
 * The room of a drawing, in px. Its height is the window's, less the top bar and all of the figure that is not beside it: settings,
 * sentence, transport. Infinity where the panes stand below each other.
 * @param {HTMLElement} root
 */
export function roomOf(root) {
  const width = root.clientWidth
  const frame = enclosing(root, ".whole")
  const panes = enclosing(root, ".panes")
  if (!frame || !panes || !matchMedia(BESIDE).matches) return {width, height: Infinity}
  const aside = enclosing(root, ".aside")
  const padding = aside ? parseFloat(getComputedStyle(aside).paddingTop) + parseFloat(getComputedStyle(aside).paddingBottom) : 0
  const others = frame.offsetHeight - panes.offsetHeight + padding
  const bar = document.querySelector(".top")?.clientHeight ?? 0
  return {width, height: Math.max(LEAST, Math.floor(innerHeight - bar - others - 2))}
}
