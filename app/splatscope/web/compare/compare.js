// Two recordings side by side, moved together, with the first place at which they part.
import {h, soon, style} from "#web/shell/dom.js"
import {Side} from "./side.js"
import {icon, severity} from "#web/stepper/panes/icons.js"
import {differences} from "./difference.js"
import {Alignment} from "./alignment.js"
import {joinComparison} from "#web/stepper/keys.js"
import {expose} from "#web/stepper/steppers.js"
import {near} from "#web/stepper/model/moment.js"
import {unpack} from "#web/stepper/model/recording.js"

const MOST_WALLS = 120 // drawn of one recording

export class Compare {
  constructor(model) {
    this.model = model
    this.position = 0
    this.sides = [new Side(this, 0), new Side(this, 1)]
    this.root = this.#assemble()
    this.leave = joinComparison(this)
    expose(this)
  }

  get moment() {
    return this.sides[0].moment
  } // of a comparison that is there

  #assemble() {
    const button = (name, label, act) =>
      h("button", {type: "button", class: "btn icon", title: label, "aria-label": label, onclick: act}, icon(name))
    this.state = h("div", {class: "state", role: "status", hidden: true})
    this.words = h("div", {class: "cmp-parting", role: "status"})
    this.ends = h("div", {class: "cmp-ends"})
    this.range = h("input", {type: "range", min: 0, step: 1, "aria-label": "Moment of both runs"})
    this.range.oninput = () => this.seek(+this.range.value)
    this.range.onkeydown = (event) => {
      if (event.key.startsWith("Arrow") || event.key === "Home" || event.key === "End") event.preventDefault()
    }
    this.strips = this.sides.map(() => h("div", {class: "cmp-strip", "aria-hidden": "true"}))
    const mode = (byEpoch, words, title) =>
      h("button", {type: "button", role: "radio", title, onclick: () => this.setMode(byEpoch)}, words)
    this.modes = [
      mode(false, "Event by event", "The same event number in both"),
      mode(true, "Epoch by epoch", "The same event of the same epoch in both"),
    ]
    const tp = h(
      "div",
      {class: "tp"},
      button("start", "To the start (Home)", () => this.seek(0)),
      button("wallBack", "Back to the last barrier (Shift+←)", () => this.barrier(-1)),
      button("back", "One event back in both (←)", () => this.move(-1)),
      button("on", "One event on in both (→)", () => this.move(1)),
      button("wallOn", "On to the next barrier (Shift+→)", () => this.barrier(1)),
      button("end", "To the end (End)", () => this.seek(Infinity)),
    )
    const seg = h(
      "div",
      {class: "seg", role: "radiogroup", "aria-label": "What the two have in common at each moment"},
      ...this.modes,
    )
    return h(
      "div",
      {class: "stage compare", "data-testid": "compare"},
      this.state,
      h("section", {class: "panel cmp-parts", "aria-label": "Where the two differ"}, this.words, this.ends),
      h("div", {class: "cmp-halves"}, ...this.sides.map((side) => side.el)),
      h(
        "footer",
        {class: "dock", "aria-label": "Transport of both runs"},
        h("div", {class: "row"}, tp, h("span", {class: "sp"}), seg),
        h("div", {class: "cmp-runs"}, this.range, ...this.strips),
      ),
    )
  }

  async show() {
    const {model, root} = this,
      {sequence} = model
    if (model.busy || model.error || !model.first?.byteLength || !model.second?.byteLength) {
      delete root.dataset.steps
      return this.#tell(model.error || model.busy, model.error ? "wrong" : "busy")
    }
    if (this.shown === sequence) return this.#present()
    let recordings
    try {
      recordings = await Promise.all([unpack(model.first), unpack(model.second)])
    } catch (reason) {
      return this.#tell(`The recordings cannot be read: ${reason.message}`, "wrong")
    }
    if (sequence !== model.sequence) return // others came meanwhile
    this.shown = sequence
    this.recordings = recordings
    const metas = [model.first_meta, model.second_meta]
    this.sides.forEach((side, i) => side.open(recordings[i], model.names[i] ?? "", metas[i]))
    this.parting = differences(...recordings)
    this.root.dataset.difference = [this.parting.event?.first ?? -1, this.parting.event?.second ?? -1].map((event) => event + 1)
    this.#report()
    this.setMode(model.alignment === "epoch")
    if (this.parting.value ?? this.parting.event) this.part(this.parting.value ?? this.parting.event)
    this.#present()
  }

  #present() {
    this.#tell("")
    this.root.dataset.steps = this.alignment.length
  }

  #tell(words, klass = "") {
    this.state.textContent = words
    this.state.hidden = !words
    this.state.className = `state ${klass}`
    this.root.classList.toggle("away", klass !== "")
    this.root.classList.toggle("empty", !this.recordings)
  }

  // In words: whether they part, where, and what is left different.
  #report() {
    const {event, value, outputs} = this.parting
    const fine = (words) => h("p", {}, h("span", {class: "cmp-alone"}, severity("ok"), words))
    const line = (words, found, klass) =>
      h(
        "p",
        {},
        h("span", {}, severity("error"), words),
        ...this.sides.map((side, i) =>
          h("span", {class: "cmp-at"}, h("small", {}, this.model.names[i]), side.describe([found.first, found.second][i])),
        ),
        h(
          "button",
          {type: "button", class: `btn ${klass}`, "aria-label": `Show the ${words.toLowerCase()}`, onclick: () => this.part(found)},
          "Show",
        ),
      )
    this.words.replaceChildren(
      event ? line("First different event", event, value ? "" : "pri") : fine("Event for event the same in every thread."),
      value
        ? line("First different value", value, "pri")
        : event
          ? fine("On the lines that both have, every value is the same.")
          : "",
    )
    this.ends.replaceChildren(
      ...(outputs.length
        ? outputs.map((output) => this.#output(output))
        : [h("p", {class: "dim"}, "The buffers end up the same.")]),
    )
  }

  #output({name, count, of, cells}) {
    const head = h(
      "summary",
      {},
      h("code", {}, name),
      ` ends up different in ${count.toLocaleString("en")} of ${of.toLocaleString("en")} elements`,
    )
    const rows = cells.map(({index, first, second}) =>
      h("tr", {}, h("td", {}, `${name}[${index}]`), h("td", {}, first), h("td", {}, second)),
    )
    const names = this.model.names
    return h(
      "details",
      {open: count <= cells.length},
      head,
      h("table", {}, h("thead", {}, h("tr", {}, h("th"), h("th", {}, names[0]), h("th", {}, names[1]))), h("tbody", {}, ...rows)),
      count > cells.length ? h("p", {class: "dim"}, `and ${(count - cells.length).toLocaleString("en")} more`) : null,
    )
  }

  setMode(byEpoch) {
    this.alignment = new Alignment(this.recordings, byEpoch)
    this.modes.forEach((el, i) => el.setAttribute("aria-checked", String(Boolean(i) === byEpoch)))
    this.range.max = this.alignment.length
    const percent = (position) => `left:${(position / this.alignment.length) * 100}%`
    const {event, value} = this.parting
    this.strips.forEach((strip, i) => {
      const {moment} = this.sides[i],
        {barriers} = moment
      const marks = [event, value].map((found) => [found?.first, found?.second][i]).filter((e) => e >= 0)
      strip.replaceChildren(
        h("i", {
          class: "cmp-ran",
          style: `width:${(this.alignment.of(i, this.recordings[i].length) / this.alignment.length) * 100}%`,
        }),
        ...(barriers.length <= MOST_WALLS
          ? barriers.map((p) => h("i", {class: "cmp-wall", style: percent(this.alignment.of(i, p))}))
          : []),
        ...marks.map((e) => h("i", {class: "cmp-differs", style: percent(this.alignment.of(i, moment.after(e)))})),
      )
    })
    this.seek(this.sides[0].moment.position ? this.alignment.of(0, this.sides[0].moment.position) : 0)
  }

  // Both to a joint position.
  seek(position) {
    if (!this.alignment) return
    this.position = Math.max(0, Math.min(this.alignment.length, position))
    this.sides.forEach((side, i) => side.moment.seek(this.alignment.at(i, this.position)))
    this.paint()
  }

  move(way) {
    this.seek(this.position + way)
  }

  barrier(way) {
    const walls = [...new Set(this.sides.flatMap((side, i) => side.moment.barriers.map((p) => this.alignment.of(i, p))))].sort(
      (a, b) => a - b,
    )
    this.seek(near(walls, this.position, way) ?? (way > 0 ? Infinity : 0))
  }

  // Each to where it parts from the other.
  part(found) {
    const events = [found.first, found.second]
    const which = events[0] >= 0 ? 0 : 1
    const {moment} = this.sides[which]
    this.position = this.alignment.of(which, moment.after(events[which]))
    this.sides.forEach((side, i) =>
      side.moment.seek(events[i] >= 0 ? side.moment.after(events[i]) : this.alignment.at(i, this.position)),
    )
    this.choose(this.recordings[which].thread[events[which]], true)
  }

  difference() {
    const found = this.parting.value ?? this.parting.event
    if (found) this.part(found)
  }

  choose(thread, stay = false) {
    const kept = !stay && this.sides[0].moment.pinned === thread
    for (const {moment} of this.sides) moment.pinned = kept || stay || thread >= moment.recording.threads ? -1 : thread
    this.paint()
  }

  // The same cell of both.
  follow(side, {memory, cell}) {
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

  paint() {
    if (this.frame || !this.alignment) return
    this.frame = requestAnimationFrame(() => {
      this.frame = null
      this.range.value = this.position
      this.root.dataset.step = this.position
      const {event, value} = this.parting
      this.sides.forEach((side, i) =>
        side.draw(
          [event, value].some((found) => found && [found.first, found.second][i] === side.moment.event && side.moment.event >= 0),
        ),
      )
      this.root.dataset.painted = this.position
    })
  }

  close() {
    cancelAnimationFrame(this.frame)
    this.leave()
  }
}

export function render({model, el}) {
  style(el)
  const compare = new Compare(model)
  const show = soon(() => compare.show())
  for (const name of ["sequence", "busy", "error"]) model.on(name, show)
  model.on("remove", () => compare.close())
  show()
  return compare.root
}
