// What is wrong: a card for each cause, the one at hand in full.
import {h} from "#web/shell/dom.js"
import {severity} from "./icons.js"
import {describeEvent, subscript} from "#web/stepper/model/describe.js"

/**
 * @import {Finding} from "#web/types.d.ts"
 * @import {Moment} from "#web/stepper/model/moment.js"
 * @import {Recording} from "#web/stepper/model/recording.js"
 * @import {Stepper} from "#web/stepper/stepper.js"
 */

/**
 * How serious a finding is.
 * @param {Finding} finding
 */
export const severityOf = (finding) => finding.severity ?? "error"

export class Findings {
  /** @type {Recording} */
  recording
  /** @type {{el: HTMLElement, head: HTMLElement}[]} */
  cards = []
  picked = -1
  painted = -1 // the finding of the moment last painted

  /** @param {Stepper} stepper */
  constructor(stepper) {
    this.stepper = stepper
    this.el = h("div", {class: "findings", "data-testid": "findings"})
  }

  /** @param {Recording} recording */
  open(recording) {
    this.recording = recording
    // in a figure a note, such as a race that is harmless, stays shut
    this.picked = recording.findings.findIndex((finding) => !this.#isAside(finding))
    this.cards = recording.findings.map((finding, i) => this.#card(finding, i))
    const cards = this.cards.map((card) => card.el)
    // a figure is known to be right, but for what its controls break: only that is told
    const quiet = this.stepper.model.layout === "figure" && !recording.head.truncated
    const rest = quiet ? [] : [cards.length ? null : this.#clean(), ...this.#unseen()]
    this.el.replaceChildren(...cards, ...rest.filter((el) => el !== null))
    this.el.hidden = !this.el.childElementCount
    this.#pick(this.picked)
  }

  /**
   * Whether a finding is not what the figure is about.
   * @param {Finding} finding
   */
  #isAside(finding) {
    return this.stepper.model.layout === "figure" && severityOf(finding) === "note"
  }

  /**
   * Open one card, and shut the others.
   * @param {number} number  -1 for none
   */
  #pick(number) {
    this.picked = number
    this.cards.forEach(({el, head}, i) => {
      el.classList.toggle("open", i === number)
      head.setAttribute("aria-expanded", String(i === number))
    })
  }

  /** What the recording does not show. */
  #unseen() {
    const {unseen = []} = this.recording.head
    return unseen.map((words) => h("p", {class: "dim", "data-testid": "unseen"}, words))
  }

  #clean() {
    const {same_as_plain: same, truncated, groups, between_groups: between} = this.recording.head
    const words = [
      truncated ? "The recording was full before the end: what came later was not looked at." : "",
      same === false
        ? "Run without being recorded, the kernel leaves other numbers: the order of its threads matters."
        : same
          ? "Run without being recorded, the kernel leaves the same results."
          : "",
      groups.every((n) => n === 1)
        ? ""
        : between
          ? "Nor is there a race between workgroups."
          : "Races between workgroups cannot be seen in the recording of one.",
    ]
      .filter(Boolean)
      .join(" ")
    return h(
      "article",
      {class: "finding is-ok open"},
      h("header", {}, severity(truncated ? "note" : "ok"), h("span", {}, "Nothing found")),
      words ? h("div", {class: "body"}, h("p", {}, words)) : null,
    )
  }

  /**
   * @param {Finding} finding
   * @param {number} number
   */
  #card(finding, number) {
    const {recording, stepper} = this,
      [level, words] = [severityOf(finding), finding.label ?? finding.kind]
    const memory = recording.memories.find((m) => m.name === finding.name)
    const indexed = memory && (memory.space === "device" || memory.dims.length || memory.count > 1)
    const target =
      finding.names_memory === false ? null : h("code", {}, finding.name + (indexed ? subscript(memory, finding.index) : ""))
    const rows = finding.events.map((step, i) => {
      const event = step - 1,
        {verb, target: on, value} = describeEvent(recording, event)
      const lane = h("span", {class: `lane ${i === finding.events.length - 1 ? "last" : "first"}`})
      return [
        h(
          "span",
          {},
          h("span", {class: "th"}, lane, `Thread ${recording.thread[event]}`),
          ` ${verb} ${on && indexed && !(recording.flags[event] & 1) ? "" : on} `,
          value ? h("b", {}, value) : null,
          ` on line ${recording.about(event).line}`,
        ),
        h(
          "a",
          {
            href: "#",
            onclick: (/** @type {Event} */ click) => {
              click.preventDefault()
              stepper.showFinding(number, i)
            },
          },
          `event ${step.toLocaleString("en")}`,
        ),
      ]
    })
    const show = h(
      "button",
      {
        type: "button",
        class: `btn${number === 0 && !this.#isAside(finding) ? " pri" : ""}`,
        onclick: () => stepper.showFinding(number),
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
        ? `both in epoch ${recording.epoch[finding.events[0] - 1]}`
        : finding.count > 1
          ? `${finding.count.toLocaleString("en")} times`
          : ""
    const head = h(
      "div",
      {class: "opens", role: "button", tabindex: "0"},
      severity(level),
      h("span", {}, words, target ? " " : null, target),
      h("span", {class: "sp"}),
      h("small", {}, epoch),
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
    const apply = offer ? h("button", {type: "button", class: "btn", onclick: offer.apply}, "Apply the fix and re-run") : null
    const el = h(
      "article",
      {class: `finding is-${level}`, "data-kind": finding.kind, "aria-label": finding.message},
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

  /** @param {Moment} moment */
  paint(moment) {
    if (moment.finding >= 0 && moment.finding !== this.painted) this.#pick(moment.finding)
    this.painted = moment.finding
  }
}
