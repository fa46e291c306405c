// Who: the chosen thread's variables, and all threads side by side.
import {h, targetOf, zoomOf} from "#web/runtime/dom.ts"
import {usedConstants} from "#web/recording/expressions/constants.ts"
import {threadName} from "#web/recording/expressions/ids.ts"
import {lookup} from "#web/recording/expressions/lookup.ts"
import {showQuantity} from "#web/recording/expressions/quantities.ts"
import {show} from "#web/recording/values.ts"
import {ThreadOrder} from "./thread_order.ts"
import {type Watch, Watches} from "./watches.ts"
import type {Moment} from "#web/recording/moment.ts"
import type {Recording} from "#web/recording/recording.ts"
import type {PaneOwner} from "#web/types.ts"

const SPARE = 8 // rows are added and removed in groups of this size, and fewer than that are kept beyond those in view
const WHOLE = 32 // up to this many rows are all kept, in view or not

/** A thread's row, and its current contents. */
interface Row {
  el: HTMLElement
  lane: HTMLElement
  line: Text
  wall: HTMLElement
  /** Boxes of the watched expressions. */
  seen: HTMLElement[]
  /** Boxes of the variables. */
  cells: HTMLElement[]
  /** Whether it is the first of its wave. */
  start: boolean
  /** Texts of `seen`. */
  watched: string[]
  /** Texts of `cells`. */
  texts: string[]
  /** Classes of `cells`. */
  klasses: string[]
  klass?: string
  mark?: string
  at?: string
  walled?: boolean
}

export class Threads {
  recording: Recording
  columns: number[] = [] // variables of the current function
  shownColumns: string | null = null
  shownVariables: string | null = null
  functions = new Map<string, number[]>() // by function, its variables that are ever set
  entries = new Map<number, {el: HTMLElement; value: HTMLElement}>() // entries of the chosen thread's variables
  watched: Watch[] = []
  widths: number[] = [] // widths of the columns, in characters
  lines: Row[] = []
  head: HTMLElement[] = [] // heads of the columns
  body = h("tbody")
  above = h("tr", {"aria-hidden": "true"}, h("td"))
  below = h("tr", {"aria-hidden": "true"}, h("td"))
  range = "" // key of the rows that exist
  rowHeight = 0
  inView = -1 // the thread that was brought into view last
  owner: PaneOwner
  watches: Watches
  order: ThreadOrder
  words: HTMLSpanElement
  name: HTMLHeadingElement
  where: HTMLSpanElement
  mine: HTMLDivElement
  table: HTMLTableElement
  wrap: HTMLDivElement
  el: HTMLElement

