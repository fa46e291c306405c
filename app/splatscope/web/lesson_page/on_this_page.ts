// An unobtrusive list of a long section's headings, below the figure where there is room.
import {h} from "#web/runtime/dom.ts"
import {hold} from "#web/runtime/hold.ts"

const LONG = 4 // headings

/**
 * Add the list to a page, unless the page is short or has no figure.
 * @param root  of the page
 */
export function onThisPage(root: HTMLElement) {
  const figure = root.querySelector(".lesson > .fig > .whole")
  const headings = [...root.querySelectorAll(".lesson > .prose h2")] as HTMLElement[]
  if (!figure || headings.length < LONG) return
  const entries = headings.map((heading) => {
    heading.tabIndex = -1
    const onclick = () => {
      hold(root, () => heading)
      heading.focus({preventScroll: true})
    }
    return h("li", {}, h("button", {type: "button", onclick}, heading.textContent ?? ""))
  })
  const title = h("p", {"aria-hidden": "true"}, "On this page")
  figure.after(h("nav", {class: "on-this-page", "aria-label": "On this page"}, title, h("ul", {}, ...entries)))
}
