// The debugger's part of the top bar. It speaks with the bench by events on window.
import {h, style} from "./dom.js"

export const tell = (name, detail = null) => window.dispatchEvent(new CustomEvent(`splatscope:debug-${name}`, {detail}))

export function render({model, el}) {
  style(el)
  const words = h("span", {class: "crumb wide"}, "Recorded on"), pill = h("span", {class: "adapter wide"})
  const views = [["step", "Step"], ["edit", "Edit"]].map(([name, label]) => h("button", {type: "button", role: "radio", "data-view": name, onclick: () => tell("view", name)}, label))
  const share = h("button", {type: "button", class: "btn wide", title: "A link that holds the source, the inputs and this step", onclick: () => tell("share")}, "Copy link")
  const run = h("button", {type: "button", class: "btn pri", "data-testid": "debugger-run", onclick: () => tell("run")}, "Run ", h("kbd", {class: "wide"}, "Ctrl ⏎"))
  const show = ({detail}) => {
    views.forEach((button) => button.setAttribute("aria-checked", String(button.dataset.view === detail.view)))
    pill.textContent = detail.adapter
    pill.title = detail.adapterWords ?? ""
    words.hidden = pill.hidden = !detail.adapter
    run.disabled = detail.busy
    if (detail.said) {
      share.textContent = detail.said
      setTimeout(() => { share.textContent = "Copy link" }, 2500)
    }
  }
  window.addEventListener("splatscope:debug-state", show)
  model.on("remove", () => window.removeEventListener("splatscope:debug-state", show))
  queueMicrotask(() => tell("ask"))
  return h("div", {class: "debugbar"}, words, pill, h("div", {class: "seg", role: "radiogroup", "aria-label": "Edit or step"}, ...views), share, run)
}
