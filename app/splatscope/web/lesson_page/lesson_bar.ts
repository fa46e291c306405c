// A lesson's part of the top bar: the device that recorded the figure, the device of the shipped recording, the link to the
// debugger. It also writes the lesson's inputs to the address.
import {h, style} from "#web/runtime/dom.ts"
import {current, setInputs} from "#web/runtime/router.ts"
import {icon} from "#web/stepper/panes/icons.ts"
import type {Render} from "#web/types.ts"

const READING = 6000 // ms for which the note is shown
const DEBUG = "Debug: open in the debugger" // it contains what is seen, in wide and in narrow windows

export function render({model, el}: Render<"LessonBar">) {
  style(el)
  const page = current().page
  const badge = (recorded: boolean, id: string) => {
    const made = h("button", {class: recorded ? "adapter rec" : "adapter", type: "button", "data-testid": id, hidden: true})
    made.addEventListener("click", () => {
      if (recorded || model.recorded) model.send_msg({type: "recorded", recorded: recorded && !model.recorded})
    })
    return made
  }
  const here = badge(false, "adapter")
  const elsewhere = badge(true, "elsewhere")
  const link = h(
    "a",
    {class: "btn", hidden: true, "aria-label": DEBUG},
    h("span", {class: "wide"}, "Debugger"),
    h("span", {class: "narrow", "aria-hidden": "true"}, h("span", {}, "Debug"), icon("bug")),
  )
  const note = h("span", {class: "told", role: "status"}) // below the bar, for a while: why inputs were reset
  let fades: ReturnType<typeof setTimeout> | undefined
  let shipped = "" // the other device, remembered while other inputs are shown
  const label = h("span", {class: "dim roomy"}, "Recorded on")
  const show = () => {
    shipped = model.elsewhere || shipped
    const kind = model.software ? h("span", {class: "soft"}, " in software") : ""
    here.replaceChildren(h("span", {}, model.adapter || "This device"), kind)
    here.hidden = !model.adapter && !model.elsewhere
    elsewhere.replaceChildren(shipped.split(" ").at(-1) ?? "") // without the maker's name, which the title has
    elsewhere.hidden = !shipped
    label.hidden = here.hidden && elsewhere.hidden
    elsewhere.disabled = !model.elsewhere
    here.title = model.software
      ? `${model.adapter}: a program on this machine's processor that takes the place of a graphics card`
      : "This device"
    const words = model.recorded ? `${shipped}: only with the page's initial inputs` : ""
    if (note.textContent !== words) {
      note.textContent = words
      note.classList.remove("gone")
      clearTimeout(fades)
      fades = setTimeout(() => note.classList.add("gone"), READING)
    }
    elsewhere.title = model.elsewhere
      ? `The page's initial inputs, recorded on an ${shipped}`
      : `Only the page's initial inputs were recorded on an ${shipped}`
    here.disabled = !model.elsewhere
    here.setAttribute("aria-pressed", String(!model.recorded))
    elsewhere.setAttribute("aria-pressed", String(model.recorded))
    link.hidden = !model.debugger
    if (model.debugger) link.href = model.debugger
    setInputs(page, model.address)
  }
  show()
  for (const name of ["address", "debugger", "adapter", "software", "elsewhere", "recorded"])
    model.on(name, () => queueMicrotask(show))
  const devices = h("div", {class: "devices", role: "group", "aria-label": "Recorded on"}, here, elsewhere)
  return h("div", {class: "lessonbar"}, label, devices, note, link)
}
