// Reads sections without a session. The server sends the description of a page, the same for all readers, and the page is drawn
// from it with stand-ins for Python's models. A changed input requests the page for the new inputs.
import {openFile} from "#web/stepper/model/recording.js"
import {h} from "./dom.js"
import {on} from "./events.js"
import {pageRoot} from "./page.js"
import {current, lose, readWith, startShell} from "./router.js"
import {counted, flat, partsOf, standIn} from "./described_component.js"

/**
 * @import {Place} from "./address.js"
 * @import {Entry} from "./router.js"
 * @import {Described, Modules, StandIn} from "./described_component.js"
 */

/** @typedef {Record<string, any>} Values */
/**
 * One line of the server's answer (section_view.py): notes about a change; the page; what has changed since.
 * @typedef {object} Line
 * @property {Record<string, string>} [notes]  by input
 * @property {Described} [view]
 * @property {Record<number, string[]>} [unknown]  by number of a component, its results that are still pending
 * @property {Record<number, Values>} [values]  by number of a component
 */
/** @typedef {{set?: Values, fix?: boolean}} Change */

const COUNTED = ["sequence", "revision"] // values that are counted here, not taken from the server

/** @type {Modules} */
let modules
/**
 * The section in view.
 * @typedef {object} Shown
 * @property {string} name
 * @property {StandIn} page
 * @property {StandIn[]} parts
 * @property {AbortController} left
 * @property {Promise<void>} runs  the experiments that are run again, one after another: a browser allows few requests at once
 */
/** @type {Shown | null} */
let shown = null
let asked = {name: "", inputs: ""} // the page and inputs that were requested last
let asking = new AbortController()
/** @type {Values} */
let changes = {} // inputs that were set and not yet confirmed by an answer
let pending = false // whether the server has yet to answer a change

/**
 * Start reading sections if the document asks for it, beginning with the one that it contains.
 * @param {Modules} components
 */
export function readSections(components) {
  if (!document.documentElement.hasAttribute("data-reads")) return
  modules = components
  readWith(follow)
  on("live", leave)
  const given = document.getElementById("first-view")
  if (!given) return
  /** @type {{entries: Entry[], view?: Described, done?: boolean}} */
  const {entries, view, done} = JSON.parse(given.textContent ?? "")
  startShell(entries)
  const {page: name, inputs} = current()
  const words = document.getElementById("first")?.innerHTML ?? ""
  if (!view) return follow(current())
  asked = {name, inputs}
  view.values.html = words.replaceAll(" data-first-", " data-")
  const {signal} = asking
  draw(name, view, signal).then(() => {
    if (!done && !signal.aborted) ask(name, inputs)
  })
}

/**
 * Show the section that the address names.
 * @param {Place} place
 */
function follow({page: name, inputs}) {
  if (name === asked.name && inputs === asked.inputs) return
  changes = {}
  pending = false
  ask(name, inputs)
}

/** Leave the section: a page with a session takes its place. */
function leave() {
  asking.abort()
  asked = {name: "", inputs: ""}
  remove()
}

/** Remove the section from the page. */
function remove() {
  shown?.left.abort()
  shown?.page.remove()
  shown = null
}

/**
 * Request a page and show the answer. An earlier request is dropped.
 * @param {string} name
 * @param {string} inputs
 * @param {Change} [change]
 */
async function ask(name, inputs, change) {
  asking.abort()
  asking = new AbortController()
  asked = {name, inputs}
  const {signal} = asking
  const query = new URLSearchParams({inputs, ...(change && {change: JSON.stringify(change)})})
  /** @type {Line["notes"]} */
  let notes
  let answered = false
  try {
    const answer = await fetch(`sections/${name}?${query}`, {signal})
    if (!answer.ok || !answer.body) throw new Error(`the server answers ${answer.status}`)
    for await (const line of linesOf(answer.body)) {
      if (signal.aborted) return
      if (line.notes) notes = line.notes
      if (line.view) {
        if (shown?.name !== name) await draw(name, line.view, signal)
        else redraw(line, notes ?? {})
        if (signal.aborted) return
        answered = true
        asked.inputs = inputsOf(line.view)
        if (change) changed(change)
      }
      if (line.values) for (const [number, values] of Object.entries(line.values)) set(Number(number), values)
    }
  } catch {
    answered = false
  }
  if (!answered && !signal.aborted) lose()
}

