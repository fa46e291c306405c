// A page on paper: what is folded is open, a chart is no wider than the sheet, and the address stands at the end.

const SHEET = 700 // px: what a sheet of A4 has between its margins

/**
 * Prepare a page whenever it is printed, and put it back afterwards.
 * @param {HTMLElement} root  of the page
 * @returns {() => void} ends it
 */
export function printing(root) {
  /** @type {(() => void)[]} */
  let undo = []
  const before = () => {
    for (const details of root.querySelectorAll("details:not([open])")) {
      details.setAttribute("open", "")
      undo.push(() => details.removeAttribute("open"))
    }
    for (const chart of charts(root)) {
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

/**
 * The charts below a node, through the shadow trees.
 * @param {ParentNode} node
 * @returns {HTMLElement[]}
 */
function charts(node) {
  return [...node.querySelectorAll("*")].flatMap((el) =>
    el instanceof HTMLElement && el.classList.contains("bokeh") ? [el] : el.shadowRoot ? charts(el.shadowRoot) : [],
  )
}
