// The address is the state: ?page=NAME&step=N and a page's inputs behind them. Pages are pushed, steps replaced, Back and Forward followed.
import {startTheme} from "#web/theme/theme.js"
import {UNNAMED, format, parse} from "./address.js"
import {startDrawer} from "./drawer.js"
import {h, within} from "./dom.js"
import {emit} from "./events.js"
import {startKeys} from "./keys.js"
import {startProgress} from "./progress.js"
import {beginSession} from "./session.js"

/**
 * @import {Model, Render} from "#web/types.d.ts"
 * @import {Place} from "./address.js"
 */

/**
 * A page as the table of contents has it.
 * @typedef {object} Entry
 * @property {string} name
 * @property {string} title
 * @property {string} group
 * @property {string} description
 * @property {boolean} section
 */

/**
 * Who leads through a walk, and decides with the router where this reader is.
 * @typedef {object} Guide
 * @property {boolean} led  somebody else chooses page, step and inputs
 * @property {boolean} joined  the class has said where it is, or there is none
 * @property {boolean} holds  led, and what moves was not moved by this reader
 * @property {number} press  how often → is to be pressed once a recording is there; -1: not at all
 * @property {(place: string) => string} address  the whole query, from that of a place
 * @property {() => void} leave  the reader goes to a place of their own
 * @property {() => void} nudged  step or inputs have changed
 * @property {() => void} moved  Python was told of a place
 * @property {() => void} arrived  the page asked for stands in the document
 * @property {() => boolean} popped  Back or Forward was pressed; true where the guide acts on it
 */

/**
 * @typedef {object} RouterParameters
 * @property {Entry[]} entries
 * @property {Place | {page?: undefined}} begin
 */
/** @typedef {{view: HTMLElement, walk: HTMLElement | null}} RouterChildren */

const PACE = 200 // ms between two writes of the step: browsers allow some 200 in 30 s, Python wants at most 5 a second
/** @type {Place | null} */
let due = null // where a link led before the session was there
/** @type {(place: Place, followed: boolean) => void} */
let tellPython = (place, followed) => {
  if (!followed) return
  due = place
  if (!isRead(place.page)) wantSession()
}
/** @type {((place: Place) => void) | null} */
let read = null // shows a section without a session
/** @type {Map<string, Entry>} */
let entries = new Map()
let shown = parse(location.search)
const SLIDE = new URLSearchParams(location.search).has("slide") // stays, wherever one goes
/** @type {Guide | null} */
let guide = null
/** @type {ReturnType<typeof setTimeout> | null} */
let timer = null
const lost = byId("lost") // the line that says the server is away
let moving = false // between leaving a page and the next one's arrival

/**
 * An element of the shell, which is always there.
 * @param {string} id
 */
function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id))
}

/**
 * A page's title.
 * @param {string} page
 */
export const titleOf = (page) => entries.get(page)?.title ?? ""

/** The page, step and inputs that are shown, or asked for and on their way. */
export const current = () => shown

/** The query of the address of a place, of the current one where none is given. */
export function address(place = shown) {
  return guide ? guide.address(format(place)) : format(place) + (SLIDE ? "&slide" : "")
}

/**
 * Go to a page, as a click on its link does; what the link holds after `#` the page reads from the address.
 * @param {string} page
 */
export function go(page, step = UNNAMED, hash = "", inputs = "") {
  const there = page === shown.page && step === shown.step && inputs === shown.inputs && !hash
  if (there) return inputs ? undefined : scrollTo(0, 0) // who tries something twice goes on reading there
  guide?.leave()
  travel({page, step, inputs}, hash)
}

/**
 * Go to a place, in the history too.
 * @param {Place} next
 */
export function travel(next, hash = "") {
  flush()
  saveScroll()
  history.pushState(null, "", address(next) + hash)
  show(next)
}

/**
 * Show the place where somebody else leads: the history knows nothing of it, and Python only of what it has to send.
 * @param {Place} next
 */
export function showLed(next) {
  if (next.page !== shown.page) history.replaceState({...history.state, scroll: undefined}, "") // it was of the page before
  if (next.page !== shown.page || next.inputs !== shown.inputs) return show(next)
  shown = next
  emit("step", next.step)
}

