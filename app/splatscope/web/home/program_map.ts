// The map of the program. Times are added when they have been measured, each with a bar for its share of an iteration.
import {h, style} from "#web/runtime/dom.ts"
import {progress} from "./progress.ts"
import type {Render} from "#web/types.ts"

/** A time with two significant digits, or more from 100 on. */
export const timeText = (ms: number) => (ms >= 99.5 ? ms.toFixed(0) : ms >= 0.095 ? ms.toPrecision(2) : ms.toFixed(2))

export function render({model, el}: Render<"ProgramMap">) {
  style(el)
  const root = h("div", {"data-testid": "program-map"})
  root.innerHTML = model.html
  const order = [...document.querySelectorAll(".nav [data-section]")].map((link) => link.getAttribute("data-section"))
  const all = (selector: string) => root.querySelectorAll(selector) as NodeListOf<HTMLElement>
  for (const link of all("[data-section]")) {
    const number = order.indexOf(link.dataset.section ?? "") + 1
    link.dataset.number = String(number)
    link.setAttribute("aria-description", `Section ${number}`) // the number that is drawn before it is no part of its name
  }
  const show = () => {
    const said = root.querySelector(".pm-said")
    if (said) said.textContent = model.said
    for (const el of all("[data-shape]")) el.textContent = model.shapes[el.dataset.shape ?? ""] ?? ""
    const {total} = model.times
    for (const el of all("[data-time]")) {
      const ms = model.times[el.dataset.time ?? ""]
      if (ms === undefined) continue
      el.replaceChildren(h("b", {}, timeText(ms)), " ms")
      el.style.setProperty("--share", String(Math.min(1, ms / total)))
    }
    if (total !== undefined) root.dataset.measured = ""
  }
  model.on("remove", progress(root)) // its links get ticks, like those of the page
  const soon = () => queueMicrotask(show)
  for (const name of ["times", "shapes", "said"]) model.on(name, soon)
  show()
  return root
}
