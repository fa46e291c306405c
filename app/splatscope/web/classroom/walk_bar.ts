// The strip above the pages of a walk: the current stop, the ways on and back, and how many follow.
import {h, style} from "#web/runtime/dom.ts"
import {enlarge} from "#web/runtime/enlarge.ts"
import {addKeys, setWalkKeys} from "#web/runtime/keys.ts"
import {UNNAMED} from "#web/runtime/address.ts"
import {on as hear} from "#web/runtime/events.ts"
import {current, isSection, setGuide, titleOf} from "#web/runtime/router.ts"
import {icon} from "#web/stepper/panes/icons.ts"
import {Guide, randomName} from "./guide.ts"
import {attendance} from "./attendance.ts"
import {more} from "./more.ts"
import {headsText, notes, stopAloud} from "./notes.ts"
import {classDialog} from "./students.ts"
import {kindOf} from "./view.ts"
import {typeSize} from "./type_size.ts"
import type {Render} from "#web/types.ts"

// pages that are not stops, by name
const BESIDE: Record<string, string> = {exercises: "Exercises", debugger: "Debugger", train: "Train"}
const AT_STOP = "walk-stop" // id of what describes the strip: the stop, in words
const ASKS = 6000 // ms within which “Stop presenting” must be pressed again

export function render({model, el}: Render<"WalkBar">) {
  style(el)
  const root = h("section", {class: "walk", "data-testid": "walk", tabindex: "-1", "aria-label": `Walk: ${model.title}`})
  let paint = () => {}
  const guide = new Guide(model, () => paint())
  setGuide(guide)
  paint = model.window === "notes" ? notes(root, guide) : bar(root, guide)
  for (const name of ["notes", "link", "unreachable"]) model.on(name, () => queueMicrotask(paint))
  guide.start()
  if (model.window === "page" && guide.own) requestAnimationFrame(() => takeFocus(root))
  return root
}

/** Begin a walk at its strip, unless the focus is somewhere already: the link that led here was on another document. */
function takeFocus(root: HTMLElement) {
  if (document.activeElement === document.body) root.focus({preventScroll: true})
}

