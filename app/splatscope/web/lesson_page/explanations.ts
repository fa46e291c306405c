// What gives away the answers to the questions and claims directly before it is folded until the reader has bet on all of them. Who does
// not bet can open it. On paper and without scripts it is open.
import {within} from "#web/runtime/dom.ts"
import {on} from "#web/runtime/events.ts"

/**
 * Fold a page's explanations.
 * @param root  of the page
 * @returns ends it
 */
export function explanations(root: HTMLElement): () => void {
  const folds = [...root.querySelectorAll<HTMLDetailsElement>("details.answer")]
  for (const fold of folds) show(fold, false)
  const look = () => {
    for (const fold of folds) if (betsBefore(fold).every((slot) => within(slot, ".card:not(.open)"))) show(fold, true)
  }
  requestAnimationFrame(look) // for the bets of an earlier visit, once all is in its place
  return on("asked", look)
}

/** Show an explanation as a part of the page, or fold it. */
function show(fold: HTMLDetailsElement, told: boolean) {
  fold.open = told
  fold.classList.toggle("told", told)
  for (const summary of fold.querySelectorAll<HTMLElement>(":scope > summary")) summary.hidden = told
}

/** The slots of the questions and claims directly before an element. */
function betsBefore(el: Element): Element[] {
  const before = el.previousElementSibling
  return before?.matches("[data-block^=quiz-], [data-block^=claim-]") ? [before, ...betsBefore(before)] : []
}
