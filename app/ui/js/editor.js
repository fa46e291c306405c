// The debugger's bench: the editor and its inputs, or the stepper. The browser keeps the draft; Python compiles and records it.
import {makeEditor} from "./codemirror.js"
import {tell} from "./debugbar.js"
import {h, style, typing} from "./dom.js"
import {keep, kept, link} from "./draft.js"
import {Inputs} from "./inputs.js"
import {severity} from "./stepper/icons.js"
import {number, text} from "./stepper/recording.js"

const PAUSE = 450 // ms without a key after which the compiler is asked
const SHOWN = 64 // numbers of an output

export function render({model, el}) {
  style(el)
  let view = "step", example = "", editor = null, timer = null, given = false

  const open = h("select", {"aria-label": "Open an example", class: "open"})
  const told = h("p", {class: "verdict", role: "status", "data-testid": "debugger-message"})
  const holder = h("div", {class: "code-edit"})
  const inputs = new Inputs(model, () => save())
  const outputs = h("section", {class: "panel outputs", "data-testid": "outputs", "aria-label": "Outputs", hidden: true})
  const edit = h("div", {class: "edit"},
    h("section", {class: "panel", "aria-label": "Source"}, h("div", {class: "ph"}, h("h2", {}, "Source"), h("span", {class: "dim wide"}, "Slang; ", h("kbd", {}, "Ctrl ⏎"), " runs it"), h("span", {class: "sp"}), open), holder, told),
    h("div", {class: "sides"}, inputs.el, outputs))
  const step = h("div", {class: "step"}, model.get_child("stepper"))
  const root = h("div", {class: "bench-of-two", "data-testid": "debugger"}, edit, step)

  const kinds = (broken) => model.examples.filter(([, , b]) => b === broken).map(([name, title]) => h("option", {value: name}, title))
  open.replaceChildren(h("option", {value: ""}, "Open an example …"), h("optgroup", {label: "That work"}, ...kinds(false)), h("optgroup", {label: "That do not, each with its fix"}, ...kinds(true)))
  open.onchange = () => { if (open.value) { model.send_msg({type: "open", example: open.value}); show("step") } }

  const draft = () => ({source: editor.text, example, ...inputs.draft})
  const save = () => { if (given) keep(draft()) }
  const run = () => {
    if (!given) return
    clearTimeout(timer)
    save()
    model.send_msg({type: "run", ...draft()})
    editor.view.contentDOM.blur()
    show("step")
  }
  const changed = () => {
    if (!given) return
    save()
    clearTimeout(timer)
    timer = setTimeout(() => model.send_msg({type: "check", ...draft()}), PAUSE)
  }
  const put = (next) => {
    given = false
    editor.text = next.source ?? ""
    inputs.open(next)
    example = next.example ?? ""
    open.value = example
    given = true
    save()
  }

  let adapter = "", adapterWords = ""
  const state = (said = "") => tell("state", {view, adapter, adapterWords, busy: false, said})
  const show = (name) => {
    view = name
    root.dataset.view = name
    edit.inert = name !== "edit"
    step.hidden = name !== "step"
    state()
    if (name === "edit") editor?.view.requestMeasure()
  }

  const said = () => {
    told.replaceChildren(...(model.error ? [severity("error"), h("span", {}, model.error)] : [severity("ok"), h("span", {}, "It compiles.")]))
    told.classList.toggle("wrong", Boolean(model.error))
    editor?.mark(model.diagnostics)
    inputs.show()
    if (model.error && view === "step" && given) show("edit") // what is wrong stands in the source or beside it
  }

  let recorded = null
  const moved = ({detail}) => {
    const {run: recording} = detail.moment
    if (!step.contains(detail.root) && !detail.root.isConnected) return
    if (recording === recorded) return
    recorded = recording
    adapter = recording.head.adapter.split(" (")[0]
    adapterWords = recording.head.adapter
    state()
    outputs.hidden = !recording.outputs.length
    const same = {true: "The kernel without recording leaves the same.", false: "The kernel without recording leaves other numbers: the order of its threads matters."}[recording.head.same_as_plain]
      ?? "The kernel was not run without recording: it is not safe to."
    outputs.replaceChildren(h("div", {class: "ph"}, h("h2", {}, "Outputs"), h("span", {class: "dim"}, "of the last run")), h("p", {class: "hint"}, same), ...recording.outputs.map(output))
  }

  const share = async () => {
    const address = await link(draft(), +(root.querySelector("[data-testid=stepper]") ?? deep(step))?.dataset.step || 0)
    if (!address) return state("Too long for a link")
    try {
      await navigator.clipboard.writeText(address)
      state("Copied")
    } catch {
      history.replaceState(history.state, "", address)
      state("It is in the address")
    }
  }
  const events = {view: ({detail}) => show(detail), run, share, ask: () => state()}
  for (const [name, act] of Object.entries(events)) window.addEventListener(`splatscope:debug-${name}`, act)
  window.addEventListener("splatscope:moment", moved)
  const onKey = (event) => {
    if (document.querySelector("dialog[open]")) return
    if ((event.ctrlKey || event.metaKey) && event.key === "Enter") { event.preventDefault(); run() }
    if (event.key.toLowerCase() !== "e" || event.ctrlKey || event.metaKey || event.altKey || typing(event)) return
    event.preventDefault()
    show(view === "edit" ? "step" : "edit")
    if (view === "edit") editor.view.focus()
  }
  window.addEventListener("keydown", onKey)

  model.on("opened", () => queueMicrotask(() => { if (editor) put(model.opened) }))
  model.on("checked", () => queueMicrotask(said))
  document.querySelector(".app").classList.add("rail")
  model.on("remove", () => {
    for (const [name, act] of Object.entries(events)) window.removeEventListener(`splatscope:debug-${name}`, act)
    window.removeEventListener("splatscope:moment", moved)
    window.removeEventListener("keydown", onKey)
    document.querySelector(".app").classList.remove("rail")
    clearTimeout(timer)
    editor?.view.destroy()
  })

  const begin = async () => {
    editor = makeEditor(holder, el.getRootNode(), changed, run)
    show("step")
    const before = await kept()
    if (!before?.source) return model.send_msg({type: "open", example: ""})
    put(before)
    model.send_msg({type: "run", ...before})
  }
  queueMicrotask(begin)
  return root
}

// The stepper's root, within its own shadow tree.
const deep = (holder) => holder.firstElementChild?.shadowRoot?.querySelector("[data-testid=stepper]")

function output({name, words, stride, parts, data}) {
  const numbers = []
  const wide = parts.length
  for (let at = 0; at < data.length && numbers.length < SHOWN; at += stride) {
    for (const [, scalar, offset] of parts) if (offset % 4 === 0) numbers.push(text(number(data, at + offset / 4, scalar), scalar))
  }
  const count = Math.floor(words / stride)
  return h("div", {class: "out", "data-buffer": name}, h("p", {}, h("code", {}, name), h("span", {class: "dim"}, `${count.toLocaleString("en")} element${count > 1 ? "s" : ""}`)),
    h("p", {class: "mono"}, numbers.join(wide > 1 ? "  " : " ") + (count * wide > numbers.length ? " …" : "")))
}
