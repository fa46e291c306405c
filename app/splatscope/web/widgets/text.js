// Text that changes: HTML made by Python.
import {h, style} from "#web/runtime/dom.js"

/** @param {import("#web/types.d.ts").Render<{html: string}>} component */
export function render({model, el}) {
  style(el)
  const root = h("div", {class: "text"})
  const show = () => {
    root.innerHTML = model.html
  }
  model.on("html", show)
  show()
  return root
}
