// Arrow keys that move within a group of elements instead of stepping the recording. With Shift they still belong to the stepper.

/** Steps between elements in a row or a column. */
export const ARROWS = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}

/** Columns and rows to move by in a grid. */
export const GRID: Record<string, [across: number, down: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}

/** The same, and to the ends of a row. */
export const GRID_AND_ENDS: Record<string, [across: number, down: number]> = {...GRID, Home: [-Infinity, 0], End: [Infinity, 0]}

/** The distance from the current choice to the first or the last one, in a slider or a list of options. */
function toEnd(el: Element, key: string) {
  if (key !== "Home" && key !== "End") return 0
  const number = (name: string) => Number(el.getAttribute(name))
  const options = [...el.querySelectorAll("[role=option]")]
  const [first, chosen, last] = options.length
    ? [0, options.findIndex((one) => one.getAttribute("aria-selected") === "true"), options.length - 1]
    : [number("aria-valuemin"), number("aria-valuenow"), number("aria-valuemax")]
  return (key === "Home" ? first : last) - chosen
}

/**
 * Call `move` with the entry of `moves` for the arrow key that was pressed on or in `el`. If `el` is a slider or a list of options
 * and the moves are steps, Home and End move to its ends.
 * @param moves  by key
 */
export function onArrows<Move>(
  el: HTMLElement | SVGElement,
  moves: Record<string, Move>,
  move: (move: Move, event: KeyboardEvent) => void,
) {
  const steps = Object.values(moves).every((one) => typeof one === "number")
  const hasEnds = () =>
    el.getAttribute("role") === "listbox" || (el.getAttribute("role") === "slider" && el.hasAttribute("aria-valuenow"))
  el.onkeydown = (event: KeyboardEvent) => {
    const {key} = event
    const end = (key === "Home" || key === "End") && steps && hasEnds()
    if (event.shiftKey || !(end || Object.hasOwn(moves, key))) return
    event.preventDefault()
    event.stopPropagation()
    const step = end ? toEnd(el, key) : moves[key]
    if (step !== 0) move(step as Move, event) // choosing the current choice again would clear it
  }
}

/** Make one element of a group its only tab stop. */
export function setTabStop(elements: Iterable<HTMLElement>, index: number) {
  let i = 0
  for (const element of elements) element.tabIndex = i++ === index ? 0 : -1
}

/** Let arrow keys choose among the radio buttons of a row, skipping hidden ones. */
export function arrowsChoose(row: HTMLElement, buttons: HTMLElement[]) {
  onArrows(row, ARROWS, (step) => {
    const shown = buttons.filter((button) => button.getClientRects().length)
    const chosen = shown.findIndex((button) => button.getAttribute("aria-checked") === "true")
    const next = shown[neighbour(chosen, step, shown.length)]
    next.focus()
    next.click()
  })
}

/** Check one of the radio buttons of a row and make it the tab stop. */
export function checkOne(buttons: HTMLElement[], chosen: number) {
  buttons.forEach((button, i) => {
    button.setAttribute("aria-checked", String(i === chosen))
  })
  setTabStop(buttons, Math.max(0, chosen))
}

/**
 * The index of an element's neighbour in a ring of elements.
 * @param step  1 or −1
 */
export const neighbour = (index: number, step: number, count: number) => (index + step + count) % count
