// Who: the chosen thread's variables, and all threads side by side.
import {h} from "#web/shell/dom.js"
import {Watches} from "./watches.js"

const SPARE = 8 // rows that come and go together: fewer than so many are kept ready beyond those in view
const WHOLE = 32 // rows that are all there, in view or not

export class Threads {
  constructor(stepper) {
    this.stepper = stepper
    this.watches = new Watches(stepper)
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
    this.wrap.addEventListener("scroll", () => this.stepper.moment && this.#rows(this.stepper.moment), {passive: true})
    this.table.addEventListener("click", (event) => {
      const row = event.target.closest("tr[data-thread]")
      if (!row) return
      const cell = event.target.closest("td")
      const at = [...row.children].indexOf(cell) - 2 - this.watched.length
      if (at >= 0 && cell.textContent) this.stepper.follow({thread: +row.dataset.thread, variable: this.columns[at]})
      else this.stepper.choose(+row.dataset.thread)
    })
  }

  open(recording) {
    this.recording = recording
    this.columns = null
    this.functions = new Map()
    recording.variables.forEach((variable, v) => {
      if (!variable.width) return
      if (!this.functions.has(variable.function)) this.functions.set(variable.function, [])
      this.functions.get(variable.function).push(v)
    })
    this.entries = new Map()
    this.shownVariables = null
    this.watches.open(recording)
  }

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

  // Of the function at hand first, then of those it was called from.
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
        if (variable.function !== of) parts.push(h("div", {class: "fn"}, (of = variable.function)))
        if (!this.entries.has(v)) this.entries.set(v, this.#entry(v))
        parts.push(this.entries.get(v).el)
      }
      this.mine.replaceChildren(...(parts.length ? parts : [h("div", {class: "none"}, "No variable has a value yet.")]))
    }
    for (const v of wanted) {
      const entry = this.entries.get(v),
        value = state.value(thread, v)
      const klass = `var${state.changed(thread, v) ? " ch" : ""}${moment.followed?.variable === v && moment.followed.thread === thread ? " sel" : ""}`
      if (entry.value.textContent !== value) entry.value.textContent = value
      if (entry.el.className !== klass) entry.el.className = klass
    }
  }

  #entry(v) {
    const value = h("b", {}),
      {name, type} = this.recording.variables[v]
    const el = h(
      "button",
      {type: "button", class: "var", title: `${type} ${name}: who wrote it?`, "data-variable": name},
      h("span", {}, name),
      value,
    )
    el.onclick = () => this.stepper.follow({thread: this.stepper.moment.thread, variable: v})
    return {el, value}
  }

  #columns(current) {
    const columns = (this.functions.get(current) ?? []).filter((v) => !this.recording.variables[v].name.includes("["))
    const key = JSON.stringify([columns, this.watches.list.map((watch) => watch.text)])
    if (this.columns && key === this.shownColumns) return
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
    this.above = h("tr", {"aria-hidden": "true"}, h("td"))
    this.below = this.above.cloneNode(true)
    this.range = ""
    this.lines = Array.from({length: this.recording.threads}, (_, t) => {
      const lane = h("span", {class: "lane"}),
        line = document.createTextNode("")
      const boxes = names.map((_, i) => h("span", {class: "box", style: `width:var(--w${i})`}))
      const seen = boxes.slice(0, this.watched.length),
        cells = boxes.slice(this.watched.length)
      const el = h(
        "tr",
        {"data-thread": t},
        h("td", {}, lane, String(t)),
        h("td", {}, h("span", {class: "box at"}, line, h("i", {class: "wl"}))),
        ...seen.map((box) => h("td", {class: "watched"}, box)),
        ...cells.map((box) => h("td", {}, box)),
      )
      return {
        el,
        lane,
        line,
        wall: el.children[1].firstChild.lastChild,
        seen,
        cells,
        start: t > 0 && t % wave === 0,
        texts: [],
        klasses: [],
        told: [],
      }
    })
    this.table.replaceChildren(head, this.body)
    this.table.setAttribute("aria-rowcount", this.recording.threads + 1)
    this.rowHeight = 0
    this.widths.forEach((width, i) => this.#widen(i, width))
  }

  #measure() {
    this.body.replaceChildren(this.lines[0].el)
    return this.lines[0].el.offsetHeight || 18
  }

  // A column is as wide as the longest value it has shown: so a step lays nothing out but the boxes whose text it changes.
  #widen(i, width) {
    this.widths[i] = width
    this.table.style.setProperty(`--w${i}`, `${width + 0.5}ch`)
  }

  #tell(box, i, text) {
    if (text.length > this.widths[i]) this.#widen(i, text.length)
    box.textContent = text
  }

  // Only rows in view: a thousand threads cost no more than fifty.
  #rows(moment) {
    const {recording} = this,
      {state, thread, followed} = moment
    const height = (this.rowHeight ||= this.#measure())
    const all = recording.threads <= WHOLE,
      first = all ? 0 : Math.floor(this.wrap.scrollTop / height / SPARE) * SPARE
    const until = all
      ? recording.threads
      : Math.min(recording.threads, Math.ceil((this.wrap.scrollTop + (this.wrap.clientHeight || 600)) / height / SPARE) * SPARE)
    if (this.range !== (this.range = `${first} ${until}`)) {
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
      if (row.klass !== klass) row.el.className = row.klass = klass
      const lane = `lane ${t === thread && goes ? "me" : status === "run" ? "" : status}`
      if (row.mark !== lane) row.lane.className = row.mark = lane
      const event = t === recording.thread[moment.event] ? moment.event : goes ? state.next(t) : state.last(t) - 1
      const line = event < 0 ? "" : String(recording.line[recording.site[event]])
      if (row.at !== line) row.line.data = row.at = line
      if (row.walled !== waits) row.wall.hidden = !(row.walled = waits)
      this.watched.forEach((watch, i) => {
        const value = this.watches.value(watch, moment, t)
        if (row.told[i] !== value) this.#tell(row.seen[i], i, (row.told[i] = value))
      })
      this.columns.forEach((v, i) => {
        const value = state.value(t, v)
        const mark = `${state.changed(t, v) ? "ch" : ""}${followed?.variable === v && followed.thread === t ? " sel" : ""}`
        if (row.texts[i] !== value) this.#tell(row.cells[i], this.watched.length + i, (row.texts[i] = value))
        if (row.klasses[i] !== mark) row.cells[i].parentElement.className = row.klasses[i] = mark
      })
    }
  }
}
