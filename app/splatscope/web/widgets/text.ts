// Text that changes: HTML made by Python.
import {h, style} from "#web/runtime/dom.ts"
import type {Render} from "#web/types.ts"

export function render({model, el}: Render<"Text">) {
  style(el)
  const root = h("div", {class: "text"})
  const show = () => {
    root.innerHTML = model.html
  }
  model.on("html", show)
  show()
  return root
}
