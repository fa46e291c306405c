// The findings: a card for each cause, the current one unfolded.
import {h} from "#web/runtime/dom.ts"
import {emit, type RecordAgain} from "#web/runtime/events.ts"
import {severityIcon} from "./icons.ts"
import {describeEvent, subscript} from "#web/recording/describe.ts"
import type {Moment} from "#web/recording/moment.ts"
import type {Recording} from "#web/recording/recording.ts"
import type {Stepper} from "#web/stepper/stepper.ts"
import type {Finding, Head} from "#web/types.ts"

const MOST_MISSED = 6 // sentences about what was not looked at
const SEARCHING = "Changing the kernel, and recording it again …"
const NO_FIX = "None of the changes that were tried takes a finding away."
const LOOKED_FOR =
  "No race, no barrier that only some threads reach, no access out of bounds, no read before a write, nor any of a dozen other faults."
export const PLAIN = {
  true: "Without recording, the kernel gives the same results.",
  false: "Without recording, the kernel gives other results: the order of its threads matters.",
}

/** How serious a finding is. */
export const severityOf = (finding: Finding) => finding.severity ?? "error"

/**
 * How to show a recording's verdict beside its findings. The verdict itself was decided when it was recorded, by `verdict_of` in
 * tracing/record_and_check.py.
 */
export function verdictOf({verdict, missed}: Head): {heading: string; level: "ok" | "note"; missed: string[]} {
  const others = missed.filter((words) => words !== `${verdict}.`)
  const more = others.length - MOST_MISSED
  return {
    heading: verdict,
    level: missed.length ? "note" : "ok",
    missed: more > 0 ? [...others.slice(0, MOST_MISSED), `And ${more} more.`] : others,
  }
}

/** The number of the finding with a reason; -1 if it is not in this recording. */
export const findingOf = (recording: Recording, {kind, name, line}: {kind: string; name: string; line: number}) =>
  recording.findings.findIndex(
    (finding) => finding.kind === kind && finding.name === name && finding.lines.includes(line) && finding.events.length > 0,
  )

export class Findings {
  recording: Recording
  cards: {el: HTMLElement; head: HTMLElement}[] = []
  picked = -1
  painted = -1 // the finding of the moment last painted
  stepper: Stepper
  el: HTMLDivElement

  constructor(stepper: Stepper) {
    this.stepper = stepper
    this.el = h("div", {class: "findings", role: "group", "aria-label": "Findings", tabindex: "-1", "data-testid": "findings"})
  }