/**
 * Have sections read without a session.
 * @param {(place: Place) => void} show
 */
export function readWith(show) {
  read = show
}

/**
 * Whether a page is read without a session.
 * @param {string} page
 */
export const isRead = (page) => read !== null && isSection(page)

/**
 * Whether a page is a section of the book.
 * @param {string} page
 */
export const isSection = (page) => entries.get(page)?.section ?? false

let wanted = false // a session is there, or on its way

function wantSession() {
  if (wanted) return
  wanted = true
  beginSession().catch(lose)
}

/**
 * Set who leads through a walk.
 * @param {Guide} next
 */
export function setGuide(next) {
  guide = next
}

/** Whether the server is away: what is sent then goes nowhere. */
export const isLost = () => !lost.hidden

/** Say that the server is away. */
export const lose = () => {
  lost.hidden = false
}

/** Whether somebody else chooses where this reader is. */
export const isLed = () => guide?.led ?? false

/** Whether it is still to be known what a class has open: then `class-joined` follows. */
export const isJoining = () => guide?.joined === false

/** How often → is to be pressed once a recording is there; -1: not at all, the address says where. */
export const pressesDue = () => guide?.press ?? -1

/**
 * Take the primary stepper's step into the address; Python hears of it a few times a second, and of the last.
 * While the next page is on its way, the primary stepper is still that of the page being left, and the address no longer its own.
 * @param {number} step
 */
export function setStep(step) {
  if (moving || step === shown.step || guide?.holds) return
  shown = {...shown, step}
  guide?.nudged()
  timer ??= setTimeout(flush, PACE)
}

/**
 * Take the page's inputs into the address, `count=16&seed=2`: another set takes the place of the last.
 * @param {string} page
 * @param {string} inputs
 */
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
  history.replaceState(history.state, "", address(shown) + location.hash) // the debugger's kernel stands behind the #
  tellPython(shown, false)
}

/**
 * Have `tell` answer where links lead, in the place of Python, once the shell has been started.
 * @param {(place: Place, followed: boolean) => void} tell
 * @param {Partial<Place>} begin  what the document shows, where its address does not say
 */
export function answerWith(tell, begin = {}) {
  tellPython = tell
  shown = {...shown, ...begin}
  announce(shown.page)
}

/** @param {Place} next */
function show(next) {
  const other = next.page !== shown.page
  shown = next
  tellPython(next, true)
  if (other) {
    moving = true
    byId("content").setAttribute("aria-busy", "true")
    announce(next.page)
    emit("page", next)
  } else emit("step", shown.step)
  if (isRead(next.page)) read?.(next)
}

/**
 * Name the page in the title of the tab, and before it what is open on the page.
 * @param {...string} names  "" is left out
 */
export function nameTab(...names) {
  document.title = [...names, "Splatscope"].filter(Boolean).join(" · ")
}

/**
 * Name the page in title, crumb and sidebar before the page itself is there.
 * @param {string} page
 */
function announce(page) {
  const entry = entries.get(page) ?? entries.get("home")
  if (!entry) return
  const tool = !entry.group || entry.group === "Tools"
  nameTab(entry.name === "home" ? "" : entry.title)
  const crumb = byId("crumb")
  crumb.replaceChildren(Object.assign(document.createElement("b"), {textContent: entry.title}))
  if (!tool)
    crumb.prepend(Object.assign(document.createElement("span"), {className: "wide", textContent: `${entry.group}\u2002/\u2002`}))
  byId("about").textContent = tool ? entry.description : ""
  for (const el of document.querySelectorAll(".nav a")) {
    if (el instanceof HTMLAnchorElement && parse(el.search).page === entry.name) el.setAttribute("aria-current", "page")
    else el.removeAttribute("aria-current")
  }
}

/**
 * Called by a page once it stands in the document, with what was sought on it.
 * @param {Element} root
 * @param {Element | null} sought
 */
