// The address is the state: ?page=NAME&step=N, then the page's inputs (address.ts). A page pushes a history entry, a step replaces it.
import {know} from "./draft.ts"
import {UNNAMED, format, hrefOf, isBook, parseHere, placeOfLink} from "./address.ts"
import {isAway, lose, refuse, renew, stop} from "./connection.ts"
import {below, focused, messageOf, within} from "./dom.ts"
import {emit} from "./events.ts"
import {hold} from "./hold.ts"
import {beginSession} from "./session.ts"
import {followedPixel} from "./followed_pixel.ts"
import {markFound, soughtCode, soughtIn} from "./sought.ts"
import type {Place, PublicEntry, RouterMessages, RouterParameters} from "#components"
import type {BokehDocument} from "#web/types.ts"

/** The guide of a walk. Together with the router it decides where this reader is. */
interface Guide {
  /** Whether the presenter chooses page, step and inputs. */
  led: boolean
  /** Whether it is known where the class is, or there is no class. */
  joined: boolean
  /** Led, and the reader has not caused the current change. */
  holds: boolean
  /** The class's kernel in the debugger, as after the # of an address; "" for none. */
  kernel: string
  /** How often to press → once a recording is there; -1: not at all. */
  press: number
  /** The whole query for a place's query. */
  address: (place: string) => string
  /** The reader goes elsewhere on their own. */
  leave: () => void
  /** Step or inputs have changed. */
  nudged: () => void
  /** A place was sent to Python. */
  moved: () => void
  /** The requested page is in the document. */
  arrived: () => void
  /** Back or Forward was pressed; returns true if the guide handles it. */
  popped: () => boolean
}

const POLICY_VIOLATION = 1008 // a code with which servers close a socket
const PACE = 200 // ms between two writes of the step: browsers allow about 200 in 30 s, and Python should get at most 5 a second
let due: Place | null = null // where a link led before there was a session
let tellPython: (place: Place, followed: boolean) => void = (place, followed) => {
  if (!followed) return
  due = place
  if (!isRead(place.page)) wantSession()
}
let read: ((place: Place) => void) | null = null // shows a section without a session
let entries = new Map<string, PublicEntry>()
let shown = parseHere()
const SLIDE = new URLSearchParams(location.search).has("slide") // stays in all addresses
let guide: Guide | null = null
let timer: ReturnType<typeof setTimeout> | null = null
let dead = false // whether the session has ended: messages would go nowhere
let hash = location.hash // what of the page was reached last
let moving = false // between leaving a page and the next one's arrival

/** An element of the shell, which always exists. */
function byId(id: string) {
  return document.getElementById(id) as HTMLElement
}

/** A page's title. */
export const titleOf = (page: string) => entries.get(page)?.title ?? ""

/** The page, step and inputs that are shown or being loaded. */
export const current = () => shown

/** The address of a place, by default the current one, relative to this document. */
export function address(place = shown) {
  if (guide) return guide.address(format(place))
  const href = hrefOf(place)
  return SLIDE ? `${href}${href.includes("?") ? "&" : "?"}slide` : href
}

/** Go to a page, as a click on its link does. The page reads the part after `#` from the address. A section shows the reader's pixel. */
export function followLink(page: string, step = UNNAMED, hash = "", inputs = "") {
  if (!inputs && step === UNNAMED && isSection(page)) inputs = followedPixel()
  const there = page === shown.page && step === shown.step && inputs === shown.inputs && !hash
  if (there) return inputs ? undefined : scrollTo(0, 0) // trying the same link twice does not scroll the reader away
  guide?.leave()
  pushPlace({page, step, inputs}, hash)
}

/** Go to a place, with an entry in the history. */
export function pushPlace(next: Place, hash = "") {
  flush()
  saveScroll()
  history.replaceState({...history.state, left: placeOf(focused())}, "")
  if (next.page !== shown.page && isAnotherFile()) return location.assign(address(next) + hash)
  history.pushState(null, "", address(next) + hash)
  showPlace(next)
}

/** Whether each page is a file on a disk, which browsers load anew. A walk stays in its document. */
const isAnotherFile = () => location.protocol === "file:" && isBook() && guide === null

/** Show the presenter's place, without an entry in the history. Python is told only if it has to send the page. */
export function showLed(next: Place) {
  if (next.page !== shown.page) history.replaceState({...history.state, scroll: undefined, left: undefined}, "") // of the previous page
  if (next.page !== shown.page || next.inputs !== shown.inputs) return showPlace(next)
  shown = next
  emit("step", next.step)
}

/** Have sections read without a session. */
export function readWith(show: (place: Place) => void) {
  read = show
}

/** Whether a page is read without a session. */
export const isRead = (page: string) => read !== null && isSection(page)

/** Whether a page is a section of the book. */
export const isSection = (page: string) => entries.get(page)?.section ?? false