  constructor(owner: PaneOwner) {
    this.owner = owner
    this.watches = new Watches(owner)
    this.order = new ThreadOrder(owner)
    this.words = h("span", {class: "dim num"})
    this.name = h("h2", {})
    this.where = h("span", {class: "dim"})
    this.mine = h("div", {class: "vars"})
    this.table = h("table", {class: "lanes"})
    this.wrap = h("div", {class: "tblwrap", tabindex: "0", role: "region", "aria-label": "Variables of all threads"}, this.table)
    this.el = h(
      "section",
      {class: "panel threads", "aria-label": "Threads and their variables"},
      h(
        "div",
        {class: "ph"},
        this.name,
        this.where,
        h("span", {class: "sp"}),
        h("span", {class: "dim"}, h("i", {class: "tri"}, "▸"), " changed"),
      ),
      this.mine,
      this.watches.el,
      h("div", {class: "ph second"}, h("h2", {}, "All threads"), this.words, h("span", {class: "sp"}), this.order.input),
      this.order.wrong,
      this.wrap,
    )
    this.wrap.addEventListener("scroll", () => this.owner.moment && this.#rows(this.owner.moment), {passive: true})
    // a thread with more variables leaves less room for the list
    new ResizeObserver(() => this.owner.moment && this.inView >= 0 && this.#show(this.owner.moment)).observe(this.wrap)
    this.table.addEventListener("click", (event) => {
      const row = targetOf(event)?.closest("tr[data-thread]") as HTMLElement | null | undefined,
        cell = targetOf(event)?.closest("td")
      if (!row) return
      const thread = Number(row.dataset.thread),
        at = cell ? [...row.children].indexOf(cell) - 2 - this.watched.length : -1
      if (at >= 0 && cell?.textContent) this.owner.follow({thread, variable: this.columns[at]})
      else this.owner.choose(thread)
    })
  }

  open(recording: Recording) {
    this.recording = recording
    this.inView = -1
    this.shownColumns = null
    this.functions = new Map()
    const set = recording.everSet // the others would be columns with nothing in them
    recording.variables.forEach(({width, function: name}, v) => {
      if (!width || !set[v]) return
      const others = this.functions.get(name)
      if (others) others.push(v)
      else this.functions.set(name, [v])
    })
    this.entries = new Map()
    this.shownVariables = null
    this.watches.open(recording)
    this.order.open(recording)
  }

  paint(moment: Moment) {
    const {recording} = this,
      {state, thread} = moment,
      last = state.last(thread) - 1
    const at = last >= 0 ? last : recording.nth(thread, 0)
    const current = at < 0 ? recording.head.entry : recording.about(at).function || recording.head.entry
    this.name.textContent = `Thread ${threadName(thread, recording.head.group_size)}`
    this.where.textContent = moment.pinned >= 0 ? `${current}, pinned` : current
    this.#variables(moment)
    this.watches.paint(moment)
    this.#columns(current)
    const counts = {run: 0, apart: 0, wait: 0, held: 0, done: 0}
    for (let t = 0; t < recording.threads; t++) counts[moment.status(t)]++
    this.words.textContent = [
      [counts.run, "run"],
      [counts.apart, "diverged"],
      [counts.wait, "wait"],
      [counts.held, "released"],
      [counts.done, "done"],
    ]
      .filter(([n]) => n)
      .map(([n, word]) => `${n.toLocaleString("en")} ${word}`)
      .join(", ")
    this.words.title = counts.held
      ? `${this.words.textContent} (released: all threads have reached its barrier)`
      : this.words.textContent
    this.#rows(moment)
    if (thread !== this.inView) requestAnimationFrame(() => this.#show(moment)) // after layout
    if (this.order.list.length < recording.threads)
      this.words.textContent = `${this.order.list.length.toLocaleString("en")} of ${recording.threads.toLocaleString("en")}`
  }

  /** Scroll to the chosen thread's row when the choice has changed. */
  #show(moment: Moment) {
    const {wrap} = this,
      {thread} = moment
    if (this.owner.moment !== moment || !wrap.clientHeight) return
    this.inView = thread
    const index = this.order.list.indexOf(thread)
    if (index < 0) return
    const row = this.lines[thread].el
    if (!row.isConnected) {
      wrap.scrollTop = index * this.rowHeight
      this.#rows(moment)
    }
    const [at, room] = [row.getBoundingClientRect(), wrap.getBoundingClientRect()]
    const zoom = zoomOf(wrap)
    const top = room.top + (this.table.tHead?.offsetHeight ?? 0) * zoom // the table's head stays in view
    const bottom = room.top + wrap.clientHeight * zoom
    const beside = at.height // keep the previous or next thread in view, too
    if (at.top - beside < top) wrap.scrollTop -= (top - at.top + beside) / zoom
    else if (at.bottom + beside > bottom) {
      wrap.scrollTop += (at.bottom + beside - bottom) / zoom
      const first = [...this.body.rows].map((one) => one.getBoundingClientRect().top).find((y) => y >= top - 1)
      if (first !== undefined) wrap.scrollTop += (first - top) / zoom // no row is half under the head
    }
  }

  /**
   * The chosen thread's calls, the innermost first, each with the variables that it has set and its current line. For a recursive
   * function, the innermost call's variables are shown.
   */
  #frames(moment: Moment): {name: string; line: number; file: number; variables: number[]}[] {
    const {recording} = this,
      {state, thread} = moment,
      turn = state.done(thread) - 1,
      found = [],
      shown = new Set()
    let line = turn < 0 ? 0 : recording.about(recording.nth(thread, turn)).line
    for (let frame = recording.stacks.at(thread, Math.max(0, turn)); frame; frame = frame.parent) {
      const {begin, function: name} = frame
      const variables = shown.has(name)
        ? []
        : (this.functions.get(name) ?? []).filter((v) => {
            const set = state.set(thread, v)
            return set && recording.turn[set - 1] >= begin
          })
      shown.add(name)
      const file = recording.file[recording.site[recording.nth(thread, begin)]]
      found.push({name, line, file, variables})
      line = recording.stacks.calledFrom(thread, frame)
    }
    return found
  }

  /** Show the call stack, with the variables of each call below it. */
  #variables(moment: Moment) {
    const {state, thread} = moment
    const frames = this.#frames(moment)
    const key = JSON.stringify(frames)
    if (key !== this.shownVariables) {
      this.shownVariables = key
      const heads = frames.length > 1
      const parts = frames.flatMap(({name, line, file, variables}, i) => [
        ...(heads
          ? [
              h(
                "button",
                {
                  type: "button",
                  class: "fn",
                  title: i ? `${name} called ${frames[i - 1].name} on line ${line}` : `${name} is on line ${line}`,
                  onclick: () => this.owner.reveal?.(file, line),
                },
                h("span", {}, name),
                h("span", {class: "num"}, `line ${line}`),
              ),
            ]
          : []),
        ...variables.map((v) => this.#entry(v).el),
      ])
      const none = frames.some(({variables}) => variables.length) ? [] : [h("div", {class: "none"}, "No variable has a value yet.")]
      this.mine.replaceChildren(...parts, ...none, ...this.#given(moment))
    }
    for (const v of frames.flatMap(({variables}) => variables)) {
      const entry = this.#entry(v),
        value = state.value(thread, v),
        followed = moment.followed?.variable === v && moment.followed.thread === thread
      const klass = `var${state.changed(thread, v) ? " ch" : ""}${followed ? " sel" : ""}`
      if (entry.value.textContent !== value) entry.value.textContent = value
      if (entry.el.className !== klass) entry.el.className = klass
      entry.el.ariaPressed = String(followed)
    }
  }

  /**
   * The values that are the same for all threads, if the recording has them: uniforms, members of constant buffers, and constants
   * of the sources.
   */
  #given({state, thread}: Moment) {
    const {recording} = this,
      {uniforms} = recording
    if (!recording.head.uniforms) return []
    const look = lookup(recording, state, thread)
    const constants = [...usedConstants(recording)].flatMap((name) => {
      const value = look(name, [])
      return value ? [[name, showQuantity(value)]] : []
    })
    if (!uniforms.length && !constants.length) return []
    const rows = uniforms.map(({name, type, words}) =>
      h(
        "div",
        {class: "var", title: `${type} ${name}, set by the host`, "data-uniform": name},
        h("span", {}, name),
        h("b", {}, show(words, 0, type)),
      ),
    )
    const more = constants.map(([name, value]) =>
      h("div", {class: "var", title: `${name}, a constant`, "data-constant": name}, h("span", {}, name), h("b", {}, value)),
    )
    return [h("div", {class: "fn given"}, "Constants and uniforms"), ...rows, ...more]
  }

  #entry(v: number) {
    const known = this.entries.get(v)
    if (known) return known
    const value = h("b", {}),
      {name, type} = this.recording.variables[v]
    const el = h(
      "button",
      {type: "button", class: "var", title: `${type} ${name}: who wrote it?`, "data-variable": name},
      h("span", {}, name),
      value,
    )
    el.onclick = () => this.owner.moment && this.owner.follow({thread: this.owner.moment.thread, variable: v})
    const entry = {el, value}
    this.entries.set(v, entry)
    return entry
  }

