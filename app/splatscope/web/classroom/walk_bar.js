// The strip above the pages of a walk: where it stands, the ways on and back, and who follows.
import {h, style} from "#web/shell/dom.js"
import {setWalkKeys} from "#web/shell/keys.js"
import {setGuide} from "#web/shell/router.js"
import {icon} from "#web/stepper/panes/icons.js"
import {Guide} from "./guide.js"
import {attendance} from "./attendance.js"
import {headsText, notes} from "./notes.js"
import {classDialog} from "./students.js"
import {typeSize} from "./type_size.js"

/** @import {Render} from "#web/types.d.ts" */
/** @import {WalkParameters} from "./guide.js" */

/** @param {Render<WalkParameters>} component */
export function render({model, el}) {
  style(el)
  const root = h("section", {class: "walk", "data-testid": "walk", "aria-label": `Walk: ${model.title}`})
  let paint = () => {}
  const guide = new Guide(model, () => paint())
  setGuide(guide)
  paint = model.window === "notes" ? notes(root, guide) : bar(root, guide)
  for (const name of ["notes", "link"]) model.on(name, () => queueMicrotask(paint))
  guide.start()
  return root
}

/**
 * Fill the strip; returns what paints it.
 * @param {HTMLElement} root
 * @param {Guide} guide
 */
function bar(root, guide) {
  const {model, stops} = guide
  const back = arrow(guide, "back", "Previous stop", -1)
  const on = arrow(guide, "on", "Next stop", 1)
  const list = h(
    "select",
    {
      "aria-label": "Stop of the walk",
      onchange: () => {
        guide.go(+list.value)
        list.blur()
      },
    },
    ...stops.map((stop, i) => h("option", {value: i}, `${i + 1}. ${stop.title}`)),
  )
  const count = h("span", {class: "dim num wide"})
  const state = h("p", {class: "state", role: "status"})
  const type = typeSize()
  const classLink = classDialog(model)
  const students = button("Link for students", () => classLink.dialog.showModal())
  const heads = h("summary", {class: "dim num wide", title: "Who is where"})
  const people = attendance()
  const inside = h("details", {class: "people"}, heads, people.el)
  const second = button("Notes", () =>
    model.code ? open(notesAddress(), "splatscope-notes", "popup,width=680,height=820") : unfold(),
  )
  const teach = button("Present to a class", () => location.assign(`?walk=${model.walk}&key=${newKey()}&stop=${guide.stop}`))
  const resume = button("You presented this class: go on", () =>
    location.assign(`?walk=${model.walk}&key=${encodeURIComponent(guide.presented)}`),
  )
  const rejoin = h(
    "button",
    {type: "button", class: "btn pri", onclick: () => guide.rejoin()},
    "Rejoin",
    h("span", {class: "wide"}, "the presenter"),
  )
  const leave = h("a", {class: "btn quiet"}, h("span", {class: "wide"}, "Leave the walk"), h("span", {class: "narrow"}, "Leave"))
  const said = h("div", {class: "said prose"})
  const unfold = (shown = said.hidden) => {
    said.hidden = !shown
    second.setAttribute("aria-expanded", String(shown))
    keepClear()
  }
  /** What is brought into view, and what stands at the top of a page, is below the strip with its notes. */
  const keepClear = () => {
    if (root.offsetHeight) document.documentElement.style.setProperty("--strip", `${root.offsetHeight}px`)
  }
  new ResizeObserver(keepClear).observe(root)
  unfold(!model.teaches)
  const notesAddress = () => `?walk=${model.walk}&class=${model.code}&notes=1&stop=${guide.stop}`
  root.replaceChildren(
    h(
      "div",
      {class: "strip-row"},
      back,
      on,
      list,
      count,
      state,
      rejoin,
      resume,
      h("span", {class: "sp"}),
      inside,
      students,
      second,
      teach,
      type.el,
      leave,
    ),
    said,
    classLink.dialog,
  )

  return () => {
    const {role, stop, led, last, own} = guide
    const present = role === "present"
    const {page} = stops[stop]
    Object.assign(root.dataset, {role, stop: String(stop), follows: String(led)})
    document.documentElement.dataset.walk = role
    for (const part of [back, on, list, count, second, type.el]) part.hidden = !own
    back.disabled = stop === 0
    on.disabled = stop === stops.length - 1
    list.value = String(stop)
    count.textContent = `of ${stops.length}`
    state.hidden = own
    state.classList.toggle("led", led)
    state.textContent = stateText(guide)
    rejoin.hidden = own || led
    resume.hidden = own || !guide.presented
    students.hidden = inside.hidden = !present
    people.paint(guide.attended)
    heads.textContent = headsText(guide.heads)
    teach.hidden = present || !own || !model.teaches
    leave.href = `${location.pathname}?page=${own ? page : (last.page ?? page)}`
    said.innerHTML = present ? "" : (model.notes[stop] ?? "")
    keepClear()
    type.set(present)
    setWalkKeys(own ? [["PageDown PageUp", "To the next stop of the walk, or to the one before"]] : [])
    classLink.paint()
  }
}

/**
 * @param {string} label
 * @param {() => void} act
 */
const button = (label, act) => h("button", {type: "button", class: "btn", onclick: act}, label)

/**
 * @param {Guide} guide
 * @param {"back" | "on"} name  of the icon
 * @param {string} label
 * @param {1 | -1} step
 */
function arrow(guide, name, label, step) {
  const attributes = {
    type: "button",
    class: "btn icon",
    "aria-label": label,
    title: `${label} (${step > 0 ? "PageDown" : "PageUp"})`,
    onclick: () => guide.go(guide.stop + step),
  }
  return h("button", attributes, icon(name))
}

/**
 * What a student is doing.
 * @param {Guide} guide
 */
function stateText({led, last, stops}) {
  if (!led) return "On your own"
  return last.page ? `With the presenter: ${stops[last.stop ?? 0].title}` : "Waiting for the presenter"
}

/** A key that nobody guesses. */
const newKey = () => [...crypto.getRandomValues(new Uint8Array(20))].map((byte) => (byte % 36).toString(36)).join("")
