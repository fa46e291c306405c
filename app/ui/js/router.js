// The address is the state: ?page=NAME&step=N and a page's inputs behind them. Pages are pushed, steps replaced, Back and Forward followed.
import {startDrawer} from "./drawer.js"
import {startKeys} from "./keys.js"
import {startProgress} from "./progress.js"
import {startTheme} from "./theme.js"

const PACE = 200 // ms between two writes of the step: browsers allow some 200 in 30 s, Python wants at most 5 a second
let tell = () => {}
let entries = new Map()
let shown = read()
let timer = null
const lost = document.getElementById("lost") // the line that says the server is away
let moving = false // between leaving a page and the next one's arrival

export function read(search = location.search) {
  const query = new URLSearchParams(search)
  const step = Number(query.get("step"))
  const page = query.get("page") || "home"
  query.delete("page")
  query.delete("step")
  return {page, step: Number.isInteger(step) && step > 0 ? step : 0, inputs: query.toString()}
}

export const address = ({page, step, inputs}) => `?page=${encodeURIComponent(page)}${step ? `&step=${step}` : ""}${inputs ? `&${inputs}` : ""}`

// To a page, as a click on its link does; what the link holds after `#` the page reads from the address.
export function go(page, step = 0, hash = "", inputs = "") {
  flush()
  if (page === shown.page && step === shown.step && inputs === shown.inputs && !hash) return scrollTo(0, 0)
  keepScroll()
  history.pushState(null, "", address({page, step, inputs}) + hash)
  follow({page, step, inputs})
}

// The primary stepper reports its step; the address and Python hear of it a few times a second, and of the last.
export function setStep(step) {
  if (step === shown.step) return
  shown = {...shown, step}
  timer ??= setTimeout(flush, PACE)
}

// The page's inputs as they stand in the address, `count=16&seed=2`: another set takes the place of the last.
export function setInputs(page, inputs) {
  if (page !== shown.page || inputs === shown.inputs) return
  shown = {...shown, inputs}
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
  if (!tool) crumb.prepend(Object.assign(document.createElement("span"), {className: "wide", textContent: `${entry.group}\u2002/\u2002`}))
  document.getElementById("about").textContent = tool ? entry.description : ""
  for (const el of document.querySelectorAll(".nav a, .nav .later")) {
    const name = el.dataset.name ?? read(el.search).page
    if (name === entry.name) el.setAttribute("aria-current", "page")
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
}

// Where an entry was scrolled to is kept in it, for Back, Forward and reload.
const keepScroll = () => { if (!moving) history.replaceState({...history.state, scroll: scrollY}, "") }

function onClick(event) {
  if (!lost.hidden || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  const link = event.composedPath().find((el) => el instanceof HTMLAnchorElement)
  if (!link || link.target || link.hasAttribute("download") || !link.getAttribute("href")?.startsWith("?page=")) return
  event.preventDefault()
  const {page, step, inputs} = read(link.search)
  go(page, step, link.hash, inputs)
}

function start(model, connection) {
  entries = new Map(model.entries.map((entry) => [entry.name, entry]))
  tell = ({page, step, inputs}, followed) => model.send_msg({type: "go", page, step, inputs: Object.fromEntries(new URLSearchParams(inputs)), followed})
  history.scrollRestoration = "manual"
  document.addEventListener("click", onClick)
  window.addEventListener("popstate", () => {
    if (!lost.hidden) return location.reload()
    clearTimeout(timer)
    timer = null
    follow(read())
  })
  let resting = null
  window.addEventListener("scroll", () => { clearTimeout(resting); resting = setTimeout(keepScroll, PACE) }, {passive: true})

  // no attempt to take the session up again: Bokeh's loses binary parameters; until a reload, links load anew
  connection.on_event("connection_lost", () => { lost.hidden = false })
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
  return model.get_child("view")
}
