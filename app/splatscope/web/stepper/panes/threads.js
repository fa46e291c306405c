// Who: the chosen thread's variables, and all threads side by side.
import {h, targetOf} from "#web/shell/dom.js"
import {Watches} from "./watches.js"

const SPARE = 8 // rows that come and go together: fewer than so many are kept ready beyond those in view
const WHOLE = 32 // rows that are all there, in view or not

/**
 * @import {PaneOwner} from "#web/types.d.ts"
 * @import {Moment} from "#web/stepper/model/moment.js"
 * @import {Recording} from "#web/stepper/model/recording.js"
 * @import {Watch} from "./watches.js"
 */

/**
 * A thread's row, and what it shows now.
 * @typedef {object} Row
 * @property {HTMLElement} el
 * @property {HTMLElement} lane
 * @property {Text} line
 * @property {HTMLElement} wall
 * @property {HTMLElement[]} seen  boxes of the watched expressions
 * @property {HTMLElement[]} cells  boxes of the variables
 * @property {boolean} start  whether a wave begins with it
 * @property {string[]} watched  texts of `seen`
 * @property {string[]} texts  of `cells`
 * @property {string[]} klasses  of `cells`
 * @property {string} [klass]
 * @property {string} [mark]
 * @property {string} [at]
 * @property {boolean} [walled]
 */

export class Threads {
  /** @type {Recording} */
  recording
  /** @type {number[]} */
  columns = [] // variables of the function at hand
  /** @type {string | null} */
  shownColumns = null
  /** @type {string | null} */
  shownVariables = null
  /** @type {Map<string, number[]>} */
  functions = new Map() // their variables
  /** @type {Map<number, {el: HTMLElement, value: HTMLElement}>} */
  entries = new Map() // of the chosen thread's variables
  /** @type {Watch[]} */
  watched = []
  /** @type {number[]} */
  widths = [] // of the columns, in characters
  /** @type {Row[]} */
  lines = []
  body = h("tbody")
  above = h("tr", {"aria-hidden": "true"}, h("td"))
  below = h("tr", {"aria-hidden": "true"}, h("td"))
  range = "" // the rows that are there
  rowHeight = 0

  /** @param {PaneOwner} owner */
  constructor(owner) {
    this.owner = owner
    this.watches = new Watches(owner)
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
      h("div", {class: "ph second"}, h("h2", {}, "All threads"), this.words),
      this.wrap,
    )
    this.wrap.addEventListener("scroll", () => this.owner.moment && this.#rows(this.owner.moment), {passive: true})
    this.table.addEventListener("click", (event) => {
      const row = /** @type {HTMLElement | null | undefined} */ (targetOf(event)?.closest("tr[data-thread]")),
        cell = targetOf(event)?.closest("td")
      if (!row) return
      const thread = Number(row.dataset.thread),
        at = cell ? [...row.children].indexOf(cell) - 2 - this.watched.length : -1
      if (at >= 0 && cell?.textContent) this.owner.follow({thread, variable: this.columns[at]})
      else this.owner.choose(thread)
    })
  }

  /** @param {Recording} recording */
  open(recording) {
    this.recording = recording
    this.shownColumns = null
    this.functions = new Map()
    recording.variables.forEach(({width, function: name}, v) => {
      if (!width) return
      const others = this.functions.get(name)
      if (others) others.push(v)
      else this.functions.set(name, [v])
    })
    this.entries = new Map()
    this.shownVariables = null
    this.watches.open(recording)
  }

  /** @param {Moment} moment */
  paint(moment) {
    const {recording} = this,
      {state, thread} = moment,
      last = state.last(thread) - 1
    const at = last >= 0 ? last : recording.nth(thread, 0)
    const current = at < 0 ? recording.head.entry : recording.about(at).function || recording.head.entry
    this.name.textContent = `Thread ${thread}`
    this.where.textContent = moment.pinned >= 0 ? `${current}, kept` : current
    this.#variables(moment, current)
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
    this.#rows(moment)
  }

