// The debugger's part of the top bar. It exchanges events on `window` with the workbench.
import {h, style} from "#web/runtime/dom.ts"
import {type DebuggerState, emit, on} from "#web/runtime/events.ts"
import {arrowsChoose, checkOne} from "#web/widgets/roving.ts"
import {Menu} from "./menu.ts"
import type {Render} from "#web/types.ts"

const BOTH = "both"

export function render({model, el}: Render<"DebugBar">) {
  style(el)
  const words = h("span", {class: "crumb wide"}, "Recorded on"),
    pill = h("span", {class: "adapter wide", "data-testid": "debugger-adapter"})
  const choice = h("select", {class: "adapters wide", "aria-label": "Record on"})
  choice.onchange = () => emit("debug-adapter", choice.value)
  const view = (name: string, label: string) =>
    h("button", {type: "button", role: "radio", "data-view": name, onclick: () => emit("debug-view", name)}, label)
  const views = [view("step", "Step"), view("compare", "Side by side"), view("edit", "Edit")]
  views[1].classList.add("wide")
  const open = h(
    "button",
    {
      type: "button",
      class: "btn wide",
      "aria-haspopup": "dialog",
      "data-testid": "debugger-open",
      onclick: () => emit("debug-open", null),
    },
    "Open",
  )
  const menu = new Menu()
  const run = h(
    "button",
    {type: "button", class: "btn pri", "data-testid": "debugger-run", onclick: () => emit("debug-run", null)},
    "Run ",
    h("kbd", {class: "wide", "aria-hidden": "true"}, "Ctrl ⏎"),
  )
  const seg = h("div", {class: "seg", role: "radiogroup", "aria-label": "Edit or step"}, ...views)
  arrowsChoose(seg, views)
  let offered = ""
  const show = (state: DebuggerState) => {
    checkOne(
      views,
      views.findIndex((button) => button.dataset.view === state.view),
    )
    views[1].hidden = state.pair.length !== 2
    views[1].title = state.pair.join(" and ")
    pill.textContent = state.adapter
    pill.title = state.adapterWords ?? ""
    pill.classList.toggle("rec", state.fromFile)
    run.classList.toggle("pri", !state.asks) // the button beside the question is
    words.hidden = !state.adapter && !state.adapters.length
    words.textContent = state.fromFile ? "Opened, recorded on" : "Recorded on"
    choice.hidden = !state.adapters.length || state.fromFile
    pill.hidden = !state.adapter || !choice.hidden
    if (offered !== state.adapters.join()) {
      offered = state.adapters.join()
      choice.replaceChildren(
        ...state.adapters.map((name) => h("option", {value: name}, name)),
        h("option", {value: BOTH}, "Both, side by side"),
      )
    }
    if (state.chosen) choice.value = state.chosen
    menu.show(state)
  }
  const leave = on("debug-state", show)
  model.on("remove", () => {
    leave()
    menu.close()
  })
  queueMicrotask(() => emit("debug-ask", null))
  return h("div", {class: "debugbar"}, words, pill, choice, seg, open, menu.el, run)
}