/**
 * The lines of a stream, parsed.
 * @param {ReadableStream<Uint8Array<ArrayBuffer>>} stream
 * @returns {AsyncGenerator<Line>}
 */
async function* linesOf(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ""
  for (;;) {
    const {done, value} = await reader.read()
    if (done) return
    const lines = (rest + value).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) yield JSON.parse(line)
  }
}

/**
 * Replace the page in one paint: its recording is fetched first.
 * @param {string} name
 * @param {Described} view
 * @param {AbortSignal} signal  aborted when something else was requested
 */
async function draw(name, view, signal) {
  const {preload} = view.values
  if (preload) await openFile(String(preload)).catch(() => {}) // the figure will say what is wrong
  if (signal.aborted) return
  remove()
  pageRoot()?.remove() // of a page with a session, whose server side is told later
  const page = standIn(modules, view, answer)
  shown = {name, page, parts: partsOf(page), left: new AbortController(), runs: Promise.resolve()}
  const first = document.getElementById("first") ?? h("div", {id: "first"})
  first.className = ""
  first.replaceChildren(page.host)
  if (!first.isConnected) document.getElementById("content")?.prepend(first)
  page.rendered()
}

/**
 * Show the page with other inputs. Each part keeps its old results until the new ones are known.
 * @param {Line} line
 * @param {Record<string, string>} notes
 */
function redraw({view, unknown = {}}, notes) {
  flat(/** @type {Described} */ (view)).forEach(({values}, number) => {
    const known = Object.entries(values).filter(([name]) => !COUNTED.includes(name) && !unknown[number]?.includes(name))
    set(number, Object.fromEntries(known), notes)
  })
}

/**
 * @param {number} number  of a component
 * @param {Values} values
 * @param {Record<string, string>} [notes]  by input
 */
function set(number, values, notes = {}) {
  const part = shown?.parts[number]
  part?.set(counted(part, values, notes))
}

/** The inputs of a page, as in the address. */
const inputsOf = (/** @type {Described} */ view) => String(flat(view).find(({class: name}) => name === "LessonBar")?.values.address)

/**
 * Handle a component's message.
 * @param {{type: string, name: string, value: unknown, recorded: boolean}} message
 * @param {StandIn} sender
 */
function answer(message, sender) {
  if (!shown) return
  if (message.type === "set") {
    changes[message.name] = message.value
    if (!pending) change({set: {...changes}})
  } else if (message.type === "fix") change({set: {...changes}, fix: true})
  else if (message.type === "recorded") ask(shown.name, message.recorded ? "recorded=1" : "")
  else if (message.type === "run") {
    const at = shown
    sender.set({busy: true, error: ""})
    at.runs = at.runs.then(() => run(at, sender))
  }
}

/**
 * Request the page with other inputs. Changes made before the answer arrives are requested then, together.
 * @param {Change} wanted
 */
function change(wanted) {
  pending = true
  ask(asked.name, asked.inputs, wanted)
}

/**
 * Note that a change was answered.
 * @param {Change} answered
 */
function changed({set: taken = {}}) {
  pending = false
  for (const [name, value] of Object.entries(taken)) if (changes[name] === value) delete changes[name]
  if (Object.keys(changes).length) change({set: {...changes}})
}

/**
 * Run an experiment again.
 * @param {Shown} at
 * @param {StandIn} part
 */
async function run(at, part) {
  const {signal} = at.left
  if (signal.aborted) return
  try {
    const query = new URLSearchParams({inputs: asked.inputs})
    const body = JSON.stringify({run: at.parts.indexOf(part)})
    const answer = await fetch(`sections/${at.name}?${query}`, {method: "POST", body, signal})
    if (!answer.ok) throw new Error(`the server answers ${answer.status}`)
    const values = await answer.json()
    if (!signal.aborted) part.set(values)
  } catch {
    if (signal.aborted) return
    part.set({busy: false})
    lose()
  }
}
