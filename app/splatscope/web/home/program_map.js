// The map of the program: its words at once, its times when they are there, each with a bar that is its share of an iteration.
import {h, style} from "#web/shell/dom.js"

const figure = (ms) => (ms >= 100 ? ms.toFixed(0) : ms >= 0.095 ? ms.toPrecision(2) : ms.toFixed(2))

export function render({model, el}) {
  style(el)
  const root = h("div", {"data-testid": "program-map"})
  root.innerHTML = model.html
  const show = () => {
    root.querySelector(".pm-said").textContent = model.said
    for (const place of root.querySelectorAll("[data-shape]")) place.textContent = model.shapes[place.dataset.shape] ?? ""
    const {total} = model.times
    for (const place of root.querySelectorAll("[data-time]")) {
      const ms = model.times[place.dataset.time]
      if (ms === undefined) continue
      place.replaceChildren(h("b", {}, figure(ms)), " ms")
      place.style.setProperty("--share", Math.min(1, ms / total))
    }
    if (total !== undefined) root.dataset.measured = ""
  }
  const soon = () => queueMicrotask(show)
  for (const name of ["times", "shapes", "said"]) model.on(name, soon)
  show()
  return root
}
