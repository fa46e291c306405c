// Two recordings side by side, stepped together, with the first place where they differ.
import {h, messageOf, soon, style} from "#web/runtime/dom.ts"
import {Side} from "./side.ts"
import {icon, type IconName, severityIcon} from "#web/stepper/panes/icons.ts"
import {type Differences, differences, type OutputDifference, type Pair} from "#web/recording/difference.ts"
import {Alignment} from "./alignment.ts"
import {joinComparison} from "#web/stepper/keys.ts"
import {expose} from "#web/recording/painted.ts"
import {aloud} from "#web/recording/aloud.ts"
import {near} from "#web/recording/moment.ts"
import {type Recording, unpack} from "#web/recording/recording.ts"
import type {CellRef, Model, Render} from "#web/types.ts"

const MOST_WALLS = 120 // barriers drawn for one recording

/** The events of a pair, one for each recording. */
const both = (pair: Pair | null): [number, number] => (pair ? [pair.first, pair.second] : [-1, -1])

export class Compare {
  recordings: Recording[] = [] // both, or empty until both are there
  differences: Differences = {event: null, value: null, outputs: []}
  alignment: Alignment | null = null
  position = 0 // joint
  shown = 0 // number of the comparison shown, as counted by Python
  frame: number | null = null
  state = h("div", {class: "state", role: "status", hidden: true})
  words = h("div", {class: "cmp-parting"})
  heard = h("p", {class: "sr", role: "status", "data-testid": "compare-heard"}) // the same in sentences, without its buttons
  ends = h("div", {class: "cmp-ends"})
  range = h("input", {type: "range", min: 0, step: 1, "aria-label": "Position in both runs"})
  strips = [0, 1].map(() => h("div", {class: "cmp-strip", "aria-hidden": "true"})) // for each side: its length, barriers and differences
  modes: HTMLElement[] = [] // event by event, epoch by epoch
  model: Model<"Compare">
  sides: Side[]
  root: HTMLDivElement
  leave: () => void

  constructor(model: Model<"Compare">) {
    this.model = model
    this.sides = [new Side(this, 0), new Side(this, 1)]
    this.root = this.#assemble()
    this.leave = joinComparison(this)
    expose(this)
  }

  /** The first side's moment; undefined before there is a comparison. */
  get moment() {
    return this.sides[0].moment
  }