  /** Rebuild the table for other columns: the watched expressions and the function's variables. */
  #columns(current: string) {
    const columns = (this.functions.get(current) ?? []).filter((v) => !this.recording.variables[v].name.includes("["))
    const key = JSON.stringify([columns, this.watches.list.map((watch) => watch.text)])
    if (key === this.shownColumns) return
    this.shownColumns = key
    this.columns = columns
    this.watched = [...this.watches.list]
    const wave = this.recording.head.wave_size
    const names = [...this.watched.map((watch) => watch.text), ...columns.map((v) => this.recording.variables[v].name)]
    this.widths = names.map((name) => Math.min(name.length, 12))
    const column = (
      key: string,
      label: string,
      of: (moment: Moment, thread: number) => number | null,
      klass: string,
      title: string,
    ): HTMLElement =>
      h(
        "th",
        {scope: "col", class: klass, title, "data-key": key},
        h("button", {type: "button", class: "by", onclick: () => this.order.sortBy(key, of)}, h("span", {}, label)),
      )
    this.head = [
      column("", "thread", (_, t) => t, "", "Sort by thread"),
      column("line", "line", (moment, t) => this.#line(moment, t), "", "Sort by line"),
      ...this.watched.map((watch) =>
        column(
          `w ${watch.text}`,
          watch.text,
          (m, t) => this.watches.number(watch, m, t),
          "v watched",
          `Watched: ${watch.text}. Sort`,
        ),
      ),
      ...columns.map((v) => {
        const {name, type} = this.recording.variables[v]
        return column(`v ${name}`, name, ({state}, t) => state.quantity(t, v)?.parts[0] ?? null, "v", `${type}. Sort`)
      }),
    ]
    const head = h("thead", {}, h("tr", {}, ...this.head))
    const size = this.recording.head.group_size
    this.body = h("tbody")
    this.range = ""
    this.lines = Array.from({length: this.recording.threads}, (_, t) => {
      const lane = h("span", {class: "lane"}),
        line = document.createTextNode(""),
        wall = h("i", {class: "wl"})
      const boxes = names.map((_, i) => h("span", {class: "box", style: `width:var(--w${i})`}))
      const seen = boxes.slice(0, this.watched.length),
        cells = boxes.slice(this.watched.length)
      const el = h(
        "tr",
        {"data-thread": t},
        h("th", {scope: "row"}, lane, threadName(t, size)),
        h("td", {}, h("span", {class: "box at"}, line, wall)),
        ...seen.map((box) => h("td", {class: "watched"}, box)),
        ...cells.map((box) => h("td", {}, box)),
      )
      return {
        el,
        lane,
        line,
        wall,
        seen,
        cells,
        start: t > 0 && t % wave === 0,
        watched: [],
        texts: [],
        klasses: [],
      }
    })
    this.table.replaceChildren(head, this.body)
    this.table.setAttribute("aria-rowcount", String(this.recording.threads + 1))
    this.rowHeight = 0
    this.widths.forEach((width, i) => {
      this.#widen(i, width)
    })
  }