let wanted = false // whether a session exists or was requested

/** Request a session, unless there is one or it was requested. */
export function wantSession() {
  if (wanted) return
  wanted = true
  beginSession().catch((reason) => stop(messageOf(reason)))
}

/** Whether what is shown needs the session: in a walk, its strip does. */
const needsSession = () => guide !== null || !isRead(shown.page)

/**
 * Go on after the session's connection was lost. A section without a walk needs none; any other page is loaded anew once the server
 * answers, with a session of its own.
 */
async function endSession() {
  dead = true
  tellPython = () => {}
  if (isRefusal(window.event)) return refuse()
  await lose()
  if (needsSession()) renew()
}

/**
 * Whether the server has closed the connection because it did not accept what was sent. Bokeh's own event does not say so, but is
 * triggered while the socket's is handled.
 */
const isRefusal = (event: Event | undefined) => event instanceof CloseEvent && event.code === POLICY_VIOLATION

/** Set the guide of the walk. */
export function setGuide(next: Guide) {
  guide = next
}

/** Whether the session has ended: messages to it would go nowhere, also once the server answers again. */
export const hasEnded = () => dead

/** Whether messages to the server would go nowhere. */
export const isLost = () => dead || isAway()

/** Whether a presenter chooses where this reader is. */
export const isLed = () => guide?.led ?? false

/** Step the figure without leaving the presenter: what shows an answer. The presenter's next step moves it on. */
export function stepLed(step: number) {
  if (isLed()) shown = {...shown, step}
  emit("step", step)
}

/** The kernel that the class has in the debugger, as after the `#` of an address; "" for none. */
export const classKernel = () => guide?.kernel ?? ""

/** Whether it is not yet known what a class has open. `class-joined` follows once it is. */
export const isJoining = () => guide?.joined === false

/** How often to press → once a recording is there; -1: not at all, the address gives the step. */
export const pressesDue = () => guide?.press ?? -1

/**
 * Write the primary stepper's step to the address. Python gets it a few times a second, and always the last one.
 * While the next page loads, the primary stepper still belongs to the page being left, and the address to the next.
 */
export function setStep(step: number) {
  if (moving || step === shown.step || guide?.holds) return
  shown = {...shown, step}
  guide?.nudged()
  timer ??= setTimeout(flush, PACE)
}

/** Write the page's inputs to the address, `count=16&seed=2`, in place of the previous ones. */
export function setInputs(page: string, inputs: string) {
  if (page !== shown.page || inputs === shown.inputs || guide?.holds) return
  shown = {...shown, inputs}
  guide?.nudged()
  timer ??= setTimeout(flush, PACE)
}

function flush() {
  if (timer === null) return
  clearTimeout(timer)
  timer = null
  history.replaceState(history.state, "", address(shown) + location.hash) // the debugger's kernel is after the #
  tellPython(shown, false)
}

/**
 * Have `tell` handle links in place of Python. Called after the shell was started.
 * @param begin  what the document shows, if its address does not say
 */
export function answerWith(tell: (place: Place, followed: boolean) => void, begin: Partial<Place> = {}) {
  tellPython = tell
  shown = {...shown, ...begin}
  announce(shown.page)
}

function showPlace(next: Place) {
  const other = next.page !== shown.page
  shown = next
  if (dead && needsSession() && !isAway()) return location.reload() // nothing else was done about it: the reader goes elsewhere
  tellPython(next, true)
  if (other) {
    holding()
    moving = true
    byId("content").setAttribute("aria-busy", "true")
    announce(next.page)
    emit("page", next)
  } else {
    emit("step", shown.step)
    if (location.hash !== hash) reachHere()
  }
  if (isRead(next.page)) read?.(next)
}

/** Show what the address now names on the page that is shown: with Back and Forward, what was in view there. */
function reachHere() {
  const sought = root && soughtIn(root)
  if (history.state?.scroll !== undefined) scrollTo(0, history.state.scroll)
  else if (sought) head(sought)
  if (root) reach(root, sought)
}

/**
 * Set the tab's title: what is open on the page, then the page.
 * @param names  "" is left out
 */
export function nameTab(...names: string[]) {
  document.title = [...names, "Splatscope"].filter(Boolean).join(" · ")
}

/** Name the page in title, crumb and sidebar before the page itself has loaded. */
function announce(page: string) {
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
    if (el instanceof HTMLAnchorElement && placeOfLink(el)?.page === entry.name) el.setAttribute("aria-current", "page")
    else el.removeAttribute("aria-current")
  }
}

/** Called by a page once it is in the document. */
export function arrived(root: HTMLElement) {
  const content = byId("content")
  const sought = soughtIn(root)
  content.removeAttribute("aria-busy")
  const stood = title !== null && [title, document.body].includes(focused() ?? document.body) // on the same page's title, before the page was live
  if ((moving || stood) && !focusLeft()) head(sought ?? root.querySelector("h1"))
  const top = moving ? 0 : scrollY // a first page may have been scrolled before it was live
  moving = false
  scrollTo(0, history.state?.scroll ?? top)
  reach(root, sought)
  guide?.arrived()
}