export function arrived(root, sought = null) {
  const content = byId("content")
  content.removeAttribute("aria-busy")
  const stood = title !== null && [title, document.body].includes(focused() ?? document.body) // on the title of the same page, not yet live
  if (moving || stood) head(sought ?? root.querySelector("h1"))
  const top = moving ? 0 : scrollY // a first page was read before it was live
  moving = false
  scrollTo(0, history.state?.scroll ?? top)
  sought?.classList.add("sought")
  if (sought && history.state?.scroll === undefined) sought.scrollIntoView({block: "center"})
  guide?.arrived()
}

/** @type {HTMLElement | null} */
let title = null // that had the focus last

/** The element that has the focus, through the shadow trees. */
function focused() {
  let el = document.activeElement
  while (el?.shadowRoot?.activeElement) el = el.shadowRoot.activeElement
  return /** @type {HTMLElement | null} */ (el)
}

/**
 * Give a page's title the focus: it is read out, and a screen reader and Tab go on there. A tool's is in the top bar.
 * @param {Element | null} heading
 */
function head(heading) {
  for (const el of [heading, byId("crumb"), byId("content")]) {
    if (!(el instanceof HTMLElement)) continue
    el.tabIndex = -1
    el.focus({preventScroll: true})
    title = el
    if (focused() === el) return
  }
}

// How far a page is scrolled stands in its entry of the history, for Back, Forward and reload.
const saveScroll = () => {
  if (!moving) history.replaceState({...history.state, scroll: scrollY}, "")
}

/** @param {MouseEvent} event */
function onClick(event) {
  const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
  if (!plain || !lost.hidden || event.defaultPrevented) return
  const link = event.composedPath().find((el) => el instanceof HTMLAnchorElement)
  if (link?.matches(".skip")) {
    event.preventDefault()
    return head(within(byId("content"), "h1"))
  }
  if (!link || link.target || link.hasAttribute("download") || !link.getAttribute("href")?.startsWith("?page=")) return
  event.preventDefault()
  const {page, step, inputs} = parse(link.search)
  go(page, step, link.hash, inputs)
}

/**
 * @param {Model<RouterParameters, RouterChildren>} model
 * @param {Render<unknown>["view"]["model"]["document"]} connection
 */
function start(model, connection) {
  wanted = true
  if (model.begin.page) shown = model.begin
  tellPython = ({page, step, inputs}, followed) => {
    model.send_msg({type: "go", page, step, inputs: Object.fromEntries(new URLSearchParams(inputs)), followed})
    guide?.moved()
  }
  // no attempt to take the session up again: Bokeh's loses binary parameters; until a reload, links load anew
  connection.on_event("connection_lost", lose)
  // Bokeh takes a model that the server sent for one of the browser's own until something is sent. A new page that is the first to
  // send would send itself along, whole, and fail: its properties hold functions.
  connection.on_change(({sync}) => {
    if (!sync) connection._new_models.clear()
  })
  setTimeout(() => {
    if (due) tellPython(due, true)
  })
}

/**
 * Start what needs no server: links, theme, keys, drawer, progress. Called by whichever is there first, a section or the live router.
 * @param {Entry[]} pages
 */
export function startShell(pages) {
  if (entries.size) return
  entries = new Map(pages.map((entry) => [entry.name, entry]))
  history.scrollRestoration = "manual"
  document.addEventListener("click", onClick)
  window.addEventListener("popstate", () => {
    if (!lost.hidden) return location.reload()
    if (timer !== null) clearTimeout(timer)
    timer = null
    if (!guide?.popped()) show(parse(location.search))
  })
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let resting
  window.addEventListener(
    "scroll",
    () => {
      clearTimeout(resting)
      resting = setTimeout(saveScroll, PACE)
    },
    {passive: true},
  )
  startTheme()
  startKeys()
  startDrawer()
  startProgress(pages)
}

let started = false

/** @param {Render<RouterParameters, RouterChildren>} component */
export function render({model, view}) {
  if (!started) {
    started = true
    start(model, view.model.document)
    startShell(model.entries)
    if (isRead(shown.page)) read?.(shown)
  }
  const strip = byId("walk"),
    walk = model.get_child("walk")
  if (walk && !strip.childElementCount) strip.append(walk)
  return model.get_child("view") ?? h("div", {hidden: true})
}
