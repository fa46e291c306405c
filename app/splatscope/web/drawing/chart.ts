// A Bokeh figure that changes while it is seen.
import {h, style} from "#web/runtime/dom.ts"
import {drawFigure} from "./bokeh.ts"
import type {Render} from "#web/types.ts"

export function render({model, el}: Render<"Chart">) {
  style(el)
  const box = h("div", {class: "bokeh", style: "height: 100%"})
  el.style.height = "100%" // a figure may be as high as the page gives it room
  const figure = drawFigure(model.item, box)
  model.on("message", ({patch}: {patch: unknown}) => void figure.patch(patch))
  model.on("remove", () => void figure.close())
  return box
}