let holding = () => {} // ends the holding of what was reached

/** Scroll to what the address names on a page, mark it, and keep it in place while the page above it grows. */
function reach(root: HTMLElement, sought: HTMLElement | null) {
  holding()
  hash = location.hash
  sought?.classList.add("sought")
  if (history.state?.scroll !== undefined) return
  const show = (found: HTMLElement | null) => {
    if (!found) return
    holding = hold(root, () => found, "center")
    markFound(found)
  }
  const text = soughtCode()
  if (text) emit("line", {text, missing: () => show(soughtIn(root, text))})
  else show(sought)
}

let title: HTMLElement | null = null // the title, or the link of a page come back to, that was focused last

/** Focus a page's title, so that it is read out and Tab continues there. A tool's title is in the top bar. */
function head(heading: Element | null) {
  for (const el of [heading, byId("crumb"), byId("content")]) {
    if (!(el instanceof HTMLElement)) continue
    el.tabIndex = -1
    el.focus({preventScroll: true})
    title = el
    if (focused() === el) return
  }
}

/** All links of the document with an address. */
const linksTo = (href: string | null) =>
  [...below(document)].filter((el) => el instanceof HTMLAnchorElement && el.getAttribute("href") === href)

/** A link as its history entry stores it, since the element itself is gone by the time the reader comes back. */
function placeOf(link: HTMLElement | null) {
  if (!(link instanceof HTMLAnchorElement)) return undefined
  const href = link.getAttribute("href")
  return {href, which: linksTo(href).indexOf(link)}
}

/** After Back or Forward, focus the link by which the page was left. Return whether it is there. */
function focusLeft() {
  const {left} = history.state ?? {}
  const link = left && linksTo(left.href)[left.which]
  if (!(link instanceof HTMLElement)) return false
  link.focus({preventScroll: true})
  if (focused() !== link) return false // in a closed drawer
  title = link
  return true
}

// A page's scroll position is stored in its history entry, for Back, Forward and reload.
const saveScroll = () => {
  if (!moving) history.replaceState({...history.state, scroll: scrollY}, "")
}

function onClick(event: MouseEvent) {
  const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
  const link = event.composedPath().find((el) => el instanceof HTMLAnchorElement)
  if (link?.hash.startsWith("#kernel=") && link.origin === location.origin) know(link.hash) // it runs by itself, also in another tab
  if (!plain || event.defaultPrevented) return
  if (link?.matches(".skip")) {
    event.preventDefault()
    return head(within(byId("content"), "h1"))
  }
  const place = link && !link.target && !link.hasAttribute("download") ? placeOfLink(link) : null
  if (!link || !place) return
  event.preventDefault()
  followLink(place.page, place.step, link.hash, place.inputs)
}

/** Go on without the session once its connection is lost. No attempt is made to resume it: Bokeh's would lose binary values. */
export const watchConnection = (connection: BokehDocument) => connection.on_event("connection_lost", endSession)

/**
 * Have the session handle links.
 * @param begin  the place that it begins with, {} for that of the address
 * @param send  sends a message to its router
 */
export function connect(begin: RouterParameters["begin"], send: (message: RouterMessages) => void) {
  wanted = true
  if (begin.page) shown = begin
  tellPython = ({page, step, inputs}, followed) => {
    send({type: "go", page, step, inputs: Object.fromEntries(new URLSearchParams(inputs)), followed})
    guide?.moved()
  }
  setTimeout(() => {
    if (due) tellPython(due, true)
  })
}

/**
 * Handle links, Back and Forward from now on. Called by a section or the live router, whichever comes first.
 * @returns whether that is new
 */
export function startRouting(pages: PublicEntry[]): boolean {
  if (entries.size) return false
  entries = new Map(pages.map((entry) => [entry.name, entry]))
  history.scrollRestoration = "manual"
  document.addEventListener("click", onClick)
  document.addEventListener("auxclick", onClick)
  window.addEventListener("popstate", () => {
    if (timer !== null) clearTimeout(timer)
    timer = null
    if (!guide?.popped()) showPlace(parseHere())
  })
  let resting: ReturnType<typeof setTimeout> | undefined
  window.addEventListener(
    "scroll",
    () => {
      clearTimeout(resting)
      resting = setTimeout(saveScroll, PACE)
    },
    {passive: true},
  )
  return true
}

/** Show a section that is read without a session, if the address names one. */
export function readShown() {
  if (isRead(shown.page)) read?.(shown)
}

let root: HTMLElement | null = null

/** The root of the page now shown. */
export const pageRoot = () => root

export function setPageRoot(next: HTMLElement) {
  root = next
}