  #measure() {
    this.body.replaceChildren(this.lines[0].el)
    return this.lines[0].el.offsetHeight || 18
  }

  /** Widen a column. It is as wide as the longest value it has shown, so that a step lays out only the boxes whose text changes. */
  #widen(i: number, width: number) {
    this.widths[i] = width
    this.table.style.setProperty(`--w${i}`, `${width + 0.5}ch`)
  }

  /** @param i  its column */
  #write(box: HTMLElement, i: number, text: string) {
    if (text.length > this.widths[i]) this.#widen(i, text.length)
    box.textContent = text
  }

  /** A thread's current line, null before its first event and after its last. */
  #line(moment: Moment, t: number) {
    const {recording} = this,
      {state} = moment,
      status = moment.status(t),
      goes = status === "run" || status === "apart"
    const event = t === recording.thread[moment.event] ? moment.event : goes ? state.next(t) : state.last(t) - 1
    return event < 0 ? null : recording.line[recording.site[event]]
  }

  /** Paint only the rows in view, so that a thousand threads take no longer than fifty. */
  #rows(moment: Moment) {
    const {recording, order} = this,
      {state, thread, followed} = moment
    if (order.arrange(moment)) this.range = ""
    const listed = order.list.length
    for (const th of this.head) th.setAttribute("aria-sort", order.sorted(th.dataset.key ?? ""))
    this.rowHeight ||= this.#measure()
    const height = this.rowHeight
    const all = listed <= WHOLE,
      first = all ? 0 : Math.floor(this.wrap.scrollTop / height / SPARE) * SPARE
    const until = all
      ? listed
      : Math.min(listed, Math.ceil((this.wrap.scrollTop + (this.wrap.clientHeight || 600)) / height / SPARE) * SPARE)
    const range = `${first} ${until}`
    if (this.range !== range) {
      this.range = range
      this.above.style.height = `${first * height}px`
      this.below.style.height = `${(listed - until) * height}px`
      this.body.replaceChildren(this.above, ...order.list.slice(first, until).map((t) => this.lines[t].el), this.below)
      this.above.hidden = !first
      this.below.hidden = until === listed
    }
    const finding = recording.findings[moment.finding]
    for (const t of order.list.slice(first, until)) {
      const row = this.lines[t],
        status = moment.status(t),
        goes = status === "run" || status === "apart",
        waits = status === "wait" || status === "held"
      const klass = `${row.start && order.isPlain ? "wave " : ""}${waits || status === "done" ? "waits " : ""}${t === thread ? "me " : finding?.threads.includes(t) ? "peer " : ""}`
      if (row.klass !== klass) {
        row.klass = klass
        row.el.className = klass
      }
      const lane = `lane ${t === thread && goes ? "me" : status === "run" ? "" : status}`
      if (row.mark !== lane) {
        row.mark = lane
        row.lane.className = lane
      }
      const line = String(this.#line(moment, t) ?? "")
      if (row.at !== line) {
        row.at = line
        row.line.data = line
      }
      if (row.walled !== waits) {
        row.walled = waits
        row.wall.hidden = !waits
      }
      this.watched.forEach((watch, i) => {
        const value = this.watches.value(watch, moment, t)
        if (row.watched[i] === value) return
        row.watched[i] = value
        this.#write(row.seen[i], i, value)
      })
      this.columns.forEach((v, i) => {
        const value = state.value(t, v)
        const mark = `${state.changed(t, v) ? "ch" : ""}${followed?.variable === v && followed.thread === t ? " sel" : ""}`
        if (row.texts[i] !== value) {
          row.texts[i] = value
          this.#write(row.cells[i], this.watched.length + i, value)
        }
        if (row.klasses[i] !== mark) {
          row.klasses[i] = mark
          const {parentElement} = row.cells[i]
          if (parentElement) parentElement.className = mark
        }
      })
    }
  }
}
