// A training run on its own: its bar above its picture and its target.
import {h, style} from "#web/runtime/dom.ts"
import type {Render} from "#web/types.ts"

export function render({model, el}: Render<"TrainingBench">) {
  style(el)
  const caption = h("figcaption", {}, h("b", {}, "Target"))
  const target = h("figure", {class: "pic target"}, caption, h("div", {class: "frame"}, model.get_child("target")))
  return h(
    "div",
    {class: "train-alone"},
    h("div", {class: "train-bar"}, model.get_child("bar")),
    h("div", {class: "pics"}, model.get_child("picture"), target),
  )
}
