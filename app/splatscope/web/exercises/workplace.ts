// One task: text and hints on the left, editor and verdict on the right, and below them the moment that shows what is wrong.
import {h} from "#web/runtime/dom.ts"
import {addKeys} from "#web/runtime/keys.ts"
import {severityIcon} from "#web/stepper/panes/icons.ts"
import {makeEditor} from "#web/widgets/codemirror.ts"
import {placeInWords} from "#web/widgets/place.ts"
import {listing} from "#web/widgets/quote.ts"
import {attempt, note} from "#web/runtime/attempts.ts"
import {best, keepBest} from "#web/runtime/scores.ts"
import {barrierSwitches, countBarriers} from "./barrier_switches.ts"
import {brief, counted, prose} from "./brief.ts"
import {addressOf} from "./list.ts"
import {keepVerdict, keptVerdict} from "./verdicts.ts"
import type {Model} from "#web/types.ts"
import type {PublicCause, PublicMark, PublicTask} from "#components"

const TRIES = 3 // tries after which the solution may be shown
const today = () => new Date().toISOString().slice(0, 10)

export class Workplace {
  marked: string | null = null // the source that was marked last
  counted = 0 // number of the last mark that was counted as a try
  verdict = h("div", {class: "verdict", tabindex: "-1", "data-testid": "exercise-result"})
  heard = h("p", {class: "sr", role: "status"}) // announces that a kernel is at work, once, and the verdict, without its buttons
  hints = h("div", {class: "hints"})
  after = h("div", {class: "after-task"})
  wasBusy = false
  work = h("p", {class: "work", hidden: true, "data-testid": "exercise-work"})
  nth = h("b", {"aria-hidden": "true"}) // the current case; visible, but not announced each time
  said = h("span", {class: "dim", role: "status"})
  label = h("span", {}, "Mark")
  run = h(
    "button",
    {type: "button", class: "btn pri", "data-testid": "exercise-mark", onclick: () => this.mark()},
    this.label,
    h("kbd", {"aria-hidden": "true"}, "Ctrl ⏎"),
  )
  score = h("p", {class: "dim", "data-testid": "exercise-score"})
  switches = barrierSwitches((source) => {
    this.editor.text = source
    this.#typed(source)
  })
  ends: (() => void)[] = []
  model: Model<"Exercises">
  task: PublicTask
  moment: Record<"stepper" | "compare", HTMLElement>
  editor
  kept
  closed?: boolean

  /**
   * @param place  the element to fill
   * @param moment  the parts below it, at most one of which is shown
   * @param root  the root that contains it, now or soon
   */
  constructor(
    model: Model<"Exercises">,
    task: PublicTask,
    place: HTMLElement,
    moment: Record<"stepper" | "compare", HTMLElement>,
    root: ShadowRoot,
  ) {
    this.model = model
    this.task = task
    this.moment = moment
    const holder = h("div", {class: "code-edit", "data-testid": "exercise-editor"})
    place.replaceChildren(h("div", {class: "workplace"}, brief(task, model, this.hints, this.after), this.#desk(holder)))
    this.editor = makeEditor(
      holder,
      root,
      (text) => this.#typed(text),
      () => this.mark(),
      true,
    )
    this.editor.show(attempt(task.name).source ?? task.start)
    this.switches.show(this.editor.text)
    this.#paintScore()
    this.kept = keptVerdict(task.name)
    this.marked = this.kept?.source ?? null
    if (this.fresh) this.counted = this.fresh.number // counted before the reader returned to this task
    for (const name of ["mark", "busy", "error", "revealed", "view"]) model.on(name, () => this.#live() && this.paint())
    this.ends.push(addKeys({keys: {"Ctrl+Enter": () => this.mark()}}))
    if (attempt(task.name).solved) this.model.send_msg({type: "reveal", task: this.task.name})
    if (attempt(task.name).pending) this.mark() // the page was left before the answer arrived
    this.paint()
  }

  /** Remove all listeners. */
  close() {
    this.closed = true
    for (const end of this.ends) end()
    this.editor.view.destroy()
  }

  #live() {
    return !this.closed
  }

  /** The mark of this task's last kernel since the page was loaded, if there is one. Its causes can be stepped to. */
  get fresh() {
    const {mark} = this.model
    return mark.number !== undefined && mark.task === this.task.name && this.marked !== null ? mark : null
  }

  /** The mark of this task's last kernel, if there is one. */
  get result() {
    return this.fresh ?? this.kept?.mark ?? null
  }

  /** Have the kernel marked. */
  mark() {
    if (this.model.busy) return
    this.marked = this.editor.text
    note(this.task.name, {pending: true})
    this.model.send_msg({type: "mark", task: this.task.name, source: this.marked})
  }

  #typed(text: string) {
    this.switches.show(text)
    note(this.task.name, {source: text === this.task.start ? undefined : text})
    if (this.result) this.verdict.classList.toggle("old", text !== this.marked)
  }

  #desk(holder: HTMLElement) {
    const again = h(
      "button",
      {
        type: "button",
        class: "btn quiet",
        onclick: () => this.#startAgain(),
      },
      "Start again",
    )
    return h(
      "div",
      {class: "desk"},
      h(
        "section",
        {class: "panel", "aria-label": "Source"},
        h("div", {class: "ph"}, h("h3", {}, `${this.task.name}.slang`), this.said, h("span", {class: "sp"}), again, this.run),
        ...(this.task.course === "challenge" ? [this.switches.el, this.score] : []),
        holder,
        h("p", {class: "leave"}, h("kbd", {}, "Tab"), " indents; ", h("kbd", {}, "Esc"), " leaves the editor, then Tab moves on"),
      ),
      this.work,
      this.verdict,
      this.heard,
    )
  }

