// What: shared arrays and small buffers, cell by cell, with the threads' latest accesses.
import {isFloat} from "#web/recording/values.ts"
import {h, targetOf, zoomOf} from "#web/runtime/dom.ts"
import {isLoad} from "#web/recording/accesses.ts"
import {cellName, subscript} from "#web/recording/describe.ts"
import {ViewChoice, drawPicture} from "./memory_view.ts"
import {GRID_AND_ENDS, onArrows} from "#web/widgets/roving.ts"
import type {Moment} from "#web/recording/moment.ts"
import type {Recording} from "#web/recording/recording.ts"
import type {State} from "#web/recording/state.ts"
import type {Memory as Cells, PaneOwner, Site} from "#web/types.ts"

const MOST = 1024 // cells drawn for one memory; for a larger memory, those around the last access
const LONG = 5 // characters that fit into any cell
const OPEN = [16, 128] // cells up to which a buffer is open at first: if there is shared memory, and if there is none

/** By target: each running thread's last access in this epoch. */
type Marks = Map<number, [mark: "rd" | "wr", site: Site]>
type Word = keyof typeof WORDS

export class Memory {
  recording: Recording
  raced = new Set<number>() // cells, numbered like the targets of events
  grids: Grid[] = []
  views = new Map<string, string[]>() // by memory, the way it was last displayed
  owner: PaneOwner
  list: HTMLDivElement
  key: HTMLDivElement
  el: HTMLElement

  constructor(owner: PaneOwner) {
    this.owner = owner
    this.list = h("div", {class: "mems", role: "region", "aria-label": "Memory, cell by cell"})
    const key: [string, Word][] = [
      ["wr", "written"],
      ["rd", "read"],
      ["st", "stale"],
      ["rc", "raced"],
      ["", "not written"],
      ["sel", "followed"],
    ]
    this.key = h(
      "div",
      {class: "key"},
      ...key.map(([klass, word]) =>
        h(
          "span",
          {title: WORDS[word]},
          h("i", {class: `cell ${klass}`}, klass ? "" : "·"),
          word === "followed" ? "followed: choose a cell" : word,
        ),
      ),
    )
    this.el = h("section", {class: "panel memory", "aria-label": "Memory"}, this.list, this.key)
    this.list.addEventListener("click", (event) => {
      const cell = targetOf(event)?.closest(".cell") as HTMLElement | null | undefined
      if (!cell) return
      this.owner.follow({memory: Number(cell.dataset.memory), cell: Number(cell.dataset.cell)})
      if (event.detail) cell.blur() // after a click, the arrow keys step the run again
    })
  }

  /** @param wanted  names of the memories to show; empty for all */
  open(recording: Recording, wanted: string[] = []) {
    this.recording = recording
    this.raced = new Set()
    for (const finding of recording.findings) {
      if (!finding.kind.endsWith("race")) continue
      const m = recording.memories.findIndex((memory) => memory.name === finding.name)
      if (m >= 0) this.raced.add(recording.memories[m].first + recording.memories[m].cell(finding.index) + 1)
    }
    const shown = recording.memories.filter(({count, name}) => count && (!wanted.length || wanted.includes(name)))
    const most = OPEN[shown.some(({space}) => space === "shared") ? 0 : 1]
    for (const {memory, choice} of this.grids) this.views.set(memory.name, choice.chosen)
    this.grids = shown.map((memory) => new Grid(recording, memory, recording.memories.indexOf(memory), most))
    this.list.replaceChildren(...this.grids.map((grid) => grid.el))
    for (const grid of this.grids) {
      const view = this.views.get(grid.memory.name)
      if (view) grid.choice.choose(view)
      grid.el.ontoggle = () => this.owner.paint()
      grid.changed = () => this.owner.paint()
      grid.followed = (cell) => this.owner.follow({memory: grid.number, cell})
    }
    if (!shown.length) this.list.append(h("p", {class: "none"}, "This kernel accesses no memory that threads share."))
    this.key.hidden = !shown.length
  }

  /** Forget how memories were displayed: another kernel may have different ones with the same names. */
  forget() {
    this.grids = []
    this.views = new Map()
  }