  /**
   * Show the chosen thread's variables: of the function at hand first, then of those it was called from.
   * @param {Moment} moment
   * @param {string} current  the function
   */
  #variables(moment, current) {
    const {recording} = this,
      {state, thread} = moment
    const order = [current, ...[...this.functions.keys()].filter((name) => name !== current)]
    const wanted = []
    for (const name of order) for (const v of this.functions.get(name) ?? []) if (state.set(thread, v)) wanted.push(v)
    const key = wanted.join()
    if (key !== this.shownVariables) {
      this.shownVariables = key
      const parts = []
      let of = current
      for (const v of wanted) {
        const variable = recording.variables[v]
        if (variable.function !== of) parts.push(h("div", {class: "fn"}, variable.function))
        of = variable.function
        parts.push(this.#entry(v).el)
      }
      this.mine.replaceChildren(...(parts.length ? parts : [h("div", {class: "none"}, "No variable has a value yet.")]))
    }
    for (const v of wanted) {
      const entry = this.#entry(v),
        value = state.value(thread, v)
      const klass = `var${state.changed(thread, v) ? " ch" : ""}${moment.followed?.variable === v && moment.followed.thread === thread ? " sel" : ""}`
      if (entry.value.textContent !== value) entry.value.textContent = value
      if (entry.el.className !== klass) entry.el.className = klass
    }
  }

  /** @param {number} v */
  #entry(v) {
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

  /**
   * Make the table anew for other columns: the watched expressions and the function's variables.
   * @param {string} current
   */
  #columns(current) {
    const columns = (this.functions.get(current) ?? []).filter((v) => !this.recording.variables[v].name.includes("["))
    const key = JSON.stringify([columns, this.watches.list.map((watch) => watch.text)])
    if (key === this.shownColumns) return
    this.shownColumns = key
    this.columns = columns
    this.watched = [...this.watches.list]
    const wave = this.recording.head.wave_size
    const names = [...this.watched.map((watch) => watch.text), ...columns.map((v) => this.recording.variables[v].name)]
    this.widths = names.map((name) => Math.min(name.length, 12))
    const head = h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("th", {scope: "col"}, "thread"),
        h("th", {scope: "col"}, "line"),
        ...this.watched.map((watch) =>
          h("th", {scope: "col", class: "v watched", title: `watched: ${watch.text}`}, h("span", {}, watch.text)),
        ),
        ...columns.map((v) =>
          h(
            "th",
            {scope: "col", class: "v", title: this.recording.variables[v].type},
            h("span", {}, this.recording.variables[v].name),
          ),
        ),
      ),
    )
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
        h("td", {}, lane, String(t)),
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

  /**
   * Widen a column. It is as wide as the longest value it has shown: so a step lays nothing out but the boxes whose text it changes.
   * @param {number} i
   * @param {number} width
   */
  #widen(i, width) {
    this.widths[i] = width
    this.table.style.setProperty(`--w${i}`, `${width + 0.5}ch`)
  }

  /**
   * @param {HTMLElement} box
   * @param {number} i  its column
   * @param {string} text
   */
  #write(box, i, text) {
    if (text.length > this.widths[i]) this.#widen(i, text.length)
    box.textContent = text
  }

  /**
   * Paint the rows in view: a thousand threads cost no more than fifty.
   * @param {Moment} moment
   */
  #rows(moment) {
    const {recording} = this,
      {state, thread, followed} = moment
    this.rowHeight ||= this.#measure()
    const height = this.rowHeight
    const all = recording.threads <= WHOLE,
      first = all ? 0 : Math.floor(this.wrap.scrollTop / height / SPARE) * SPARE
    const until = all
      ? recording.threads
      : Math.min(recording.threads, Math.ceil((this.wrap.scrollTop + (this.wrap.clientHeight || 600)) / height / SPARE) * SPARE)
    const range = `${first} ${until}`
    if (this.range !== range) {
      this.range = range
      this.above.style.height = `${first * height}px`
      this.below.style.height = `${(recording.threads - until) * height}px`
      this.body.replaceChildren(this.above, ...this.lines.slice(first, until).map((row) => row.el), this.below)
      this.above.hidden = !first
      this.below.hidden = until === recording.threads
    }
    const finding = recording.findings[moment.finding]
    for (let t = first; t < until; t++) {
      const row = this.lines[t],
        status = moment.status(t),
        goes = status === "run" || status === "apart",
        waits = status === "wait" || status === "held"
      const klass = `${row.start ? "wave " : ""}${waits || status === "done" ? "waits " : ""}${t === thread ? "me " : finding?.threads.includes(t) ? "peer " : ""}`
      if (row.klass !== klass) {
        row.klass = klass
        row.el.className = klass
      }
      const lane = `lane ${t === thread && goes ? "me" : status === "run" ? "" : status}`
      if (row.mark !== lane) {
        row.mark = lane
        row.lane.className = lane
      }
      const event = t === recording.thread[moment.event] ? moment.event : goes ? state.next(t) : state.last(t) - 1
      const line = event < 0 ? "" : String(recording.line[recording.site[event]])
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