  open(recording: Recording) {
    this.recording = recording
    // in a figure a note, such as a harmless race, stays folded
    this.picked = recording.findings.findIndex((finding) => !this.#isAside(finding))
    this.cards = recording.findings.map((finding, i) => this.#card(finding, i))
    const cards = this.cards.map((card) => card.el)
    // a figure is known to be right except for what its controls break, so only that is shown
    const quiet = this.stepper.model.layout === "figure" && !recording.head.truncated
    const whole = !recording.head.missed.length
    const {reason} = this.stepper.model
    const told = reason?.heading !== undefined && findingOf(recording, reason) < 0 ? [this.#told(reason)] : []
    if (told.length) this.picked = -1
    const rest = quiet ? [] : [(cards.length || told.length) && whole ? null : this.#verdict(), ...this.#beside()]
    this.el.replaceChildren(...told, ...cards, ...rest.filter((el) => el !== null))
    this.el.hidden = !this.el.childElementCount
    this.#pick(this.picked)
  }

  /** Draw the cards again, the same one unfolded, once a fix is looked for or found. Return what to announce. */
  renew() {
    const {picked} = this
    this.open(this.recording)
    this.#pick(picked)
    const {fix, fix_search: search} = this.stepper.model
    return search === "busy" ? SEARCHING : search === "none" ? NO_FIX : fix.length ? "A fix was found, and tried." : ""
  }

  /** What a figure announces of a recording: what it found that is more than a side note, "" for nothing. */
  get news() {
    return this.recording.findings.some((finding) => !this.#isAside(finding)) ? this.words : ""
  }

  /** How many findings there are, and the first: "1 finding: race on counts[1], line 17." */
  get words() {
    const {findings, head} = this.recording,
      [first] = findings
    if (!first) return `${verdictOf(head).heading}.`
    const {words, target} = this.#title(first)
    const lines = [...new Set(first.lines)].sort((a, b) => a - b)
    const where = lines.length ? `, ${lines.length > 1 ? "lines" : "line"} ${lines.join(" and ")}` : ""
    const many = findings.filter(({depth}) => !depth).length
    const title = `${words[0].toLowerCase()}${words.slice(1)}${target && ` ${target}`}${where}`
    const more = findings.length - many
    const rest = more
      ? ` ${more === 1 ? "One more" : `${more.toLocaleString("en")} more`} may follow from ${many > 1 ? "these" : "it"}.`
      : ""
    return `${many.toLocaleString("en")} ${many > 1 ? "findings, the first" : "finding"}: ${title}.${rest}`
  }

  /** The title of a finding, and the memory or variable that it is about, "" for none. */
  #title(finding: Finding) {
    const memory = this.recording.memories.find((m) => m.name === finding.name)
    const indexed = memory && (memory.space === "device" || memory.dims.length || memory.count > 1)
    const target = finding.names_memory === false ? "" : finding.name + (indexed ? subscript(memory, finding.index) : "")
    return {words: finding.label ?? finding.kind, target, indexed}
  }

  /** Whether a finding is only a side note in a figure. */
  #isAside(finding: Finding) {
    return this.stepper.model.layout === "figure" && severityOf(finding) === "note"
  }

  /** A card for a reason that is not a finding of this recording. */
  #told({heading, words}: {heading: string; words: string}) {
    return h(
      "article",
      {class: "finding is-error open", "data-testid": "told"},
      h("header", {}, severityIcon("error"), h("span", {}, heading)),
      h("div", {class: "body"}, h("p", {}, words)),
    )
  }

  /**
   * Open one card and close the others.
   * @param number  -1 for none
   */
  #pick(number: number) {
    this.picked = number
    this.cards.forEach(({el, head}, i) => {
      el.classList.toggle("open", i === number)
      head.setAttribute("aria-expanded", String(i === number))
    })
  }

  /** What was not looked at, and other notes about the verdict. */
  #beside() {
    const {notes = []} = this.recording.head
    return [
      ...verdictOf(this.recording.head).missed.map((words) => h("p", {class: "dim", "data-testid": "unseen"}, words)),
      ...notes.map((words) => h("p", {class: "dim", "data-testid": "note"}, words)),
    ]
  }