  #startAgain() {
    this.editor.text = this.task.start
    this.switches.show(this.task.start)
    this.editor.mark([])
    this.marked = null // its verdict is about lines that are gone
    this.kept = null
    keepVerdict(this.task.name, null)
    this.paint()
    this.said.textContent = "Ctrl+Z restores your text"
    this.editor.view.focus()
  }

  /** Scroll to the answer once it is painted, if it begins in the window's last quarter or below. */
  #toVerdict() {
    requestAnimationFrame(() => {
      if (this.verdict.getBoundingClientRect().top > 0.75 * innerHeight)
        this.verdict.scrollIntoView({block: "start", behavior: "smooth"})
    })
  }

  /** Paint everything that depends on the server's answers and on the attempts. */
  paint() {
    const {busy, error, view, mark} = this.model
    const marks = busy.startsWith("Marking")
    this.said.textContent = ""
    this.label.textContent = marks ? "Marking …" : "Mark"
    this.run.setAttribute("aria-disabled", String(Boolean(busy)))
    this.run.setAttribute("aria-busy", String(marks))
    if (error) note(this.task.name, {pending: undefined})
    if (this.fresh && mark.number !== this.counted) this.#count(this.fresh)
    if (error) this.verdict.replaceChildren(h("p", {class: "failed"}, error))
    else if (this.result) this.#paintVerdict(this.result)
    else this.#paintKnown()
    if (!busy) this.#say(error || (this.fresh ? verdictWords(this.fresh) : ""))
    this.verdict.classList.toggle("waits", Boolean(busy))
    this.work.hidden = !busy
    const nth = /case (\d+ of \d+)/.exec(busy)?.[1]
    this.nth.textContent = nth ? `Case ${nth}.` : ""
    if (busy && !this.wasBusy) this.#sayWork()
    this.wasBusy = Boolean(busy)
    this.#paintHints()
    this.#paintAfter()
    for (const [name, part] of Object.entries(this.moment)) {
      const was = part.hidden
      part.hidden = !this.fresh || name !== view
      if (was && !part.hidden) part.scrollIntoView({block: "start", behavior: "smooth"})
    }
  }

  #say(words: string) {
    if (this.heard.textContent !== words) this.heard.textContent = words
  }

  /** What is known about the task after a reload. */
  #paintKnown() {
    const {solved} = attempt(this.task.name)
    delete this.verdict.dataset.passed
    this.verdict.classList.remove("old")
    this.verdict.replaceChildren(
      ...(solved ? [h("p", {class: "solved"}, severityIcon("ok"), h("b", {}, "Solved"), ` on ${solved}.`)] : []),
    )
  }

  #sayWork() {
    const {busy} = this.model,
      hidden = this.task.cases.filter(([, is]) => is).length
    const what = busy.startsWith("Marking")
      ? `The kernel is compiled and run on ${counted(this.task.cases.length - hidden, "case")}${hidden ? `, then on ${counted(hidden, "hidden one")}` : ""}, and every access is checked.`
      : busy
    this.#say(what)
    this.work.replaceChildren(h("i", {"aria-hidden": "true"}), h("span", {}, what, " ", this.nth))
    requestAnimationFrame(() => this.work.scrollIntoView({block: "nearest"}))
  }

  #count(mark: PublicMark) {
    this.counted = mark.number
    const {name} = this.task
    const before = attempt(name)
    const isTry = !before.solved && this.marked !== this.task.start
    note(name, {
      pending: undefined,
      tries: before.tries + (isTry ? 1 : 0),
      ...(mark.passed && {solved: before.solved ?? today()}),
    })
    if (this.marked !== null) keepVerdict(name, {source: this.marked, mark: {...mark, number: 0}})
    if (mark.passed && this.task.course === "challenge") this.#keepScore()
    this.editor.mark(mark.diagnostics)
    this.#toVerdict()
  }

  /** A kernel has passed: its score is how many barriers are gone. */
  #keepScore() {
    keepBest(this.task.name, countBarriers(this.task.start) - countBarriers(this.marked ?? this.task.start), "more")
    this.#paintScore()
  }

  #paintScore() {
    const score = best(this.task.name)
    this.score.textContent = score === null ? "" : `Your best: ${counted(score, "barrier")} gone, and every list is right.`
  }

  #paintVerdict(mark: PublicMark) {
    this.verdict.dataset.passed = String(mark.passed)
    this.verdict.dataset.number = String(mark.number)
    this.verdict.dataset.points = String(mark.points)
    this.verdict.classList.toggle("old", this.editor.text !== this.marked)
    const [first, ...rest] = mark.causes
    const {solved} = attempt(this.task.name)
    const day = !this.fresh && solved ? `Solved on ${solved}. ` : "Solved. "
    this.verdict.replaceChildren(
      ...(first ? [this.#cause(first, 0)] : [h("p", {class: "solved"}, severityIcon("ok"), h("b", {}, day), passedWords(mark))]),
      ...(first ? [] : this.#onward()),
      ...(rest.length === 1 ? [this.#cause(rest[0], 1)] : []),
      ...(rest.length > 1
        ? [
            h(
              "details",
              {},
              h("summary", {}, `${counted(rest.length, "more reason")}, perhaps with the same cause`),
              ...rest.map((cause, i) => this.#cause(cause, i + 1)),
            ),
          ]
        : []),
      cases(mark),
    )
  }

  #cause(cause: PublicCause, number: number) {
    const where = this.task.cases.length > 1 && cause.case ? `${cause.hidden ? "Hidden case" : "Case"}: ${cause.case}.` : ""
    const button = (label: string, act: () => void) => h("button", {type: "button", class: "btn", onclick: act}, label)
    const step = () => this.model.send_msg({type: "moment", cause: number})
    return h(
      "div",
      {class: "cause", "data-kind": cause.kind},
      h("h3", {}, severityIcon("error"), cause.heading),
      h("p", {}, cause.words),
      cause.meaning ? h("p", {class: "meaning"}, cause.meaning) : null,
      where ? h("p", {class: "dim"}, where) : null,
      h(
        "div",
        {class: "row"},
        this.fresh && cause.step ? button("Step to this moment", step) : null,
        this.fresh && !cause.step && !cause.hidden && !["error"].includes(cause.kind) ? button("Step through it", step) : null,
        cause.line ? button(`Line ${cause.line}`, () => this.#toLine(cause.line)) : null,
        this.fresh || number ? null : h("span", {class: "dim"}, "Mark it again to step through it."),
      ),
    )
  }

  /** Go back to the editor from the parts below it. */
  back() {
    this.editor.view.dom.scrollIntoView({block: "center"})
    this.editor.view.focus()
  }

  /** The link to the next task. It is also shown below the verdict, where it is in view. */
  #onward() {
    const next = this.#next()
    return next ? [h("p", {class: "ways"}, h("a", {class: "btn pri", href: addressOf(next.name)}, `Next: ${next.title}`))] : []
  }

  #toLine(line: number) {
    this.editor.reveal(line)
    this.editor.view.focus()
  }

  #paintHints() {
    const {hints, solved} = attempt(this.task.name)
    const open = Math.min(hints, this.task.hints.length)
    const state = `${open} ${solved ?? ""}`
    if (this.hints.dataset.state === state) return
    this.hints.dataset.state = state
    const next = h(
      "button",
      {
        type: "button",
        class: "btn",
        onclick: () => {
          note(this.task.name, {hints: open + 1})
          this.#paintHints()
          const shown = this.hints.querySelector("[data-hint]:last-of-type") as HTMLElement | null
          shown?.focus({preventScroll: true})
        },
      },
      open ? "Another hint" : "A hint",
    )
    this.hints.replaceChildren(
      ...this.task.hints.slice(0, open).map((hint, i) => {
        const shown = prose(hint)
        shown.tabIndex = -1
        shown.dataset.hint = String(i + 1)
        return shown
      }),
      ...(open < this.task.hints.length && !solved ? [next] : []),
    )
  }

  #paintAfter() {
    const {name} = this.task
    const {tries, solved, seen} = attempt(name)
    const revealed = this.model.revealed.task === name ? this.model.revealed : null
    const state = `${solved ?? ""} ${tries >= TRIES} ${seen ?? ""} ${Boolean(revealed)} ${this.result?.passed} ${Boolean(this.fresh)}`
    if (this.after.dataset.state === state) return
    this.after.dataset.state = state
    const parts: Node[] = []
    if (revealed && (solved || seen)) {
      const source = h("pre", {tabindex: "0", role: "region", "aria-label": "A solution"})
      listing(source, revealed.solution, 1)
      parts.push(h("h3", {}, "What this exercise teaches"), prose(revealed.explanation))
      parts.push(h("details", {}, h("summary", {}, "One solution"), h("div", {class: "quote"}, source)))
    } else if (!solved && tries >= TRIES) {
      parts.push(
        h(
          "button",
          {
            type: "button",
            class: "btn",
            onclick: () => {
              note(name, {seen: true})
              this.model.send_msg({type: "reveal", task: this.task.name})
            },
          },
          "Show a solution",
        ),
      )
    }
    if (this.fresh && !this.fresh.passed && revealed && (solved || seen))
      parts.push(
        h(
          "p",
          {},
          h(
            "button",
            {type: "button", class: "btn", onclick: () => this.model.send_msg({type: "compare", task: this.task.name})},
            "Compare yours with a solution, step by step",
          ),
        ),
      )
    if (solved && !this.result?.passed) parts.push(...this.#onward())
    this.after.replaceChildren(...parts)
  }

  #next() {
    const {tasks} = this.model
    const behind = tasks.slice(tasks.indexOf(this.task) + 1)
    return behind.find(({name}) => !attempt(name).solved) ?? behind[0]
  }
}

