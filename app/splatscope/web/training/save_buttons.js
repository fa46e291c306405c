// The device of the run, and buttons to save its picture and its state.
import {download, h, style} from "#web/runtime/dom.js"

/** @import {Render} from "#web/types.d.ts" */

/**
 * @typedef {object} Parameters
 * @property {string} adapter
 * @property {string} adapter_words
 * @property {ArrayBuffer} file
 * @property {string} file_name
 * @property {number} sequence  increased with each file
 */

/** @param {Render<Parameters>} component */
export function render({model, el}) {
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
  model.on("sequence", () => queueMicrotask(() => download(model.file, model.file_name)))
  const button = (/** @type {string} */ name, /** @type {string} */ label) =>
    h(
      "button",
      {class: "btn wide", type: "button", "data-testid": `train-${name}`, onclick: () => model.send_msg({type: name})},
      label,
    )
  return h("div", {class: "saves"}, words, pill, button("save-picture", "Save picture"), button("save-state", "Save state"))
}
