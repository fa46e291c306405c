// The glossary's search and its letters. The letters need a script, because `#` in an address cannot name elements in a shadow
// tree.
import {h, style} from "#web/runtime/dom.js"
import {pageRoot} from "#web/runtime/router.js"

/** @import {Render} from "#web/types.d.ts" */

const REST = 500 // ms without a key press after which the number of terms is announced

/** @param {Render<{}>} component */
export function render({el}) {
  style(el)
  const field = h("input", {type: "search", id: "glossary-search", placeholder: "wave, gradient, PSNR …", autocomplete: "off"})
  const said = h("p", {class: "num"})
  const heard = h("p", {class: "sr", role: "status"})
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let resting
  const show = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean)
    let found = 0
    for (const section of pageRoot()?.querySelectorAll(".glossary section") ?? []) {
      const rows = /** @type {HTMLElement[]} */ ([...section.querySelectorAll("dl > div")])
      for (const row of rows) {
        const text = row.textContent?.toLowerCase() ?? ""
        row.hidden = !words.every((word) => text.includes(word))
        if (!row.hidden) found++
      }
      section.toggleAttribute(
        "hidden",
        rows.every((row) => row.hidden),
      )
    }
    const what = found === 1 ? "1 term" : `${found || "No"} terms`
    said.textContent = words.length ? what : ""
    clearTimeout(resting)
    resting = setTimeout(() => {
      if (heard.textContent !== said.textContent) heard.textContent = said.textContent
    }, REST)
  }
  field.oninput = show
  queueMicrotask(() => {
    for (const link of pageRoot()?.querySelectorAll(".letters a") ?? []) link.addEventListener("click", follow)
  })
  return h("div", {class: "glossary-search"}, h("label", {for: "glossary-search"}, "Search"), field, said, heard)
}

/** @param {Event} event */
function follow(event) {
  const name = event.currentTarget instanceof HTMLAnchorElement ? event.currentTarget.hash : ""
  const heading = pageRoot()?.querySelector(`[id="${name.slice(1)}"]`)
  event.preventDefault()
  heading?.scrollIntoView({block: "start"})
  if (heading instanceof HTMLElement) {
    heading.tabIndex = -1
    heading.focus({preventScroll: true})
  }
}
