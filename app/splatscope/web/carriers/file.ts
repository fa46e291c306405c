// The carrier of the published book: shows the page in the address, and answers a change of inputs with what was recorded.
import {hrefOf, isBook, UNNAMED} from "#web/runtime/address.ts"
import {h, messageOf, nearView} from "#web/runtime/dom.ts"
import {emit} from "#web/runtime/events.ts"
import {answerWith, current, setStep} from "#web/runtime/router.ts"
import {Tree, flat, type Described, type Modules, type Part, type Values} from "#web/runtime/host.ts"
import {startShell} from "#web/shell/router.ts"
import {Painter} from "#web/training/browser/painter.ts"
import {embedButton, onlyFigure, partsBar} from "#web/publish/embed.ts"
import {embedded, load, loadBytes, loadValue} from "#web/publish/files.ts"
import {openWalk} from "#web/publish/walk.ts"
import type {Meta, Place, PublicEntry, TrainingKernels} from "#components"
import type {Message} from "#web/types.ts"
import {inputsOf, insteadOf, nearest, noteOn, type Published, RECORDED, type State, stateOf, valuesIn} from "#web/publish/states.ts"

let modules: Modules
let names: Set<string>
let shown: {name: string; published: Published; page: Tree; state: State} | null = null
let changes = 0 // counts requests, so that an earlier one never replaces a later one

/** Show the page in the address, and from then on those that links lead to. */
export async function begin(components: Modules, entries: PublicEntry[]) {
  modules = components
  names = new Set(entries.map(({name}) => name))
  if (isOldAddress()) return location.replace(hrefOf(current()) + location.hash)
  startShell(entries)
  document.body.append(note)
  const opened = embedded() ? "" : await openWalk(modules)
  const walk = typeof opened === "string" ? null : opened
  const asked = {...current(), ...(embedded() && {page: embedded() as string})}
  answerWith(
    (place, followed) => {
      if (followed) follow(place)
    },
    walk?.place ?? (names.has(asked.page) ? asked : {page: "home", inputs: ""}),
  )
  if (walk) document.getElementById("walk")?.append(walk.bar().root.host)
  follow(walk ? current() : asked, walk ? "" : String(opened))
}

/** Whether the address is `index.html?page=NAME`, as it was when all pages were one document. */
const isOldAddress = () => {
  const query = new URLSearchParams(location.search)
  return isBook() && query.has("page") && !query.has("walk") && names.has(current().page)
}

/** @param missing  what else the address names that this book does not have */
async function follow({page, inputs}: Place, missing = "") {
  const name = names.has(page) ? page : "home"
  const lost = name === page ? missing : `This book has no page “${page.slice(0, 40)}”. This is its first page.`
  if (shown?.name === name) {
    const state = stateOf(shown.published, inputs)
    sayInstead(lost || insteadOf(shown.published, state, inputs))
    return change(state)
  }
  const asked = ++changes
  try {
    const published: Published = await load(`pages/${name}`)
    const state = stateOf(published, inputs)
    const view = structuredClone(published.view)
    const parts = flat(view)
    const later = withheld(parts)
    await Promise.all(
      parts.map(async ({id, values}) => Object.assign(values, await filled(valuesOf(published, state, id, values)))),
    )
    if (asked !== changes) return
    sayInstead(lost || insteadOf(published, state, inputs))
    show(name, published, state, view)
    for (const [number, results] of later) showLater(number, results)
  } catch (reason) {
    if (asked === changes) fail(reason)
  }
}

/** A component's values in a state; in the first state, all of them. */
const valuesOf = (published: Published, state: State, number: number, first: Values = {}) => ({
  ...first,
  ...valuesIn(published, state, number),
})

/**
 * Load the parts of values that are in files: long values, and the recording. The stepper gets the recording's bytes, because a
 * page on a disk cannot fetch. A recording that the stepper already has is not loaded.
 * @param known  the recording that the stepper already has
 */
async function filled(values: Values, known?: string) {
  const recording =
    values.file && ((await whole(values.meta)) as Meta).recording !== known ? loadBytes(values.file as string) : null
  const loaded = await Promise.all(Object.entries(values).map(async ([name, value]) => [name, await whole(value)] as const))
  const all: Values = Object.fromEntries(loaded)
  if (!all.file) return all
  return recording ? {...all, recording: await recording, file: ""} : {...all, file: ""}
}

/** A value; a long one is in a file of its own. */
const whole = (value: unknown) => (isFiled(value) ? loadValue(value.$file) : value)

const isFiled = (value: unknown): value is {$file: string} => typeof value === "object" && value !== null && "$file" in value

/** Remove the results that are in files from a view before it is drawn. Returns them by number of their component. */
function withheld(parts: Described[]) {
  const later = new Map<number, unknown>()
  for (const {id, values} of parts) {
    if (isFiled(values.results)) {
      later.set(id, values.results)
      values.results = []
    }
  }
  return later
}

