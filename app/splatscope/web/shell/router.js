// The address is the state: ?page=NAME&step=N and a page's inputs behind them. Pages are pushed, steps replaced, Back and Forward followed.
import {startDrawer} from "./drawer.js"
import {startKeys} from "./keys.js"
import {startProgress} from "./progress.js"
import {startTheme} from "#web/theme/theme.js"

const PACE = 200 // ms between two writes of the step: browsers allow some 200 in 30 s, Python wants at most 5 a second
let tell = () => {}
let entries = new Map()
let shown = parse(location.search)
let guide = null // of a walk: who chooses where this reader is, and what of it the address says
let timer = null
const lost = document.getElementById("lost") // the line that says the server is away
let moving = false // between leaving a page and the next one's arrival

// The page, step and inputs that are shown, or asked for and on their way.
export const read = () => shown

function parse(search) {
  const query = new URLSearchParams(search)
  const step = Number(query.get("step"))
  const page = query.get("page") || "home"
  for (const name of ["page", "step", "walk", "class", "key", "stop", "notes"]) query.delete(name)
  return {page, step: Number.isInteger(step) && step > 0 ? step : 0, inputs: query.toString()}
}

export function address({page, step, inputs} = shown) {
  const place = `?page=${encodeURIComponent(page)}${step ? `&step=${step}` : ""}${inputs ? `&${inputs}` : ""}`
  return guide ? guide.address(place) : place
}

// To a page, as a click on its link does; what the link holds after `#` the page reads from the address.
export function go(page, step = 0, hash = "", inputs = "") {
  if (page === shown.page && step === shown.step && inputs === shown.inputs && !hash) return scrollTo(0, 0)
  guide?.leave()
  travel({page, step, inputs}, hash)
}

// There, in the history too.
export function travel(next, hash = "") {
  flush()
  keepScroll()
  history.pushState(null, "", address(next) + hash)
  follow(next)
}

// Where somebody else leads: the history knows nothing of it, and Python only of what it has to send.
export function led(next) {
  if (next.page !== shown.page || next.inputs !== shown.inputs) return follow(next)
  shown = next
  window.dispatchEvent(new CustomEvent("splatscope:step", {detail: next.step}))
}

// Who leads through a walk: {led, holds, address, leave, nudged, moved, arrived, popped, press}.
export function setGuide(next) {
  guide = next
}

export const following = () => guide?.led ?? false

// How often → is to be pressed once a recording is there; -1: not at all, the address says where.
export const toPress = () => guide?.press ?? -1

// The primary stepper reports its step; the address and Python hear of it a few times a second, and of the last.
export function setStep(step) {
  if (step === shown.step || guide?.holds) return
  shown = {...shown, step}
  guide?.nudged()
  timer ??= setTimeout(flush, PACE)
}

// The page's inputs as they stand in the address, `count=16&seed=2`: another set takes the place of the last.
export function setInputs(page, inputs) {
  if (page !== shown.page || inputs === shown.inputs || guide?.holds) return
  shown = {...shown, inputs}
  guide?.nudged()
  timer ??= setTimeout(flush, PACE)
}

function flush() {
  if (timer === null) return
  clearTimeout(timer)
  timer = null
  history.replaceState(history.state, "", address(shown))
  tell(shown, false)
}

function follow(next) {
  const other = next.page !== shown.page
  shown = next
  tell(next, true)
  if (!other) return window.dispatchEvent(new CustomEvent("splatscope:step", {detail: next.step}))
  moving = true
  document.getElementById("content").setAttribute("aria-busy", "true")
  mark(next.page)
  window.dispatchEvent(new CustomEvent("splatscope:page", {detail: next}))
}

// Title, crumb and sidebar say where we are before the page itself is there.
function mark(page) {
  const known = entries.get(page)
  const entry = known ?? entries.get("home")
  const tool = !entry.group || entry.group === "Tools"
  document.title = entry.name === "home" ? "Splatscope" : `${entry.title} · Splatscope`
  const crumb = document.getElementById("crumb")
  crumb.replaceChildren(Object.assign(document.createElement("b"), {textContent: entry.title}))
  if (!tool)
    crumb.prepend(Object.assign(document.createElement("span"), {className: "wide", textContent: `${entry.group}\u2002/\u2002`}))
  document.getElementById("about").textContent = tool ? entry.description : ""
  for (const el of document.querySelectorAll(".nav a")) {
    if (parse(el.search).page === entry.name) el.setAttribute("aria-current", "page")
    else el.removeAttribute("aria-current")
  }
}

// Called by a page once it stands in the document, with what was sought on it, if anything.
export function arrived(sought = null) {
  const content = document.getElementById("content")
  content.removeAttribute("aria-busy")
  if (moving) content.focus({preventScroll: true}) // a screen reader goes on there, Tab too
  moving = false
  scrollTo(0, history.state?.scroll ?? 0)
  sought?.classList.add("sought")
  if (sought && history.state?.scroll === undefined) sought.scrollIntoView({block: "center"})
  guide?.arrived()
}

// Where an entry was scrolled to is kept in it, for Back, Forward and reload.
const keepScroll = () => {
  if (!moving) history.replaceState({...history.state, scroll: scrollY}, "")
}

function onClick(event) {
  if (
    !lost.hidden ||
    event.defaultPrevented ||
    event.button !== 0 ||
    event.metaKey ||
    event.ctrlKey ||
    event.shiftKey ||
    event.altKey
  )
    return
  const link = event.composedPath().find((el) => el instanceof HTMLAnchorElement)
  if (!link || link.target || link.hasAttribute("download") || !link.getAttribute("href")?.startsWith("?page=")) return
  event.preventDefault()
  const {page, step, inputs} = parse(link.search)
  go(page, step, link.hash, inputs)
}

function start(model, connection) {
  entries = new Map(model.entries.map((entry) => [entry.name, entry]))
  if (model.begin.page) shown = model.begin
  tell = ({page, step, inputs}, followed) => {
    model.send_msg({type: "go", page, step, inputs: Object.fromEntries(new URLSearchParams(inputs)), followed})
    guide?.moved()
  }
  history.scrollRestoration = "manual"
  document.addEventListener("click", onClick)
  window.addEventListener("popstate", () => {
    if (!lost.hidden) return location.reload()
    clearTimeout(timer)
    timer = null
    if (!guide?.popped()) follow(parse(location.search))
  })
  let resting = null
  window.addEventListener(
    "scroll",
    () => {
      clearTimeout(resting)
      resting = setTimeout(keepScroll, PACE)
    },
    {passive: true},
  )

  // no attempt to take the session up again: Bokeh's loses binary parameters; until a reload, links load anew
  connection.on_event("connection_lost", () => {
    lost.hidden = false
  })
  startTheme()
  startKeys()
  startDrawer()
  startProgress(model.entries)
}

let started = false

export function render({model, view}) {
  if (!started) {
    started = true
    start(model, view.model.document)
  }
  const strip = document.getElementById("walk"),
    walk = model.get_child("walk")
  if (walk && !strip.childElementCount) strip.append(walk)
  return model.get_child("view")
}