  /** The verdict, for when nothing was found or not everything was looked at. */
  #verdict() {
    const {head} = this.recording,
      {same_as_plain: same, missed, findings} = head
    const {heading, level} = verdictOf(head)
    const plain = head.rounding ?? head.difference ?? (same === null ? "" : PLAIN[`${same}`])
    const all = head.between_groups && !missed.length && !findings.length
    const words = [
      level === "ok" && !findings.length ? LOOKED_FOR : "",
      head.events
        ? ""
        : "So nothing is known of what the kernel does. Choose fewer functions under Edit, Records, and run it again.",
      head.events && !missed.includes(plain) ? plain : "",
      all ? "There is no race between workgroups either." : "",
    ]
      .filter(Boolean)
      .join(" ")
    const offers = this.#offers()
    return h(
      "article",
      {class: `finding ${level === "ok" ? "is-ok" : "is-note"} open`, "data-verdict": level},
      h("header", {}, severityIcon(level), h("span", {}, heading)),
      words || offers.length
        ? h("div", {class: "body"}, h("p", {}, words), offers.length ? h("div", {class: "go"}, ...offers) : null)
        : null,
    )
  }

  /** Buttons for a recording that was full: record more events, or leave out the function that has most of them. */
  #offers() {
    const {recording, stepper} = this,
      {head} = recording
    if (!stepper.model.kernel || !head.truncated) return []
    const offer = (words: string, what: RecordAgain) =>
      h("button", {type: "button", class: "btn", onclick: () => emit("debug-record", what)}, words)
    const shares = new Map<string, number>()
    for (let e = 0; e < recording.length; e++) {
      const name = recording.about(e).function ?? ""
      shares.set(name, (shares.get(name) ?? 0) + 1)
    }
    const [name, most] = [...shares].filter(([one]) => one && one !== head.entry).sort((a, b) => b[1] - a[1])[0] ?? ["", 0]
    return [
      offer("Record four times as much", {more: true}),
      ...(name
        ? [
            offer(`Leave out ${name}: ${Math.round((most / recording.length) * 100)}% of the events`, {leave: name}),
            offer("Record only the entry point", {entry: true}),
          ]
        : []),
    ]
  }

  #card(finding: Finding, number: number) {
    const {recording, stepper} = this,
      level = severityOf(finding),
      {words, target: name, indexed} = this.#title(finding)
    const target = name ? h("code", {}, name) : null
    const rows = finding.events.map((step, i) => {
      const event = step - 1,
        {verb, target: on, value} = describeEvent(recording, event),
        outside = recording.flags[event] & 1
      const of = !value ? "" : recording.about(event).kind === "atomic" ? ", which was" : outside ? ", value" : ""
      const lane = h("span", {class: `lane ${i === finding.events.length - 1 ? "last" : "first"}`})
      return [
        h(
          "span",
          {},
          h("span", {class: "th"}, lane, `Thread ${recording.thread[event]}`),
          ` ${verb} ${on && indexed && !of ? "" : on}${of} `,
          value ? h("b", {}, value) : null,
          ` on line ${recording.about(event).line}`,
        ),
        h(
          "a",
          {
            href: "#",
            onclick: (click: Event) => {
              click.preventDefault()
              stepper.showFinding(number, i)
            },
          },
          `event ${step.toLocaleString("en")}`,
        ),
      ]
    })
    // in a figure, of a read and a write, the read: it is what a sentence is about, and where a read that came too early goes wrong
    const read =
      stepper.model.layout === "figure" && finding.kind === "race"
        ? finding.events.findLastIndex((step) => recording.about(step - 1).kind === "read")
        : -1
    const show = h(
      "button",
      {
        type: "button",
        class: `btn${number === 0 && !this.#isAside(finding) ? " pri" : ""}`,
        onclick: () => stepper.showFinding(number, read),
      },
      "Show the moment",
    )
    const ask =
      finding.kind === "nan"
        ? h(
            "button",
            {
              type: "button",
              class: "btn",
              onclick: () => {
                stepper.showFinding(number)
                stepper.origin.explain()
              },
            },
            "Where did it come from?",
          )
        : null
    const epoch =
      finding.events.length > 1
        ? finding.kind.includes("race")
          ? "no barrier between the two accesses"
          : ""
        : finding.count > 1
          ? `${finding.count.toLocaleString("en")} times`
          : ""
    const head = h(
      "div",
      {class: "opens", role: "button", tabindex: "0"},
      severityIcon(level),
      h("span", {}, words, target ? " " : null, target),
      h("span", {class: "sp"}),
      h("small", {}, epoch, epoch.includes("epoch") ? h("span", {class: "sr"}, ", from one barrier to the next") : null),
    )
    head.onclick = () => this.#pick(this.picked === number ? -1 : number)
    head.onkeydown = (event) => {
      if (event.key !== "Enter" && event.key !== " ") return
      event.preventDefault()
      event.stopPropagation()
      head.click()
    }
    const many =
      finding.count > 1 && finding.events.length > 1 ? ` Seen ${finding.count.toLocaleString("en")} times with this cause.` : ""
    const offer = stepper.offer()
    const fix = offer?.lines.map(([sign, line, text]) =>
      h("div", {class: sign === "+" ? "add" : "del"}, `${sign} ${String(line).padStart(3)}  ${text}`),
    )
    const apply = offer
      ? h("button", {type: "button", class: "btn", "data-testid": "fix", onclick: offer.apply}, "Apply the fix and re-run")
      : this.#search()
    const el = h(
      "article",
      {class: `finding is-${level}`, "data-kind": finding.kind, style: finding.depth ? `--depth: ${finding.depth}` : null},
      h("header", {}, head),
      h(
        "div",
        {class: "body"},
        h("div", {class: "acts"}, ...rows.flat()),
        h("p", {}, finding.message + many),
        fix ? h("div", {class: "fix"}, ...fix) : null,
        h("div", {class: "go"}, finding.events.length ? show : null, ask, apply),
      ),
    )
    return {el, head}
  }

  /** What stands in place of a fix: a button that looks for one, or how that goes; null where none can be looked for. */
  #search() {
    const {model} = this.stepper
    if (model.fix_search === "ready") {
      const onclick = () => model.send_msg({type: "fix"})
      return h("button", {type: "button", class: "btn", "data-testid": "fix", onclick}, "Look for a fix")
    }
    return model.fix_search ? h("span", {class: "dim"}, model.fix_search === "busy" ? SEARCHING : NO_FIX) : null
  }

  paint(moment: Moment) {
    if (moment.finding >= 0 && moment.finding !== this.painted) this.#pick(moment.finding)
    this.painted = moment.finding
  }
}
