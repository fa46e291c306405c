// Where: the source, with the line that each thread is on.
import {enclosing, h, targetOf, zoomOf} from "#web/runtime/dom.ts"
import {markFound} from "#web/runtime/sought.ts"
import {slideMark} from "#web/drawing/glide.ts"
import {tokens} from "#web/widgets/slang.ts"
import {type Moment, near} from "#web/recording/moment.ts"
import {columnAt, expressionAt, valueUnder} from "./hover.ts"
import {icon} from "./icons.ts"
import {MARK, ThreadMap, moreProminent, layoutThreads, type Plan} from "./thread_map.ts"
import type {Recording} from "#web/recording/recording.ts"
import type {PaneOwner} from "#web/types.ts"

type Row = ReturnType<typeof row>
type Line = [file: number, line: number]

let made = 0 // number of source panes, for their ids

const PEEK = 40 // px of the previous tab that stay visible
const ROOM = 60 // px: if the dock leaves less of the pane visible, the reader scrolls the page

export class Source {
  recording: Recording
  plan: Plan
  sheets = new Map<number, Row[]>() // by file, its lines
  shown = -1 // the file shown
  held = -1 // the file that the reader chose, until the next step
  heldAt = -1 // the position at which they did
  main = 0 // the file that was recorded
  scrolledTo = ""
  spare = 0 // px below the last line
  here: Line | null = null // where the chosen thread is
  arrive = () => {} // ends the animation of the mark to that line
  picked: Line | null = null // the line that the reader picked, to run to
  pickedAt = -1 // the position at which they did
  owner: PaneOwner
  src: HTMLDivElement
  atHand: HTMLParagraphElement
  pane: HTMLDivElement
  files: HTMLDivElement
  el: HTMLElement
  run: HTMLButtonElement

  constructor(owner: PaneOwner) {
    this.owner = owner
    this.src = h("div", {class: "src", role: "list", "aria-label": "Lines"})
    this.atHand = h("p", {class: "sr", id: `line-at-hand-${++made}`})
    const way = h(
      "p",
      {hidden: true, id: `line-way-${made}`},
      owner.runTo
        ? "Up and down arrows choose a line, B sets a breakpoint on it, Enter runs to it."
        : owner.announce && "Up and down arrows read it line by line.",
    )
    const names = {"aria-label": "Source with the line each thread is on", "aria-describedby": `${this.atHand.id} ${way.id}`}
    this.pane = h("div", {class: "srcwrap", tabindex: "0", role: "region", ...names}, this.src)
    this.files = h("div", {class: "files", hidden: true})
    this.el = h(
      "section",
      {class: "panel source", "aria-label": "Source"},
      h(
        "div",
        {class: "ph"},
        h("h2", {}, "Source"),
        this.files,
        h("span", {class: "dim"}, "each dot is a thread, beside the line that it is on"),
      ),
      this.atHand,
      way,
      this.pane,
    )
    this.pane.onkeydown = (event) => this.#keyed(event)
    new ResizeObserver(() => {
      this.scrolledTo = ""
      this.spare = 0
      this.src.style.removeProperty("--spare")
      owner.paint()
    }).observe(this.pane)
    this.src.addEventListener("click", (event) => this.#clicked(event))
    this.src.addEventListener("pointermove", (event) => this.#hovered(event))
    this.src.addEventListener("dblclick", (event) => {
      if (!targetOf(event)?.closest(".gut, button, input")) this.runHere()
    })
    this.run = h(
      "button",
      {
        type: "button",
        class: "run-here",
        "aria-label": "Run to here",
        title: "Run to this line (Ctrl+F10, or double click)",
        onclick: () => this.runHere(),
      },
      icon("play"),
    )
    this.src.addEventListener("contextmenu", (event) => {
      const row = targetOf(event)?.closest(".gut")?.parentElement
      if (!row?.querySelector("button.bp") || !this.owner.breakpoints) return
      event.preventDefault()
      this.ask(Number(row.dataset.line))
    })
  }

  open(recording: Recording) {
    const isSame = this.recording?.head.sources === recording.head.sources && this.recording.threads === recording.threads
    this.recording = recording
    if (isSame) return // while a hand moves, there is another recording of the same text in each frame
    this.plan = layoutThreads(recording.threads, recording.head.group_size)
    const {style} = this.src
    style.setProperty("--map", `${Math.ceil(this.plan.columns * this.plan.pitch * 0.75) + 6}px`)
    style.setProperty("--count", `${String(recording.threads).length + 3}ch`) // ×255, and a gap
    this.src.classList.toggle("single", recording.threads === 1)
    this.sheets = new Map()
    this.shown = -1
    this.scrolledTo = ""
    this.held = -1
    const names = recording.files
    this.files.hidden = names.length < 2
    this.files.replaceChildren(
      ...names.map((name, i) =>
        h(
          "button",
          {
            type: "button",
            class: "tab",
            onclick: () => {
              this.#hold(i)
              this.owner.paint()
            },
          },
          name,
        ),
      ),
    )
    this.main = names.indexOf(recording.head.file)
    this.picked = null
  }

  /** The lines of a file. */
  #sheet(file: number) {
    let rows = this.sheets.get(file)
    if (!rows) {
      const state = {inside: false}
      const {recording} = this
      const recorded = new Set([...recording.line].filter((_, site) => recording.file[site] === file))
      rows = recording.head.sources[recording.files[file]]
        .split("\n")
        .map((text, i) => row(text, i + 1, state, recorded.has(i + 1), Boolean(this.owner.runTo)))
      if (rows.length > 1 && !rows[rows.length - 1].text) rows.pop()
      this.sheets.set(file, rows)
    }
    return rows
  }

  /** Keep a file shown. */
  #hold(file: number) {
    this.held = file
    this.heldAt = this.owner.moment?.position ?? -1
  }

