// The carrier of sections: the server streams the description of a page, the same for all readers, and then what changes in it. A
// changed input asks for the page with the new inputs.
import {fetchWith, openFile} from "#web/recording/recording.ts"
import {pause, request, say, stop} from "#web/runtime/connection.ts"
import {h, messageOf} from "#web/runtime/dom.ts"
import {on} from "#web/runtime/events.ts"
import {Tree, flat, type Described, type Modules, type Part, type Values} from "#web/runtime/host.ts"
import {current, isRead, pageRoot, readWith, wantSession} from "#web/runtime/router.ts"
import {startShell} from "#web/shell/router.ts"
import type {Place, PublicEntry} from "#components"
import type {Message} from "#web/types.ts"

/** One line of the server's answer (section_view.py): notes about a change; the page; what has changed since. */
interface Line {
  /** By input. */
  notes?: Record<string, string>
  view?: Described
  /** By number of a component, its results that are still pending. */
  unknown?: Record<number, string[]>
  /** By number of a component. */
  values?: Record<number, Values>
}

type Change = {set?: Values; fix?: boolean}

const PAINTS = 3000 // ms for which a page waits for its recording, so that both are painted at once
const TRIES = 4 // times that a section is asked for if the server's answers end early
const INCOMPLETE = "The server ended its answer before the figure was there. Reload the page to try again."

let modules: Modules

/** The section in view. */
interface Shown {
  name: string
  page: Tree
  left: AbortController
  /** The experiments that are run again, one after another: a browser allows few requests at once. */
  runs: Promise<void>
  /** Addresses of recordings that the server did not have. */
  missing: Set<string>
}

let shown: Shown | null = null
let asked = {name: "", inputs: ""} // the page and inputs that were requested last
let asking = new AbortController()
let changes: Values = {} // inputs that were set and not yet confirmed by an answer
let pending = false // whether the server has yet to answer a change

/** Start reading sections if the document asks for it, beginning with the one that it contains. */
export function readSections(components: Modules) {
  if (!document.documentElement.hasAttribute("data-reads")) return
  modules = components
  readWith(follow)
  fetchWith((address, tell) => request(address, {}, tell))
  on("live", leave)
  const given = document.getElementById("first-view")
  if (!given) return
  const {entries, view, done}: {entries: PublicEntry[]; view?: Described; done?: boolean} = JSON.parse(given.textContent ?? "")
  startShell(entries)
  const {page: name, inputs} = current()
  const words = document.getElementById("first")?.innerHTML ?? ""
  if (!view) return isRead(name) ? follow(current()) : wantSession()
  asked = {name, inputs}
  view.values.html = words.replaceAll(" data-first-", " data-")
  const {signal} = asking
  draw(name, view, signal).then(() => {
    if (!done && !signal.aborted) ask(name, inputs)
  })
}

/** Show the section that the address names. */
function follow({page: name, inputs}: Place) {
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

/** Request a page and show the answer. An earlier request is dropped. An answer that ends early is requested again. */
async function ask(name: string, inputs: string, change?: Change) {
  asking.abort()
  asking = new AbortController()
  asked = {name, inputs}
  const {signal} = asking
  let due = change // until it is answered
  for (let tries = 0; tries < TRIES; tries++) {
    if (tries) await pause(1000 * 2 ** tries * (0.5 + Math.random()))
    if (signal.aborted) return
    const query = new URLSearchParams({inputs: asked.inputs, ...(due && {change: JSON.stringify(due)})})
    let answer: Response
    try {
      answer = await request(`sections/${name}?${query}`, {signal}, (words) => wait(name, words))
      if (!answer.ok || !answer.body) throw new Error(`The server answers ${answer.status}.`)
    } catch (reason) {
      if (!signal.aborted) fail(name, messageOf(reason))
      return
    }
    const seen = await take(name, answer.body, signal, () => {
      if (due) changed(due)
      due = undefined
    })
    if (seen || signal.aborted) return
  }
  fail(name, INCOMPLETE)
}

/**
 * Show a page as the lines of an answer describe it.
 * @param answered  the page is there, with the change that was requested
 * @returns whether the answer was complete: nothing is pending, unless something could not be recorded
 */
async function take(
  name: string,
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  signal: AbortSignal,
  answered: () => void,
): Promise<boolean> {
  let notes: Line["notes"]
  let unknown: Set<string> | null = null // "number name" of each result that is still to come; null before the page is there
  for await (const line of linesOf(body)) {
    if (signal.aborted) return false
    if (line.notes) notes = line.notes
    if (line.view) {
      if (shown?.name !== name) await draw(name, line.view, signal)
      else redraw(line)
      shown?.page.answerInputs(notes ?? {}) // also where Back or a link has changed them
      if (signal.aborted) return false
      asked.inputs = inputsOf(line.view)
      unknown = new Set(Object.entries(line.unknown ?? {}).flatMap(([number, names]) => names.map((one) => `${number} ${one}`)))
      answered()
      if (signal.aborted) return false // by a change that was made meanwhile
    }
    for (const [number, values] of Object.entries(line.values ?? {})) {
      for (const one of Object.keys(values)) unknown?.delete(`${number} ${one}`)
      shown?.page.apply({id: Number(number), values})
    }
  }
  return unknown !== null && (!unknown.size || [...(shown?.page.parts.values() ?? [])].some(({model}) => model.error))
}

/** The figure of the section in view. */
const figure = () => [...(shown?.page.parts.values() ?? [])].find(({model}) => model.stops !== undefined)

/**
 * Say what the section waits for: in place of its figure, or above the page if there is none yet.
 * @param words  "" for nothing any more
 */
function wait(name: string, words: string) {
  const there = shown?.name === name ? figure() : undefined
  if (there) there.set({busy: words})
  else say(words)
}

/** Say why the section does not get further. */
function fail(name: string, words: string) {
  pending = false
  const there = shown?.name === name ? figure() : undefined
  if (there) there.set({busy: "", error: words})
  else stop(words)
}

/** The lines of a stream, parsed, until it ends or is broken off. */
async function* linesOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<Line> {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ""
  for (;;) {
    const {done, value} = await reader.read().catch(() => ({done: true, value: ""}))
    if (done) return
    const lines = (rest + value).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) yield JSON.parse(line)
  }
}

