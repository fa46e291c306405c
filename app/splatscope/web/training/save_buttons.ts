// The device of the run, and buttons to save its picture and its state.
import {download, h, style} from "#web/runtime/dom.ts"
import type {Message, Render} from "#web/types.ts"

export function render({model, el}: Render<"SaveButtons">) {
  style(el)
  const pill = h("span", {class: "adapter", "data-testid": "adapter"})
  const words = h("span", {class: "crumb wide"}, "Running on")
  const show = () => {
    pill.textContent = model.adapter
    pill.title = model.adapter_words
    pill.hidden = words.hidden = !model.adapter
  }
  model.on("adapter", show)
  show()
  model.on("sequence", () => queueMicrotask(() => model.file && download(model.file, model.file_name)))
  const button = (name: Message<"SaveButtons">["type"], label: string) =>
    h(
      "button",
      {class: "btn wide", type: "button", "data-testid": `train-${name}`, onclick: () => model.send_msg({type: name})},
      label,
    )
  const saves = h("div", {class: "saves"}, words, pill, button("save-picture", "Save picture"), button("save-state", "Save state"))
  model.on("elsewhere", () => saves.classList.toggle("elsewhere", model.elsewhere))
  return saves
}
