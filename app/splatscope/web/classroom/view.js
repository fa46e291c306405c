// What a walk brings into view.
import {pageRoot} from "#web/shell/page.js"

/**
 * Bring a part of the page now shown into view.
 * @param {string} show  its figure, or a block by its kind and name; "" for the top
 */
export function bring(show) {
  if (!show) return scrollTo(0, 0)
  pageRoot()
    ?.querySelector(`[data-block="${CSS.escape(show)}"]`)
    ?.scrollIntoView({block: "start"})
}