function show(name: string, published: Published, state: State, view: Described) {
  shown?.page.remove()
  const alone = Boolean(embedded())
  if (alone) onlyFigure(view)
  const page = new Tree(modules, view, answer)
  shown = {name, published, page, state}
  const content = document.getElementById("content")
  for (const child of [...(content?.children ?? [])]) if (child.id !== "first") child.remove()
  content?.append(...(alone ? [partsBar()] : []), instead, page.root.host)
  page.root.rendered()
  document.querySelector(".app")?.classList.toggle("rail", name === "debugger" && !alone) // as where the debugger is served
  if (!embedded() && published.figure) document.getElementById("actions")?.append(embedButton(name))
}

/**
 * Show results once they come into view, unless they have been replaced by then.
 * @param number  of their component
 */
async function showLater(number: number, results: unknown) {
  const part = shown?.page.parts.get(number)
  if (!part) return
  await nearView(part.host)
  const loaded = await whole(results)
  if (!part.model.results?.length) part.set({results: loaded})
}

/**
 * Show another state of the page.
 * @param notes  under controls, by input, if one was changed
 */
async function change(state: State, notes?: Record<string, string>) {
  const at = shown
  if (!at) return
  const asked = ++changes
  const parts = [...at.page.parts.values()]
  try {
    const values = await Promise.all(parts.map(({id, model}) => filled(valuesOf(at.published, state, id), model.meta?.recording)))
    if (asked !== changes || shown !== at) return
    at.state = state
    parts.forEach((part, i) => part.set(values[i]))
    at.page.answerInputs(notes ?? {})
  } catch (reason) {
    if (asked === changes) for (const part of parts) if (part.model.busy !== undefined) part.set({error: String(reason)})
  }
}

/** The parameters of a picture with a slider. */
interface LivePicture {
  picture: string
  width_px: number
  height_px: number
  sequence: number
}

const painters = new Map<string, Promise<Painter | null>>() // by the file of the picture

/** Draw the number of Gaussians that a picture's slider asks for. */
async function draw(part: Part, count: number) {
  const {picture, width_px: width, height_px: height, sequence} = part.model as unknown as LivePicture
  const make = async () => {
    const [files, bytes] = await Promise.all([load<TrainingKernels>("training/kernels"), loadBytes(picture)])
    return Painter.of(files, new Float32Array(bytes.buffer), width, height)
  }
  try {
    const painter = painters.get(picture) ?? make()
    painters.set(picture, painter)
    const frame = await (await painter)?.draw(count)
    if (frame) part.set({frame, data: {count: String(count)}, sequence: sequence + 1})
    else part.tell("message", {type: "failed", message: "This browser offers no GPU (WebGPU): it shows finished pictures only."})
  } catch (reason) {
    painters.delete(picture)
    part.tell("message", {type: "failed", message: messageOf(reason)})
  }
}

/** Handle a component's message. */
function answer(message: Message<"Controls" | "Drawing" | "LessonBar" | "LiveRender" | "Stepper">, sender: Part) {
  if (!shown) return
  if (message.type === "ask") draw(sender, message.count)
  const {published, state} = shown
  const inputs = inputsOf(published, state)
  if (message.type === "set" && message.name in inputs) {
    const wanted = {...inputs, [message.name]: message.value}
    const found = nearest(published, wanted, message.name)
    const note = noteOn(published, found, wanted, message.name)
    instead.textContent = ""
    change(found, {[message.name]: note})
    if (found === state) emit("again", sender.model) // it shows a value that was not recorded
    say(hasControl(message.name) ? "" : note)
  } else if (message.type === "recorded") {
    change(stateOf(published, message.recorded ? RECORDED : ""))
  } else if (message.type === "fix") {
    change(nearest(published, {...inputs, ...published.fix}, Object.keys(published.fix)[0] ?? ""))
  }
}

/** Whether an input has a control on the page, below which a note can be shown. Other inputs are set in the drawing. */
const hasControl = (name: string) =>
  [...(shown?.page.parts.values() ?? [])].some(({model}) =>
    model.groups?.some((group) => group.items.some((item) => item.name === name)),
  )

const instead = h("p", {class: "instead", role: "status"})

/**
 * Say which inputs are shown in place of those in the address. The address's step is ignored, because it belongs to those.
 * @param words  "" if the address's inputs are shown
 */
function sayInstead(words: string) {
  instead.textContent = words
  if (words) setStep(UNNAMED)
}

const NOTE = 5000 // ms for which a note is shown
let noted: ReturnType<typeof setTimeout> | undefined
const note = h("p", {class: "book-note", role: "status"})

/** Show a note over the page for a while. */
function say(words: string) {
  clearTimeout(noted)
  note.textContent = words
  if (words) noted = setTimeout(say, NOTE, "")
}

function fail(reason: unknown) {
  const words = h("p", {class: "lede", role: "alert"}, reason instanceof Error ? reason.message : String(reason))
  document.getElementById("content")?.replaceChildren(h("div", {class: "page"}, h("article", {class: "words"}, words)))
}
