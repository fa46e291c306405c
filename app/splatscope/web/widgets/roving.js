// Arrow keys within a group of elements, and not through the recording. With Shift they are the stepper's.

/** Steps among elements in a row or a column. */
export const ARROWS = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}

/**
 * Call `move` with what `moves` has for the arrow key that was pressed on `el` or inside.
 * @template Move
 * @param {HTMLElement | SVGElement} el
 * @param {Record<string, Move>} moves  by key
 * @param {(move: Move, event: KeyboardEvent) => void} move
 */
export function onArrows(el, moves, move) {
  el.onkeydown = (/** @type {KeyboardEvent} */ event) => {
    if (!Object.hasOwn(moves, event.key) || event.shiftKey) return
    event.preventDefault()
    event.stopPropagation()
    move(moves[event.key], event)
  }
}

/**
 * Give one element of a group the tab stop, and take it from the others.
 * @param {Iterable<HTMLElement>} elements
 * @param {number} index
 */
export function setTabStop(elements, index) {
  let i = 0
  for (const element of elements) element.tabIndex = i++ === index ? 0 : -1
}

/**
 * Index of the neighbour of an element in a ring of elements.
 * @param {number} index
 * @param {number} step  1 or −1
 * @param {number} count
 */
export const neighbour = (index, step, count) => (index + step + count) % count
