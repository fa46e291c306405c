// A page on paper: folded parts are opened, charts fit the sheet, and the address is printed at the end.
import {below} from "#web/runtime/dom.ts"

const SHEET = 700 // px: the width of an A4 sheet between its margins

/**
 * Prepare a page whenever it is printed, and restore it afterwards.
 * @param root  of the page
 * @returns ends it
 */
export function printing(root: HTMLElement): () => void {
  let undo: (() => void)[] = []
  const before = () => {
    for (const details of root.querySelectorAll("details:not([open])")) {
      details.setAttribute("open", "")
      undo.push(() => details.removeAttribute("open"))
    }
    for (const chart of below(root)) {
      if (!(chart instanceof HTMLElement) || !chart.classList.contains("bokeh")) continue
      if (chart.clientWidth <= SHEET) continue
      chart.style.zoom = String(SHEET / chart.clientWidth)
      undo.push(() => chart.style.removeProperty("zoom"))
    }
    root.dataset.printed = `${document.title}: ${location.href}`
  }
  const after = () => {
    for (const act of undo) act()
    undo = []
  }
  window.addEventListener("beforeprint", before)
  window.addEventListener("afterprint", after)
  return () => {
    window.removeEventListener("beforeprint", before)
    window.removeEventListener("afterprint", after)
  }
}
