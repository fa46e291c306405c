// In the top bar: the device it ran on, the way to the debugger. In the address: the lesson's inputs.
import {h, style} from "../dom.js"
import {read, setInputs} from "../router.js"

export function render({model, el}) {
  style(el)
  const page = read().page
  const adapter = h("span", {class: "adapter on", "data-testid": "adapter", hidden: true})
  const link = h("a", {class: "btn", hidden: true, "aria-label": "Open in the debugger"}, h("span", {class: "wide"}, "Open in the debugger"), h("span", {class: "narrow"}, "Debugger"))
  const show = () => {
    adapter.textContent = model.adapter
    adapter.hidden = !model.adapter
    link.hidden = !model.debugger
    if (model.debugger) link.href = model.debugger
    setInputs(page, model.address)
  }
  show()
  for (const name of ["address", "debugger", "adapter"]) model.on(name, () => queueMicrotask(show))
  return h("div", {class: "lessonbar"}, h("span", {class: "dim wide"}, "Recorded on"), adapter, link)
}
