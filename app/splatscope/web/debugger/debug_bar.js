// The debugger's part of the top bar. It speaks with the bench by events on window.
import {h, style} from "#web/shell/dom.js"
import {Menu} from "./menu.js"

export const tell = (name, detail = null) => window.dispatchEvent(new CustomEvent(`splatscope:debug-${name}`, {detail}))

const BOTH = "both"

export function render({model, el}) {
  style(el)
  const words = h("span", {class: "crumb wide"}, "Recorded on"),
    pill = h("span", {class: "adapter wide", "data-testid": "debugger-adapter"})
  const choice = h("select", {class: "adapters wide", "aria-label": "Record on", onchange: () => tell("adapter", choice.value)})
  const view = (name, label) =>
    h("button", {type: "button", role: "radio", "data-view": name, onclick: () => tell("view", name)}, label)
  const views = [view("step", "Step"), view("compare", "Side by side"), view("edit", "Edit")]
  views[1].classList.add("wide")
  const open = h(
    "button",
    {type: "button", class: "btn wide", "aria-haspopup": "dialog", "data-testid": "debugger-open", onclick: () => tell("open")},
    "Open",
  )
  const menu = new Menu()
  const run = h(
    "button",
    {type: "button", class: "btn pri", "data-testid": "debugger-run", onclick: () => tell("run")},
    "Run ",
    h("kbd", {class: "wide"}, "Ctrl ⏎"),
  )
  let offered = ""
  const show = ({detail}) => {
    views.forEach((button) => button.setAttribute("aria-checked", String(button.dataset.view === detail.view)))
    views[1].hidden = detail.pair.length !== 2
    views[1].title = detail.pair.join(" and ")
    pill.textContent = detail.adapter
    pill.title = detail.adapterWords ?? ""
    pill.classList.toggle("rec", detail.fromFile)
    words.hidden = !detail.adapter && !detail.adapters.length
    words.textContent = detail.fromFile ? "Opened, recorded on" : "Recorded on"
    choice.hidden = !detail.adapters.length || detail.fromFile
    pill.hidden = !detail.adapter || !choice.hidden
    if (offered !== detail.adapters.join()) {
      offered = detail.adapters.join()
      choice.replaceChildren(
        ...detail.adapters.map((name) => h("option", {value: name}, name)),
        h("option", {value: BOTH}, "Both, side by side"),
      )
    }
    if (detail.chosen) choice.value = detail.chosen
    menu.show(detail)
  }
  window.addEventListener("splatscope:debug-state", show)
  model.on("remove", () => {
    window.removeEventListener("splatscope:debug-state", show)
    menu.close()
  })
  queueMicrotask(() => tell("ask"))
  return h(
    "div",
    {class: "debugbar"},
    words,
    pill,
    choice,
    h("div", {class: "seg", role: "radiogroup", "aria-label": "Edit or step"}, ...views),
    open,
    menu.el,
    run,
  )
}
