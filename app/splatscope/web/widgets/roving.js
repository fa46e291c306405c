// Arrow keys within a group of elements, and not through the recording. With Shift they are the stepper's.

/** Steps among elements in a row or a column. */
export const ARROWS = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}

const ENDS = {Home: "aria-valuemin", End: "aria-valuemax"}

/**
 * Call `move` with what `moves` has for the arrow key that was pressed on `el` or inside. If `el` is a slider and the moves are steps,
 * Home and End move to its ends.
 * @template Move
 * @param {HTMLElement | SVGElement} el
 * @param {Record<string, Move>} moves  by key
 * @param {(move: Move, event: KeyboardEvent) => void} move
 */
export function onArrows(el, moves, move) {
  const number = (/** @type {string} */ name) => Number(el.getAttribute(name))
  const steps = Object.values(moves).every((one) => typeof one === "number")
  el.onkeydown = (/** @type {KeyboardEvent} */ event) => {
    const {key} = event
    const toEnd = Object.hasOwn(ENDS, key) && steps && el.getAttribute("role") === "slider" && el.hasAttribute("aria-valuenow")
    if (event.shiftKey || !(toEnd || Object.hasOwn(moves, key))) return
    event.preventDefault()
    event.stopPropagation()
    const step = toEnd ? number(ENDS[/** @type {keyof typeof ENDS} */ (key)]) - number("aria-valuenow") : moves[key]
    move(/** @type {Move} */ (step), event)
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