  #assemble() {
    const button = (name: IconName, label: string, act: () => void, klass = "") =>
      h("button", {type: "button", class: `btn icon ${klass}`, title: label, "aria-label": label, onclick: act}, icon(name))
    this.range.oninput = () => this.seek(+this.range.value)
    this.range.onkeydown = (event) => {
      if (event.key.startsWith("Arrow") || event.key === "Home" || event.key === "End") event.preventDefault()
    }
    const mode = (byEpoch: boolean, words: string, title: string) =>
      h("button", {type: "button", role: "radio", title, onclick: () => this.setMode(byEpoch)}, words)
    this.modes = [
      mode(false, "Event by event", "The same event number in both"),
      mode(true, "Epoch by epoch", "The same event of the same epoch in both"),
    ]
    const tp = h(
      "div",
      {class: "tp"},
      button("start", "To the start (Home)", () => this.seek(0)),
      button("wallBack", "Back to the previous barrier (Shift+←)", () => this.barrier(-1)),
      button("back", "One event back in both (←)", () => this.move(-1)),
      button("on", "One event forward in both (→)", () => this.move(1), "pri"),
      button("wallOn", "Forward to the next barrier (Shift+→)", () => this.barrier(1)),
      button("end", "To the end (End)", () => this.seek(Infinity)),
    )
    const seg = h("div", {class: "seg", role: "radiogroup", "aria-label": "How the two runs are aligned"}, ...this.modes)
    return h(
      "div",
      {class: "stage compare", "data-testid": "compare"},
      this.state,
      h("section", {class: "panel cmp-parts", "aria-label": "Where the two runs differ"}, this.words, this.ends, this.heard),
      h("div", {class: "cmp-halves"}, ...this.sides.map((side) => side.el)),
      h(
        "footer",
        {class: "dock", "aria-label": "Controls for both runs"},
        h("div", {class: "row"}, tp, h("span", {class: "sp"}), seg),
        h("div", {class: "cmp-runs"}, this.range, ...this.strips),
      ),
    )
  }

  /** Show the model's state: two recordings, or what is still awaited. */
  async show() {
    const {model, root} = this,
      {sequence} = model
    if (model.busy || model.error || !model.first?.byteLength || !model.second?.byteLength) {
      delete root.dataset.steps
      return this.#tell(model.error || model.busy, model.error ? "wrong" : "busy")
    }
    if (this.shown === sequence) return this.#present()
    let recordings: [Recording, Recording]
    try {
      recordings = await Promise.all([unpack(model.first), unpack(model.second)])
    } catch (reason) {
      return this.#tell(`The recordings cannot be read: ${messageOf(reason)}`, "wrong")
    }
    if (sequence !== model.sequence) return // newer ones arrived meanwhile
    this.shown = sequence
    this.recordings = recordings
    const metas = [model.first_meta, model.second_meta]
    this.sides.forEach((side, i) => {
      side.open(recordings[i], model.names[i] ?? "", metas[i])
    })
    this.differences = differences(...recordings)
    this.root.dataset.difference = String(both(this.differences.event).map((event) => event + 1))
    this.#report()
    this.setMode(model.alignment === "epoch")
    this.difference()
    this.#present()
  }

  #present() {
    this.#tell("")
    this.root.dataset.steps = String(this.alignment?.length)
  }

  /**
   * Show why there is no comparison.
   * @param words  "" if there is one
   */
  #tell(words: string, klass = "") {
    this.state.textContent = words
    this.state.hidden = !words
    this.state.className = `state ${klass}`
    this.root.classList.toggle("away", klass !== "")
    this.root.classList.toggle("empty", !this.recordings.length)
  }

  /** Show whether the two differ, where first, and which results differ. */
  #report() {
    const {event, value, outputs} = this.differences
    const said: string[] = []
    const fine = (words: string) => {
      said.push(words)
      return h("p", {}, h("span", {class: "cmp-alone"}, severityIcon("ok"), words))
    }
    const unseen = (sign: string) => h("span", {class: "sr"}, sign) // between what only stands apart
    const line = (words: string, found: Pair, klass: string) => {
      const sides = this.sides.map((side, i) => ({name: this.model.names[i], does: side.describe(both(found)[i])}))
      said.push(aloud(`${words}. ${sides.map(({name, does}) => `${name}: ${does}.`).join(" ")}`))
      return h(
        "p",
        {},
        h("span", {}, severityIcon("error"), words, unseen(".")),
        ...sides.map(({name, does}) => h("span", {class: "cmp-at"}, h("small", {}, name, unseen(":")), does, unseen("."))),
        h(
          "button",
          {type: "button", class: `btn ${klass}`, "aria-label": `Show the ${words.toLowerCase()}`, onclick: () => this.part(found)},
          "Show",
        ),
      )
    }
    this.words.replaceChildren(
      event ? line("First different event", event, value ? "" : "pri") : fine("All events are the same in every thread."),
      value
        ? line("First different value", value, "pri")
        : event
          ? fine("Every value is the same on the lines that both have.")
          : "",
    )
    this.heard.textContent = said.join(" ")
    this.ends.replaceChildren(
      ...(outputs.length
        ? outputs.map((output) => this.#output(output))
        : [h("p", {class: "dim"}, "All buffers are the same at the end.")]),
    )
  }

  #output({name, count, of, cells}: OutputDifference) {
    const head = h(
      "summary",
      {},
      h("code", {}, name),
      ` differs at the end in ${count.toLocaleString("en")} of ${of.toLocaleString("en")} elements`,
    )
    const rows = cells.map(({index, first, second}) =>
      h("tr", {}, h("th", {scope: "row"}, `${name}[${index}]`), h("td", {}, first), h("td", {}, second)),
    )
    const names = this.model.names
    return h(
      "details",
      {open: count <= cells.length},
      head,
      h(
        "table",
        {},
        h(
          "thead",
          {},
          h("tr", {}, h("th", {}, h("span", {class: "sr"}, "Element")), ...names.map((one) => h("th", {scope: "col"}, one))),
        ),
        h("tbody", {}, ...rows),
      ),
      count > cells.length ? h("p", {class: "dim"}, `and ${(count - cells.length).toLocaleString("en")} more`) : null,
    )
  }

  /** Align the two by event, or by epoch and event within it. */
  setMode(byEpoch: boolean) {
    const alignment = new Alignment(this.recordings, byEpoch)
    this.alignment = alignment
    this.modes.forEach((el, i) => {
      el.setAttribute("aria-checked", String(Boolean(i) === byEpoch))
    })
    this.range.max = String(alignment.length)
    const percent = (position: number) => `left:${(position / alignment.length) * 100}%`
    const {event, value} = this.differences
    this.strips.forEach((strip, i) => {
      const {moment} = this.sides[i],
        {barriers} = moment
      const marks = [event, value].map((found) => both(found)[i]).filter((e) => e >= 0)
      strip.replaceChildren(
        h("i", {
          class: "cmp-ran",
          style: `width:${(alignment.of(i, this.recordings[i].length) / alignment.length) * 100}%`,
        }),
        ...(barriers.length <= MOST_WALLS
          ? barriers.map((p) => h("i", {class: "cmp-wall", style: percent(alignment.of(i, p))}))
          : []),
        ...marks.map((e) => h("i", {class: "cmp-differs", style: percent(alignment.of(i, moment.after(e)))})),
      )
    })
    this.seek(this.moment.position ? alignment.of(0, this.moment.position) : 0)
  }

  /** Move both to a joint position; Infinity is the end. */
  seek(position: number) {
    const {alignment} = this
    if (!alignment) return
    this.position = Math.max(0, Math.min(alignment.length, position))
    this.sides.forEach((side, i) => {
      side.moment.seek(alignment.at(i, this.position))
    })
    this.paint()
  }

  /** @param way  1: one event forward in both, -1: back */
  move(way: number) {
    this.seek(this.position + way)
  }

  /** @param way  1: to the next barrier of either, -1: to the previous one */
  barrier(way: number) {
    const {alignment} = this
    if (!alignment) return
    const all = this.sides.flatMap((side, i) => side.moment.barriers.map((p) => alignment.of(i, p)))
    const walls = [...new Set(all)].sort((a, b) => a - b)
    const wall = near(walls, this.position, way)
    if (wall !== undefined) this.seek(wall)
  }

  /** Move each to its event of a pair. */
  part(found: Pair) {
    const {alignment} = this
    if (!alignment) return
    const events = both(found)
    const which = events[0] >= 0 ? 0 : 1
    const {moment} = this.sides[which]
    this.position = alignment.of(which, moment.after(events[which]))
    this.sides.forEach((side, i) => {
      side.moment.seek(events[i] >= 0 ? side.moment.after(events[i]) : alignment.at(i, this.position))
    })
    this.#pin(-1)
  }

  /** Move to the first different value, else to the first different event. */
  difference() {
    const found = this.differences.value ?? this.differences.event
    if (found) this.part(found)
  }

  /** Choose a thread in both; if it is chosen already, clear the choice. */
  choose(thread: number) {
    this.#pin(this.moment.pinned === thread ? -1 : thread)
  }

  /**
   * Show a thread in both.
   * @param thread  -1 for the thread of the current event
   */
  #pin(thread: number) {
    for (const {moment} of this.sides) moment.pinned = thread < moment.recording.threads ? thread : -1
    this.paint()
  }

  /**
   * Follow the same cell in both, or stop following it.
   * @param side  the side that the cell belongs to
   */
  follow(side: Side, {memory, cell}: CellRef) {
    const {name, space} = side.recording.memories[memory],
      index = side.recording.memories[memory].index(cell)
    for (const {moment, recording} of this.sides) {
      const m = recording.memories.findIndex((one) => one.name === name && one.space === space),
        there = m < 0 ? -1 : recording.memories[m].cell(index)
      const same = moment.followed?.memory === m && moment.followed.cell === there
      moment.followed = there < 0 || same ? null : {memory: m, cell: there}
    }
    this.paint()
  }

  /** Paint both in the next frame. */
  paint() {
    if (this.frame !== null || !this.alignment) return
    this.frame = requestAnimationFrame(() => {
      this.frame = null
      this.range.value = String(this.position)
      this.root.dataset.step = String(this.position)
      const {event, value} = this.differences
      this.sides.forEach((side, i) => {
        const at = side.moment.event
        side.draw(at >= 0 && [event, value].some((found) => both(found)[i] === at))
      })
      this.root.dataset.painted = String(this.position)
    })
  }

  /** Leave the page. */
  close() {
    if (this.frame !== null) cancelAnimationFrame(this.frame)
    this.leave()
  }
}

export function render({model, el}: Render<"Compare">) {
  style(el)
  const compare = new Compare(model)
  const show = soon(() => compare.show())
  for (const name of ["sequence", "busy", "error"]) model.on(name, show)
  model.on("remove", () => compare.close())
  show()
  return compare.root
}
