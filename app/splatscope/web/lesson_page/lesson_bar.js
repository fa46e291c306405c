// In the top bar: the device it ran on, another of which a recording ships, the way to the debugger. In the address: the lesson's inputs.
import {h, style} from "#web/shell/dom.js"
import {current, setInputs} from "#web/shell/router.js"

/** @import {Render} from "#web/types.d.ts" */

/**
 * @typedef {object} Parameters
 * @property {string} address  the lesson's inputs as they stand in the address
 * @property {string} debugger  address of its kernel in the debugger, "" for none
 * @property {string} adapter  the device that recorded what is shown, "" for none yet
 * @property {string} elsewhere  the device whose recording ships with the lesson, "" for none
 * @property {boolean} recorded  whether that recording is shown
 */

const SOFTWARE = /llvmpipe|lavapipe|swiftshader|basic render/i // as gpu/device.py has it

/** @param {Render<Parameters>} component */
export function render({model, el}) {
  style(el)
  const page = current().page
  const badge = (/** @type {boolean} */ recorded, /** @type {string} */ id) => {
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
    {class: "btn", hidden: true, "aria-label": "Open in the debugger", title: "Open in the debugger"},
    h("span", {class: "roomy"}, "Open in the debugger"),
    h("span", {class: "tight wide"}, "Debugger"),
    h("span", {class: "narrow", "aria-hidden": "true"}, "{ }"),
  )
  const note = h("span", {class: "dim roomy", role: "status"}) // why inputs go back, or the other device is not offered
  let shipped = "" // the other device, also while other inputs than the first are shown
  const label = h("span", {class: "dim roomy"}, "Recorded on")
  const show = () => {
    shipped = model.elsewhere || shipped
    const soft = SOFTWARE.test(model.adapter)
    const kind = soft ? h("span", {class: "soft"}, " in software") : ""
    here.replaceChildren(h("span", {}, model.adapter || "This device"), kind)
    here.hidden = !model.adapter && !model.elsewhere
    elsewhere.replaceChildren(h("span", {class: "roomy"}, shipped), h("span", {class: "tight"}, shipped.split(" ").at(-1) ?? ""))
    elsewhere.hidden = !shipped
    label.hidden = here.hidden && elsewhere.hidden
    elsewhere.disabled = !model.elsewhere
    here.title = soft
      ? `${model.adapter}: no graphics card, but a program that stands in for one on this machine's processor`
      : "This device"
    note.textContent = shipped && (model.recorded || !model.elsewhere) ? `${shipped}: this page's first inputs only` : ""
    elsewhere.title = model.elsewhere
      ? `This page's first inputs, recorded on an ${shipped}`
      : `On an ${shipped} only this page's first inputs were recorded`
    here.disabled = !model.elsewhere
    here.setAttribute("aria-pressed", String(!model.recorded))
    elsewhere.setAttribute("aria-pressed", String(model.recorded))
    link.hidden = !model.debugger
    if (model.debugger) link.href = model.debugger
    setInputs(page, model.address)
  }
  show()
  for (const name of ["address", "debugger", "adapter", "elsewhere", "recorded"]) model.on(name, () => queueMicrotask(show))
  const devices = h("div", {class: "devices", role: "group", "aria-label": "Recorded on"}, here, elsewhere)
  return h("div", {class: "lessonbar"}, label, devices, note, link)
}
