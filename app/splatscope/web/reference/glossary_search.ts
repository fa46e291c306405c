// The glossary's search and its letters. The letters need a script, because `#` in an address cannot name elements in a shadow
// tree.
import {h, style} from "#web/runtime/dom.ts"
import {pageRoot} from "#web/runtime/router.ts"
import type {Render} from "#web/types.ts"

const REST = 500 // ms without a key press after which the number of terms is announced

export function render({el}: Render<"GlossarySearch">) {
  style(el)
  const field = h("input", {type: "search", id: "glossary-search", placeholder: "wave, gradient, PSNR …", autocomplete: "off"})
  const said = h("p", {class: "num"})
  const heard = h("p", {class: "sr", role: "status"})
  let resting: ReturnType<typeof setTimeout> | undefined
  const show = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean)
    let found = 0
    for (const section of pageRoot()?.querySelectorAll(".glossary section") ?? []) {
      const rows = [...section.querySelectorAll("dl > div")] as HTMLElement[]
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

function follow(event: Event) {
  const name = event.currentTarget instanceof HTMLAnchorElement ? event.currentTarget.hash : ""
  const heading = pageRoot()?.querySelector(`[id="${name.slice(1)}"]`)
  event.preventDefault()
  heading?.scrollIntoView({block: "start"})
  if (heading instanceof HTMLElement) {
    heading.tabIndex = -1
    heading.focus({preventScroll: true})
  }
}