  paint(moment: Moment) {
    const {recording} = this,
      {state} = moment
    const marks = new Map() // place → [rd or wr, site], of each running thread's last access in this epoch
    const mark = (event: number) => {
      const site = recording.about(event)
      if (site.memory === undefined || !recording.target[event]) return
      marks.set(recording.target[event], [isLoad(recording, event) ? "rd" : "wr", site])
    }
    for (let t = 0; t < recording.threads; t++) {
      const access = state.access(t)
      if (access && state.status(t) === "run") mark(access - 1)
    }
    if (moment.event >= 0) mark(moment.event)
    for (const grid of this.grids) if (grid.el.open) grid.paint(moment, marks, this.raced)
  }
}

const WORDS = {
  written: "a thread wrote it just now",
  read: "a thread read it just now",
  stale: "its new value was written after it was read, in the same epoch",
  raced: "two threads raced on it",
  "not written": "it has no value yet",
  followed: "its history is shown below",
}

/** A drawn cell: an element for each part, and what these show now. */
interface DrawnCell {
  els: HTMLElement[]
  words: Uint32Array | null
  code: number
  texts: string[]
  klasses: string[]
}

/** Cells per row for a memory of numbers: a row of a multi-dimensional array, or an even part of one. */
function columnsOf({dims, count}: Cells) {
  const last = dims.length > 1 ? dims[dims.length - 1] : 0
  if (!last) return Math.min(8, count)
  if (last <= 20) return last
  for (let columns = 16; columns >= 4; columns--) if (last % columns === 0) return columns
  return 8
}

/** One memory, cell by cell. */
class Grid {
  first = 0 // the first cell drawn
  longest = 0 // characters of the longest text shown so far
  columns = 1
  stop: HTMLElement | null = null // the cell that is the tab stop
  cells: DrawnCell[] | null = null
  changed = () => {} // called when it must be repainted
  followed = (_cell: number) => {} // called when a pixel of its picture is clicked
  recording: Recording
  memory: Cells
  number: number
  about: HTMLSpanElement
  hint: HTMLSpanElement
  body: HTMLDivElement
  choice: ViewChoice
  picture: HTMLCanvasElement
  el: HTMLDetailsElement
  parts: number

  /**
   * @param number  of the memory
   * @param most  cells up to which it is open at first
   */
  constructor(recording: Recording, memory: Cells, number: number, most: number) {
    this.recording = recording
    this.memory = memory
    this.number = number
    const shared = memory.space === "shared"
    const type = `${memory.type || (memory.parts.length > 1 ? "struct" : "")}`
    const size =
      memory.count === 1 && !memory.dims.length && shared
        ? ""
        : `[${memory.dims.length > 1 ? memory.dims.join("][") : memory.extent.toLocaleString("en")}]`
    this.about = h("span", {class: "dim"}, `${shared ? "groupshared" : "buffer"} ${type}${size}`)
    this.hint = h("span", {class: "dim hint"})
    this.body = h("div", {class: "grid"})
    const side = Math.round(Math.sqrt(memory.extent)),
      square =
        memory.dims.length > 1
          ? memory.dims[memory.dims.length - 1]
          : side * side === memory.extent
            ? side
            : Math.min(64, memory.extent)
    this.choice = new ViewChoice(memory, square, () => {
      this.cells = null
      this.changed()
    })
    this.picture = h("canvas", {class: "picture", role: "img", hidden: true})
    this.picture.onclick = ({offsetX, offsetY}) => {
      const {clientWidth, clientHeight, width, height} = this.picture
      const at = Math.floor((offsetY / clientHeight) * height) * width + Math.floor((offsetX / clientWidth) * width)
      const cell = memory.cell(at)
      if (cell >= 0) this.followed(cell)
    }
    this.el = h(
      "details",
      {class: "mem", "data-memory": memory.name},
      h("summary", {class: "ph"}, h("h2", {class: "mono"}, memory.name), this.about, h("span", {class: "sp"}), this.hint),
      this.choice.el,
      this.body,
      this.picture,
    )
    this.body.addEventListener("focusin", (event) => this.#stopAt(event.target as HTMLElement))
    onArrows(this.body, GRID_AND_ENDS, ([across, down], event) => this.#move(event.target as HTMLElement, across, down))
    this.body.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return
      event.preventDefault()
      targetOf(event)?.dispatchEvent(new MouseEvent("click", {bubbles: true}))
    })
    this.el.open = shared || memory.count <= most
    this.parts = memory.parts.length || 1
  }