/**
 * Replace the page in one paint: its recording is fetched first.
 * @param signal  aborted when something else was requested
 */
async function draw(name: string, view: Described, signal: AbortSignal) {
  const {preload} = view.values
  if (preload) await Promise.race([openFile(String(preload)).catch(() => {}), pause(PAINTS)]) // the figure will say what is wrong
  if (signal.aborted) return
  remove()
  pageRoot()?.remove() // of a page with a session, whose server side is told later
  const page = new Tree(modules, view, answer)
  shown = {name, page, left: new AbortController(), runs: Promise.resolve(), missing: new Set()}
  const first = document.getElementById("first") ?? h("div", {id: "first"})
  first.className = ""
  first.replaceChildren(page.root.host)
  if (!first.isConnected) document.getElementById("content")?.prepend(first)
  page.root.rendered()
}

/** Show the page with other inputs. Each part keeps its old results until the new ones are known. */
function redraw({view, unknown = {}}: Line) {
  for (const {id, values} of flat(view as Described)) {
    const known = Object.entries(values).filter(([name]) => name !== "notes" && !unknown[id]?.includes(name))
    shown?.page.apply({id, values: Object.fromEntries(known)})
  }
}

/** The inputs of a page, as in the address. */
const inputsOf = (view: Described) => String(flat(view).find(({class: name}) => name === "LessonBar")?.values.address)

/** Handle a component's message. */
function answer(message: Message<"Claim" | "Controls" | "Drawing" | "LessonBar" | "Show" | "Stepper">, sender: Part) {
  if (!shown) return
  if (message.type === "set") {
    changes[message.name] = message.value
    if (!pending) change({set: {...changes}})
  } else if (message.type === "fix") change({set: {...changes}, fix: true})
  else if (message.type === "recorded") ask(shown.name, message.recorded ? "recorded=1" : "")
  else if (message.type === "missing") again(sender)
  else if (message.type === "run") {
    const at = shown
    sender.set({busy: true, error: ""})
    at.runs = at.runs.then(() => run(at, sender))
  }
}

/** Request the page with other inputs. Changes made before the answer arrives are requested then, together. */
function change(wanted: Change) {
  pending = true
  ask(asked.name, asked.inputs, wanted)
}

/** Note that a change was answered. */
function changed({set: taken = {}}: Change) {
  pending = false
  for (const [name, value] of Object.entries(taken)) if (changes[name] === value) delete changes[name]
  if (Object.keys(changes).length) change({set: {...changes}})
}

/** Run an experiment again. */
async function run(at: Shown, part: Part) {
  const {signal} = at.left
  if (signal.aborted) return
  try {
    const query = new URLSearchParams({inputs: asked.inputs})
    const body = JSON.stringify({run: part.id})
    const answer = await request(`sections/${at.name}?${query}`, {method: "POST", body, signal})
    if (!answer.ok) throw new Error(`The server answers ${answer.status}.`)
    const values = await answer.json()
    if (!signal.aborted) part.set(values)
  } catch (reason) {
    if (!signal.aborted) part.set({busy: false, error: messageOf(reason)})
  }
}

/** Ask for the section again, once for each recording that the server does not have: it has restarted, or another one answers. */
async function again(stepper: Part) {
  const at = shown
  const {file = ""} = stepper.model
  if (!at || at.missing.has(file)) return
  at.missing.add(file)
  stepper.set({busy: "Asking for the recording again …"})
  await ask(at.name, asked.inputs)
  if (shown === at) stepper.set({busy: ""})
}