  #show(file: number) {
    if (this.shown === file) return
    this.shown = file
    this.src.replaceChildren(...this.#sheet(file).map((r) => r.el))
    this.src.style.setProperty("--longest", `${Math.max(...this.#sheet(file).map((r) => r.text.length))}ch`)
    ;[...this.files.children].forEach((tab, i) => {
      tab.setAttribute("aria-pressed", String(i === file))
      if (i === file && tab instanceof HTMLElement) this.files.scrollLeft = tab.offsetLeft - this.files.offsetLeft - PEEK
    })
    this.marks()
  }

  /** Show the current breakpoints. */
  marks() {
    if (this.shown < 0) return
    const name = this.recording.files[this.shown]
    for (const r of this.#sheet(this.shown)) {
      const condition = this.owner.breakpoints?.set.get(`${name}:${r.line}`)
      const set = condition !== undefined
      r.bp.className = `bp${set ? (condition ? " cond" : "") : " off"}`
      if (r.bp.localName === "button") r.bp.setAttribute("aria-pressed", String(set))
      r.offer()
      r.when.textContent = condition ? `if ${condition}` : ""
    }
  }

  /** @param steps  whether to animate the mark from its previous line */
  paint(moment: Moment, steps = false) {
    const {recording} = this,
      {thread: chosen} = moment
    const [fileBefore, lineBefore] = this.here ?? []
    this.arrive()
    const peers = this.#peers(moment)
    let mine: Line | null = null
    const lines = new Map<number, {marks: Uint8Array; count: number; running: number; me: boolean}>() // by line of the shown file
    const places: [thread: number, file: number, line: number, status: ReturnType<Moment["status"]>][] = []
    for (let t = 0; t < recording.threads; t++) {
      const status = moment.status(t),
        event = this.#at(moment, t)
      if (event < 0) continue
      const site = recording.site[event]
      places.push([t, recording.file[site], recording.line[site], status])
      if (t === chosen) mine = [recording.file[site], recording.line[site]]
    }
    if (moment.position !== this.heldAt) this.held = -1
    const file = this.held >= 0 ? this.held : mine ? mine[0] : this.main
    this.#show(file)
    for (const [t, f, line, status] of places) {
      if (f !== file) continue
      const entry = lines.get(line) ?? {marks: new Uint8Array(this.plan.dots), count: 0, running: 0, me: false},
        dot = this.plan.dot(t)
      lines.set(line, entry)
      const mark = t === chosen && status !== "wait" && status !== "held" ? MARK.me : MARK[status]
      entry.marks[dot] = moreProminent(entry.marks[dot], mark)
      entry.count++
      if (status === "run" || status === "apart") entry.running++
      entry.me ||= t === chosen
    }
    const rows = this.#sheet(file)
    for (const r of rows) {
      const entry = lines.get(r.line),
        peer = peers.get(`${file}:${r.line}`)
      const klass = !entry ? "" : entry.me ? " mine" : entry.running ? " here" : " held"
      r.set(`ln-row${klass}${entry?.me && !entry.running ? " held" : ""}${peer && !entry?.me ? " other" : ""}`)
      r.say(entry?.me ? `thread ${chosen}` : (peer ?? ""), entry?.me ? "note" : "note race")
      r.number(entry?.count ?? 0)
      if (entry) r.mark(this.plan, entry.marks)
      else r.clear()
    }
    if (mine && mine[0] === file)
      this.#scroll(
        mine[1],
        [...peers.keys()].filter((key) => key.startsWith(`${file}:`)).map((key) => +key.split(":")[1]),
      )
    if (steps && mine && mine[0] === fileBefore && mine[1] !== lineBefore && fileBefore === file)
      this.arrive = slideMark(rows[Number(lineBefore) - 1].el, rows[mine[1] - 1].el)
    this.here = mine
    this.atHand.textContent = mine ? this.#words(mine, chosen) : "No thread has begun."
  }

  /**
   * The event whose line a thread is on: the current event; the thread's last event if it has just executed its line or no longer
   * runs; else its next event; -1 for none.
   */
  #at(moment: Moment, thread: number) {
    const {state, event} = moment
    if (event >= 0 && this.recording.thread[event] === thread) return event
    if (!["run", "apart"].includes(moment.status(thread))) return state.last(thread) - 1
    return moment.isAtHand(thread, this.#since(moment)) ? event : state.next(thread)
  }

  /** The position at which the step to this moment began; Infinity if no stop of the figure is here. */
  #since({position}: Moment) {
    const {stops = []} = this.owner
    return stops.includes(position) ? (near(stops, position, -1) ?? 0) : Infinity
  }

  /** A thread's line and status, for screen readers. */
  standing(moment: Moment, thread: number) {
    const event = this.#at(moment, thread)
    if (event < 0) return `Thread ${thread} has not begun.`
    const {line} = this.recording.about(event),
      site = this.recording.site[event]
    switch (moment.status(thread)) {
      case "wait":
        return `Thread ${thread} waits at the barrier on line ${line}.`
      case "held":
        return `Thread ${thread} is released from the barrier on line ${line}.`
      case "done":
        return `Thread ${thread} has ended, on line ${line}.`
      default:
        return this.#words([this.recording.file[site], line], thread)
    }
  }

  /** The chosen thread's line, for screen readers. */
  #words([file, line]: Line, thread: number) {
    const name = this.recording.files[file]
    const text = this.recording.head.sources[name].split("\n")[line - 1] ?? ""
    return `Thread ${thread} is on line ${line}: ${text.trim()}`
  }

  /** The lines on which other threads took part in the shown finding, as "file:line", and what they did there. */
  #peers(moment: Moment): Map<string, string> {
    const found = new Map(),
      finding = this.recording.findings[moment.finding]
    if (!finding || finding.events.length < 2 || !finding.events.includes(moment.step)) return found
    finding.events.forEach((step) => {
      if (step === moment.step) return
      const e = step - 1,
        site = this.recording.site[e],
        kind = this.recording.sites[site].kind
      const verb = kind === "read" ? "read" : kind === "write" ? "wrote" : kind === "arrive" ? "waits" : "was"
      found.set(`${this.recording.file[site]}:${this.recording.line[site]}`, `thread ${this.recording.thread[e]} ${verb} here`)
    })
    return found
  }

  /**
   * Scroll only if the line is out of view, by whole lines, so that it ends up at 60% of the height. With a finding, all of its
   * lines are brought into view if they fit. If the dock covers the pane's lower part, only the upper part counts.
   */
  #scroll(line: number, others: number[]) {
    const row = this.#sheet(this.shown)[line - 1],
      key = `${this.shown}:${line} ${others}`
    if (!row || this.scrolledTo === key) return
    const {pane} = this
    if (!row.el.offsetHeight) return
    this.scrolledTo = key
    const zoom = zoomOf(pane),
      inner = pane.clientHeight * zoom,
      top = pane.getBoundingClientRect().top + pane.clientTop * zoom
    const dock = enclosing(pane, ".stage")?.querySelector(".dock")?.getBoundingClientRect().top ?? Infinity
    const over = dock - top > ROOM && dock < top + inner
    const height = over ? dock - top : inner
    const boxes = [line, ...others].map((number) => this.#sheet(this.shown)[number - 1].el.getBoundingClientRect())
    const inView = boxes.every((box) => box.top >= top && box.bottom + 4 <= top + height)
    const end = pane.scrollHeight - this.spare - pane.clientHeight
    const needless = !over && this.spare > boxes[0].height / zoom // the dock, which covered such space, is elsewhere now
    if (inView && !needless && (this.spare || pane.scrollTop < end - 1)) return
    const at = (y: number) => pane.scrollTop + (y - top) / zoom
    const tops = this.#sheet(this.shown).map((r) => at(r.el.getBoundingClientRect().top))
    const whole = (y: number) => tops.find((top) => top >= y - 1) ?? y
    if (inView) return this.#scrollTo(whole(end), end)
    const first = Math.min(...boxes.map((box) => box.top)),
      last = Math.max(...boxes.map((box) => box.bottom)),
      own = boxes[0]
    const together = boxes.length > 1 && last - first <= height
    const wanted = at(together ? (first + last - height) / 2 : own.top - (height - own.height) * 0.6)
    const furthest = pane.scrollHeight - this.spare - height / zoom // there the last line stands at the lower edge, or at the dock's
    this.#scrollTo(Math.min(whole(wanted), whole(furthest)), end)
  }

  /**
   * Scroll to where a line begins. Where that is behind the end, make space below the last line.
   * @param y  CSS px, as the pane's `scrollTop`
   * @param end  how far it scrolls without such space
   */
  #scrollTo(y: number, end: number) {
    this.spare = Math.max(0, Math.ceil(y - end))
    if (this.spare) this.src.style.setProperty("--spare", `${this.spare}px`)
    else this.src.style.removeProperty("--spare")
    this.pane.scrollTop = y
  }

  #clicked(event: MouseEvent) {
    const row = targetOf(event)?.closest(".ln-row") as HTMLElement | null | undefined
    if (row?.querySelector("button.bp") && targetOf(event)?.closest(".gut"))
      this.owner.breakpoints?.toggle(this.recording.files[this.shown], Number(row.dataset.line))
    else if (row && this.owner.runTo && !targetOf(event)?.closest("button, input") && !getSelection()?.toString())
      this.#pick(this.shown, Number(row.dataset.line))
  }

  /** Show the value under the pointer. */
  #hovered(event: PointerEvent) {
    const code = targetOf(event)?.closest(".code") as HTMLElement | null | undefined,
      {moment} = this.owner
    if (!code || !moment || !this.owner.runTo) return
    const line = Number((code.closest(".ln-row") as HTMLElement | null)?.dataset.line),
      {text} = this.#sheet(this.shown)[line - 1]
    code.title = valueUnder(expressionAt(text, columnAt(code, text, event.clientX)), moment)
  }

  /** Pick a line: to run to, or to read. */
  #pick(file: number, line: number) {
    if (this.picked) this.#sheet(this.picked[0])[this.picked[1] - 1]?.el.removeAttribute("data-picked")
    const row = this.#sheet(file)[line - 1]
    if (!row) return
    this.picked = [file, line]
    this.pickedAt = this.owner.moment?.position ?? -1
    row.el.setAttribute("data-picked", "")
    if (this.owner.runTo) row.el.append(this.run)
  }

  /** Choose a line with the arrow keys, which is read out, and run to it with Enter. */
  #keyed(event: KeyboardEvent) {
    const way = {ArrowUp: -1, ArrowDown: 1, Enter: 0}[event.key]
    const modified = event.ctrlKey || event.metaKey || event.altKey || event.shiftKey
    if (way === undefined || modified || event.target !== this.pane) return
    if (!this.owner.announce || !(way || this.owner.runTo)) return
    event.preventDefault()
    if (!way) return this.runHere()
    const [file, line] = this.meant ?? [this.shown, 0]
    const row = this.#sheet(this.shown)[(file === this.shown ? line : 0) - 1 + way]
    if (!row) return
    this.#pick(this.shown, row.line)
    row.el.scrollIntoView({block: "nearest"})
    const set = row.bp.getAttribute("aria-pressed") === "true" ? ", breakpoint" : ""
    this.owner.announce(`Line ${row.line}${set}: ${row.text.trim() || "empty"}`)
  }

  /** The current line: the one picked last, until the run moves on; else the chosen thread's. */
  get meant() {
    return this.picked && this.pickedAt === this.owner.moment?.position ? this.picked : this.here
  }

  /** Run to the picked line. */
  runHere() {
    if (this.picked) this.owner.runTo?.(this.recording.files[this.picked[0]], this.picked[1])
    else this.owner.say?.("First choose a line to run to, with a click or the arrow keys in the source.")
  }

  /** Show a line and pick it. */
  reveal(file: number, line: number) {
    this.#hold(file)
    this.#show(file)
    if (this.owner.runTo) this.#pick(file, line)
    this.#sheet(file)[line - 1]?.el.scrollIntoView({block: "center"})
    this.owner.paint()
  }

  /** Show and mark the first line that begins with a text, in the file that was recorded if it is there. Return whether there is one. */
  seek(text: string): boolean {
    const names = this.recording.files
    const files = [this.main, ...names.keys()].filter((file) => names[file])
    for (const file of files) {
      const at = this.recording.head.sources[names[file]]
        .split("\n")
        .findIndex((line) => line.replace(/\s+/g, " ").trim().startsWith(text))
      if (at < 0) continue
      this.reveal(file, at + 1)
      markFound(this.#sheet(file)[at].el)
      return true
    }
    return false
  }

  /** Ask for the condition of a line's breakpoint, in a field after the line. */
  ask(line: number) {
    const {breakpoints} = this.owner
    if (!breakpoints) return
    const r = this.#sheet(this.shown)[line - 1],
      key = `${this.recording.files[this.shown]}:${line}`
    if (!r || r.el.querySelector("input")) return
    const input = h("input", {
      class: "cond-in",
      "aria-label": `Stop on line ${line} only if`,
      placeholder: "only if, such as i == 4",
      value: breakpoints.set.get(key) ?? "",
    })
    const shut = (save: boolean) => {
      input.onblur = null
      input.remove()
      if (save) breakpoints.put(key, input.value.trim())
    }
    const leave = (save: boolean) => {
      shut(save)
      this.pane.focus({preventScroll: true})
    }
    input.onkeydown = (event) => {
      event.stopPropagation()
      const wrong = event.key === "Enter" ? breakpoints.wrong(input.value) : ""
      input.setAttribute("aria-invalid", String(Boolean(wrong)))
      this.owner.say?.(wrong)
      if (event.key === "Enter" && !wrong) leave(true)
      if (event.key === "Escape") leave(false)
    }
    input.onblur = () => shut(input.value.trim() !== "" && !breakpoints.wrong(input.value))
    r.el.append(input)
    input.focus()
  }
}