/** Fill the strip. Returns the function that repaints it. */
function bar(root: HTMLElement, guide: Guide) {
  const {model, stops} = guide
  const turn = (step: 1 | -1) => {
    pressed = step
    guide.turn(step)
  }
  const back = arrow("back", "Previous stop", "PageUp", () => turn(-1))
  const on = arrow("on", "Next stop", "PageDown", () => turn(1))
  let pressed = 0 // the arrow that was pressed, as a step, until its stop is there
  guide.refocus = () => {
    const [arrow, other] = pressed > 0 ? [on, back] : [back, on]
    if (pressed) (arrow.disabled ? other : arrow).focus({preventScroll: true})
    pressed = 0
  }
  // as the link to the content above it: shown while it has the focus, one Tab from the arrow
  const there = h("button", {type: "button", class: "btn there", onclick: () => guide.land()})
  const beside = h(
    "optgroup",
    {label: "Outside the walk"},
    ...Object.entries(BESIDE).map(([page, words]) => h("option", {value: page}, words)),
  )
  let byKey = false // whether the list was last used with the keyboard, whose arrows choose stop after stop
  const list = h(
    "select",
    {
      "aria-label": "Stop of the walk",
      onchange: () => {
        if (list.value in BESIDE) guide.go(guide.stop, {page: list.value, step: UNNAMED, inputs: ""})
        else guide.go(+list.value)
        if (!byKey) root.focus({preventScroll: true}) // arrow keys step the figure again
      },
      onkeydown: () => {
        byKey = true
      },
      onpointerdown: () => {
        byKey = false
      },
    },
    ...stops.map((stop, i) => h("option", {value: i}, `${i + 1}. ${stop.title}`)),
    beside,
  )
  const count = h("span", {class: "dim num count"})
  const state = h("p", {class: "state", role: "status"})
  const type = typeSize()
  const classLink = classDialog(model)
  const students = button("Link for students", () => classLink.dialog.showModal())
  const heads = h("summary", {class: "dim num wide", title: "Who is where"})
  const people = attendance((page, question) => guide.revealed.has(`${page} ${question}`))
  const inside = h("details", {class: "people"}, heads, people.el)
  addKeys({
    active: () => inside.open,
    keys: {
      Escape: () => {
        inside.open = false
      },
    },
  })
  const second = button("Notes", () =>
    model.code ? open(notesAddress(), "splatscope-notes", "popup,width=680,height=820") : unfold(),
  )
  const teach = button("Present to a class", () => location.assign(`?walk=${model.walk}&key=${randomName()}&stop=${guide.stop}`))
  const resumeWide = h("span", {class: "wide"})
  const resume = button("", () => guide.resume())
  resume.append(resumeWide, h("span", {class: "narrow"}, "Resume presenting"))
  const rejoin = h(
    "button",
    {type: "button", class: "btn pri", onclick: () => guide.rejoin()},
    "Rejoin",
    h("span", {class: "wide"}, "the presenter"),
  )
  const [leaveWide, leaveNarrow] = [h("span", {class: "wide"}), h("span", {class: "narrow"})]
  const leave = h("a", {class: "btn quiet", onclick: (event: Event) => askFirst(event)}, leaveWide, leaveNarrow)
  let asked = false // whether the presenter was asked to confirm leaving a class
  const askFirst = (event: Event) => {
    if (guide.role !== "present") return
    if (asked || !guide.heads.follow) return guide.end()
    event.preventDefault()
    asked = true
    paintLeave()
    setTimeout(() => {
      asked = false
      paintLeave()
    }, ASKS)
  }
  const paintLeave = () => {
    const present = guide.role === "present"
    leaveWide.textContent = asked
      ? `Press again to stop: ${headsText(guide.heads)}`
      : present
        ? "Stop presenting"
        : "Leave the walk"
    leaveNarrow.textContent = asked ? "Press again" : present ? "Stop" : "Leave"
  }
  const said = h("div", {class: "said prose"})
  const first = h("p", {class: "sr", id: AT_STOP, "data-testid": "walk-first"}) // the stop that the strip opens at describes it
  const heard = h("p", {class: "sr", role: "status", "data-testid": "walk-heard"}) // those after it are announced
  let at = "" // the stop, in words
  let opened = false // whether the first one is told
  root.setAttribute("aria-describedby", AT_STOP)
  const rest = more([resume, inside, students, second, teach, type.el, leave], [type.el, leave])
  const unfold = (shown = said.hidden) => {
    said.hidden = !shown
    second.setAttribute("aria-expanded", String(shown))
    keepClear()
  }
  /** Publish the strip's height, so that what is scrolled to ends up below it. */
  const keepClear = () => {
    if (root.offsetHeight) document.documentElement.style.setProperty("--strip", `${root.offsetHeight}px`)
  }
  new ResizeObserver(keepClear).observe(root)
  unfold(true)
  const notesAddress = () => `?walk=${model.walk}&class=${model.code}&notes=1&stop=${guide.stop}`
  root.replaceChildren(
    h("div", {class: "strip-row"}, back, on, there, list, count, state, rejoin, h("span", {class: "sp"}), rest.button, rest.box),
    said,
    first,
    heard,
    classLink.dialog,
  )

  hear("page", () => queueMicrotask(paint)) // outside the walk, or back
  const paint = () => {
    const {role, stop, led, last, own} = guide
    const present = role === "present"
    const {page} = stops[stop]
    Object.assign(root.dataset, {role, stop: String(stop), follows: String(led)})
    document.documentElement.dataset.walk = role
    for (const part of [back, on, list, count, second, type.el, rest.button]) part.hidden = !own
    back.disabled = stop === 0 && !guide.isBeside
    on.disabled = stop === stops.length - 1 && !guide.isBeside
    for (const option of beside.children) option.toggleAttribute("hidden", !titleOf((option as HTMLOptionElement).value))
    beside.hidden = !Object.keys(BESIDE).some(titleOf) // a published book may omit them
    list.value = guide.isBeside && current().page in BESIDE ? current().page : String(stop)
    const shows = guide.isBeside ? "" : kindOf(stops[stop].show)
    there.hidden = !own || !shows
    there.textContent = `To the ${shows.toLowerCase()}`
    count.replaceChildren(h("span", {class: "narrow"}, guide.isBeside ? "" : `${stop + 1} `), `of ${stops.length}`)
    state.hidden = own
    state.classList.toggle("led", led && guide.present)
    state.textContent = stateText(guide)
    rejoin.hidden = own || led || guide.ended
    resume.hidden = present || !guide.presented
    resumeWide.textContent = own ? "Resume your last class" : "Resume presenting this class"
    students.hidden = inside.hidden = !present
    guide.see()
    people.paint(guide.attended, stops[stop].show)
    inside.classList.toggle("low", /^(quiz|claim)-/.test(stops[stop].show)) // the class discusses what is at the top of the page
    heads.textContent = [headsText(guide.heads), answersText(guide)].filter(Boolean).join(", ")
    teach.hidden = present || !own || !model.teaches
    paintLeave()
    leave.href = present ? guide.aloneAddress : `${location.pathname}?page=${own ? page : (last.page ?? page)}`
    said.innerHTML = present ? "" : (model.notes[stop] ?? "")
    const words = own && !guide.isBeside ? stopAloud(`Stop ${stop + 1} of ${stops.length}`, stops[stop].title, said) : ""
    if (at !== words) {
      at = words
      if (opened) {
        root.removeAttribute("aria-describedby")
        first.textContent = ""
      }
      const told = opened ? heard : first
      told.textContent = words
      opened ||= words !== ""
    }
    keepClear()
    type.set(present, isSection(current().page))
    enlarge(present)
    setWalkKeys(own ? [["PageDown PageUp", "To the next or the previous stop of the walk"]] : [])
    classLink.paint()
  }
  return paint
}

const button = (label: string, act: () => void) => h("button", {type: "button", class: "btn", onclick: act}, label)

/** @param name  name of the icon */
function arrow(name: "back" | "on", label: string, key: string, act: () => void) {
  const words = {"aria-label": label, title: `${label} (${key})`, "aria-description": "", "aria-keyshortcuts": key}
  return h("button", {type: "button", class: "btn icon", ...words, onclick: act}, icon(name))
}

/** How many have answered the question that the stop shows, or bet on its claim; "" for none. */
function answersText({attended, stops, stop, isBeside}: Guide) {
  const {page, show} = stops[stop]
  const question = attended.find((one) => one.page === page)?.questions.find(({name}) => name === show)
  return isBeside || !question?.answered ? "" : `${question.answered} ${question.bet ? "bet" : "answered"}`
}

/** The status line of a student or a lone reader. */
function stateText({led, last, stops, present, ended, back, without}: Guide) {
  if (ended) return "The class has ended"
  if (!last.page && !present) return "No class with this code is running. Check the address."
  const away = !present
  if (!led) return away ? "On your own. The presenter is away" : "On your own"
  if (away) return "The presenter is away"
  if (without) return `The presenter is in the debugger with a kernel that you cannot open; you are at “${titleOf(current().page)}”`
  if (back) return "The presenter is back"
  if (!last.page) return "Waiting for the presenter"
  const stop = stops[last.stop ?? 0]
  return `With the presenter: ${stop.page === last.page ? stop.title : titleOf(last.page)}`
}
