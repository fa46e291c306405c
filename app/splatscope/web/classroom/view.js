// What a walk brings into view on the page now shown: its figure, or a block by name. The top for none.
import {pageRoot} from "#web/shell/page.js"

export function bring(show) {
  if (!show) return scrollTo(0, 0)
  pageRoot()
    ?.querySelector(`[data-block="${CSS.escape(show)}"]`)
    ?.scrollIntoView({block: "start"})
}