/**
 * One line of the source.
 * @param state  of the tokens: whether a block comment is open
 * @param recorded  whether the line has events, so that a run can stop on it
 * @param offered  whether screen readers find a button for a breakpoint where one is set and on the current line. On other lines,
 *   and on pages for reading, the key B sets it.
 */
function row(text: string, line: number, state: {inside: boolean}, recorded: boolean, offered: boolean) {
  const indent = /^\s*/.exec(text)?.[0] ?? ""
  const code = h("span", {class: "code", style: `--in: ${indent.length}`})
  if (indent) code.append(h("i", {class: "ind"}, indent))
  let before = ""
  for (const [kind, word] of tokens(text.slice(indent.length), state)) {
    // where lines wrap, calls are broken at their arguments and at the next of a chain, and no name
    if ((before === "(" && word !== ")") || (before === ")" && word === ".")) code.append(h("wbr"))
    code.append(kind ? h("i", {class: kind}, word) : word)
    before = word
  }
  const bp = recorded
    ? h("button", {
        class: "bp off",
        type: "button",
        tabindex: "-1",
        "aria-label": `Breakpoint on line ${line}`,
        "aria-pressed": "false",
        "aria-hidden": "true",
      })
    : h("i", {class: "bp off"})
  const said = h("span", {class: "sr"}, `Line ${line}: `)
  const count = h("span", {class: "ct", "aria-hidden": "true"}),
    map = h("span", {class: "map"}),
    note = h("span", {class: "note", hidden: true}),
    when = h("span", {class: "when"})
  const el = h(
    "div",
    {class: "ln-row", role: "listitem", "data-line": line},
    h(
      "span",
      {class: "gut", title: recorded && "Click, or B: breakpoint. Right click, or Shift+B: a condition"},
      bp,
      h("span", {class: "no", "aria-hidden": "true"}, String(line)),
    ),
    said,
    map,
    count,
    h("span", {class: "cell-code"}, code, when),
    h("span", {class: "rest"}, note),
  )
  let dots: ThreadMap | null = null
  let shown = "ln-row",
    words = "",
    many = 0
  return {
    el,
    line,
    text,
    bp,
    when,
    set(klass: string) {
      if (klass === shown) return
      const mine = klass.includes(" mine")
      if (mine !== shown.includes(" mine")) el.ariaCurrent = mine ? "step" : null
      shown = klass
      el.className = klass
      this.offer()
    },
    offer() {
      const found = offered && (bp.getAttribute("aria-pressed") === "true" || shown.includes(" mine"))
      if (found) bp.removeAttribute("aria-hidden")
      else bp.setAttribute("aria-hidden", "true")
    },
    say(news: string, klass: string) {
      if (news === words) return
      words = news
      note.textContent = news
      note.className = klass
      note.hidden = !news
    },
    number(n: number) {
      if (n === many) return
      many = n
      count.textContent = n ? `×${n}` : ""
      said.textContent = `Line ${line}${n ? `, ${n} ${n === 1 ? "thread" : "threads"} here` : ""}: `
    },
    mark(plan: Plan, marks: Uint8Array) {
      dots ??= new ThreadMap(plan)
      if (!dots.el.isConnected) map.append(dots.el)
      dots.show(marks)
    },
    clear() {
      if (dots?.el.parentNode) dots.el.remove()
    },
  }
}