/** A verdict for screen readers: that all is right, or the first reason why not, and what the next one is. */
function verdictWords(mark: PublicMark) {
  const [first, ...rest] = mark.causes
  if (!first) return `Solved. ${passedWords(mark)}`
  const plain = (words: string) => (/[.!?]$/.test(words) ? words : `${words}.`)
  const more = rest.length > 1 ? ` And ${counted(rest.length - 1, "more reason")}.` : ""
  return [plain(first.heading), placeInWords(first.words), rest.length ? `Also: ${plain(rest[0].heading)}${more}` : ""]
    .filter(Boolean)
    .join(" ")
}

function passedWords(mark: PublicMark) {
  const waves = [...new Set(mark.cases.map(([, , , width]) => width).filter(Boolean))]
  const more = waves.length ? `, with waves of ${waves.join(" and ")}, too` : ""
  return `Right on all ${counted(mark.cases.length, "case")}${more}, and no two threads got in each other's way.`
}

/** The cases with their results; nothing if there is only one. */
function cases({cases: all}: PublicMark) {
  if (all.length < 2) return ""
  const words = {true: "passed", false: "not passed", null: "not run yet"}
  const waits = all.filter(([, hidden, passed]) => hidden && passed === null).length
  return h(
    "ul",
    {class: "cases", "aria-label": "Cases"},
    ...all
      .filter(([, hidden, passed]) => !hidden || passed !== null)
      .map(([name, hidden, passed, waves]) => {
        const state = words[String(passed) as "true" | "false" | "null"]
        return h(
          "li",
          {"data-passed": String(passed)},
          h("i", {"aria-hidden": "true"}, passed ? "✓" : passed === false ? "✗" : "·"),
          `${name}${waves ? `, waves of ${waves}` : ""}`,
          h("small", {}, `${hidden ? "hidden, " : ""}${state}`),
        )
      }),
    waits
      ? h(
          "li",
          {"data-passed": "null"},
          h("i", {"aria-hidden": "true"}, "·"),
          `${counted(waits, "hidden case")}, run once these pass`,
        )
      : null,
  )
}