  /**
   * Make the cells starting with one, in as many columns as their contents allow. A struct or vector has a row per cell and a
   * column per part.
   */
  #build(first: number) {
    const {memory, number} = this,
      struct = this.#struct
    const focused = this.cells && this.stop?.matches(":focus") ? this.stop : null
    first -= struct ? first % struct.length : 0
    this.first = first
    const until = Math.min(memory.count, first + MOST)
    const wide = this.parts > 1
    const {perRow = 0} = this.choice.view ?? {}
    const columns = wide
      ? this.parts
      : struct
        ? struct.length
        : Math.min(columnsOf(memory), (memory.dims.length < 2 && perRow) || Infinity)
    this.columns = columns
    this.body.style.setProperty("--columns", String(columns))
    this.body.classList.toggle("small", wide || columns > 8)
    this.body.classList.toggle("many", columns > 8)
    this.body.classList.toggle("words", perRow > 0)
    this.longest = 0
    this.body.classList.toggle("float", !wide && isFloat(memory.parts[0]?.[1]))
    const parts = []
    if (wide)
      parts.push(h("span", {class: "ix"}), ...memory.parts.map(([name]) => h("span", {class: "part"}, name.replace(/^\./, ""))))
    if (struct) parts.push(h("span", {class: "ix"}), ...struct.map(({label}) => h("span", {class: "part"}, label)))
    const cells: DrawnCell[] = []
    for (let cell = first; cell < until; cell++) {
      const label = struct ? `[${cell / columns}]` : subscript(memory, memory.index(cell))
      if (wide || (cell - first) % columns === 0) parts.push(h("span", {class: "ix"}, label.slice(1, -1).replace("][", ",")))
      const els = Array.from({length: wide ? columns : 1}, (_, part) =>
        h("span", {
          class: "cell",
          role: "button",
          tabindex: "-1",
          "aria-pressed": "false",
          "aria-description": "", // its name says what its title does
          title: cellName(memory, cell) + (wide ? memory.parts[part][0] : ""),
          "data-memory": number,
          "data-cell": cell,
          "data-part": part,
        }),
      )
      parts.push(...els)
      cells.push({els, words: null, code: 0, texts: [], klasses: []})
    }
    this.cells = cells
    this.body.replaceChildren(...parts)
    this.#stopAt(cells[0].els[0])
    if (focused) this.stop?.focus()
    if (memory.count > MOST)
      this.hint.textContent = `${first.toLocaleString("en")} to ${(until - 1).toLocaleString("en")} of ${memory.count.toLocaleString("en")}`
  }

  /** The columns if the memory is displayed as structs, else null. A memory with missing cells cannot be. */
  get #struct() {
    const columns = this.choice.view?.columns ?? []
    return columns.length > 1 && this.memory.width === 1 && this.memory.count === this.memory.extent ? columns : null
  }

  /** The texts of a cell, one for each part; null if they are not known. */
  #texts(state: State, cell: number) {
    const {view} = this.choice
    if (!view) return state.cell(this.number, cell)
    const at = state.cellAt(this.number, cell),
      {columns} = view
    const {show} = columns[this.#struct ? cell % columns.length : 0]
    return this.memory.parts.map(([, , word]) =>
      state.words[at] & (1 << Math.min(word, 31)) ? show(state.words[at + 3 + word]) : null,
    )
  }

  paint(moment: Moment, marks: Marks, raced: Set<number>) {
    const {recording, memory, number} = this,
      {state, followed} = moment
    const {view} = this.choice
    this.body.hidden = Boolean(view?.picture)
    this.picture.hidden = !view?.picture
    if (view?.picture) {
      const words = drawPicture(this.picture, memory, number, state, view.picture)
      this.picture.title = words
      this.picture.setAttribute("aria-label", `${memory.name} as a picture: ${words}`)
      return
    }
    const access = moment.event < 0 ? null : recording.cellOf(moment.event),
      touched = access?.memory === number ? access.cell : -1
    const seen = touched >= 0 ? touched : followed?.memory === number ? followed.cell : this.first
    if (!this.cells || seen < this.first || seen >= this.first + MOST) this.#build(Math.floor(seen / MOST) * MOST)
    const cells = this.cells ?? [],
      {words} = state,
      width = memory.width
    const follows = followed?.memory === number ? followed.cell : -1
    for (let i = 0; i < cells.length; i++) {
      const shown = cells[i],
        cell = this.first + i,
        at = state.cellAt(number, cell),
        target = memory.first + cell + 1
      const before = shown.words
      let same = before !== null
      for (let w = 0; same && before && w <= width; w++) same = before[w] === words[at + (w ? w + 2 : 0)]
      if (!same) {
        const now = before ?? new Uint32Array(width + 1)
        shown.words = now
        for (let w = 0; w <= width; w++) now[w] = words[at + (w ? w + 2 : 0)]
        const values = this.#texts(state, cell)
        shown.els.forEach((el, part) => {
          const value = values[part] ?? "·"
          if (shown.texts[part] === value) return
          shown.texts[part] = value
          el.textContent = value
          el.ariaLabel = `${el.title}: ${values[part] ?? "not written"}`
          el.toggleAttribute("data-long", value.length > LONG)
          if (value.length <= this.longest) return
          this.longest = value.length
          this.body.style.setProperty("--longest", `${value.length}ch`)
        })
      }
      const written = words[at + 1],
        read = words[at + 2],
        mark = marks.get(target)
      const stale =
        written &&
        read &&
        mark?.[0] !== "wr" &&
        recording.epoch[written - 1] === recording.epoch[read - 1] &&
        recording.thread[written - 1] !== recording.thread[read - 1] &&
        moment.after(written - 1) > moment.after(read - 1)
      const code =
        (mark ? (mark[0] === "rd" ? 1 : 2) : 0) + (stale ? 4 : 0) + (raced.has(target) ? 8 : 0) + (follows === cell ? 16 : 0)
      if (code === shown.code && !(mark && this.parts > 1)) continue
      shown.code = code
      const klass = `cell${stale ? " st" : ""}${code & 8 ? " rc" : ""}${code & 16 ? " sel" : ""}`
      shown.els.forEach((el, part) => {
        const own = mark && (!mark[1].puts || mark[1].puts.includes(memory.parts[part]?.[2])) ? `${klass} ${mark[0]}` : klass
        if (shown.klasses[part] === own) return
        shown.klasses[part] = own
        el.className = own
        el.ariaPressed = String(follows === cell)
      })
    }
    if (touched >= 0) this.#scroll(cells[touched - this.first].els[0])
  }

  /** Make a cell the tab stop of its memory. */
  #stopAt(cell: HTMLElement) {
    if (this.stop) this.stop.tabIndex = -1
    this.stop = cell
    cell.tabIndex = 0
  }

  /**
   * Move the focus from one cell to another, within the cells there are.
   * @param across  columns; ±Infinity for the first or last cell
   * @param down  rows
   */
  #move(from: HTMLElement, across: number, down: number) {
    const all = (this.cells ?? []).flatMap(({els}) => els)
    const to = all.indexOf(from) + across + down * this.columns
    const ends = Number.isFinite(to) ? to : to < 0 ? 0 : all.length - 1
    all[ends]?.focus()
  }

  /** Scroll a cell into view. */
  #scroll(el: HTMLElement) {
    const pane = this.el.parentElement
    if (!pane) return
    const box = el.getBoundingClientRect(),
      frame = pane.getBoundingClientRect()
    if (box.top < frame.top) pane.scrollTop -= (frame.top - box.top) / zoomOf(pane) + 8
    else if (box.bottom > frame.bottom) pane.scrollTop += (box.bottom - frame.bottom) / zoomOf(pane) + 8
  }
}
