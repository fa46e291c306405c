// A page: its HTML, its live components in their slots, its actions in the top bar.
import {offerResume} from "#web/classroom/resume.ts"
import {companion} from "#web/lesson_page/companion.ts"
import {explanations} from "#web/lesson_page/explanations.ts"
import {onThisPage} from "#web/lesson_page/on_this_page.ts"
import {quote} from "#web/widgets/quote.ts"
import {terms} from "#web/reference/terms.ts"
import {paintModels} from "#web/theme/theme.ts"
import {enclosing, h, style} from "#web/runtime/dom.ts"
import {emit} from "#web/runtime/events.ts"
import {setKeys} from "#web/runtime/keys.ts"
import {printing} from "./print.ts"
import {progress} from "#web/home/progress.ts"
import {arrived, current, isRead, setPageRoot} from "#web/runtime/router.ts"
import type {Render} from "#web/types.ts"

/** Make the name in the top bar the heading of a page that has none of its own, such as a tool. */
function nameCrumb(heads: boolean) {
  const crumb = document.getElementById("crumb")
  if (heads) {
    crumb?.setAttribute("role", "heading")
    crumb?.setAttribute("aria-level", "1")
  } else {
    crumb?.removeAttribute("role")
    crumb?.removeAttribute("aria-level")
  }
}

let owner: HTMLElement | null = null // the component whose actions the bar holds

export function render({model, el}: Render<"Page">) {
  style(el)
  const hasSession = !isRead(model.page)
  const overtaken = () => hasSession && isRead(current().page) // the reader has moved on to a section meanwhile
  if (overtaken()) return h("div", {hidden: true})
  const root = h("div", {class: "page", "data-page": model.page})
  root.innerHTML = model.html
  setPageRoot(root)
  quote(root)
  const slots = model.get_child("slots")
  slots.forEach((child, i) => {
    const slot = root.querySelector(`[data-slot="${CSS.escape(model.slot_names[i])}"]`)
    if (slot) slot.replaceChildren(child)
    else root.append(child)
  })
  nameCrumb(!root.querySelector("h1"))
  const bar = document.getElementById("actions")
  bar?.replaceChildren(...model.get_child("actions"))
  owner = el
  model.on("remove", () => {
    if (owner === el) bar?.replaceChildren() // unless the next page has already filled it
  })
  setKeys(model.keys)
  paintModels()
  onThisPage(root)
  offerResume(root)
  for (const end of [terms(root), progress(root), companion(root), explanations(root), printing(root)]) model.on("remove", end)
  model.on("after_render", () => {
    if (enclosing(el, "#first") || overtaken()) return
    if (hasSession) emit("live", null)
    document.getElementById("first")?.remove() // the static words that the document showed so far
  })
  requestAnimationFrame(() => arrived(root))
  return root
}
