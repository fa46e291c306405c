// Scrolls to a part of a page whose content above it may still be loading.

const LOADS = 15_000 // ms without growth after which the content above is taken to be complete, also on a slow and busy machine
const MOVES = ["wheel", "touchmove", "pointerdown", "keydown"] // events by which readers scroll the page themselves

/**
 * Scroll to an element, and keep it in place while the page grows, until the reader moves.
 * @param target  the element, which may be another one when the page has grown
 * @param block  where in the window it is kept
 * @returns ends it
 */
export function hold(page: Element, target: () => Element, block: ScrollLogicalPosition = "start"): () => void {
  const scroll = () => target().scrollIntoView({block})
  let complete = 0
  const grows = new ResizeObserver(() => {
    scroll()
    clearTimeout(complete)
    complete = setTimeout(end, LOADS)
  })
  const end = () => {
    clearTimeout(complete)
    grows.disconnect()
    for (const type of MOVES) removeEventListener(type, end, true)
  }
  for (const type of MOVES) addEventListener(type, end, true)
  scroll()
  grows.observe(page)
  return end
}
