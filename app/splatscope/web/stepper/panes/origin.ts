// Where did NaN come from? The chain of events from which a value that is not finite was computed, the first one on top.
import {h} from "#web/runtime/dom.ts"
import {icon} from "./icons.ts"
import {describeEvent} from "#web/recording/describe.ts"
import {numbers} from "#web/recording/values.ts"
import {isNonFinite, type Slice, slice} from "#web/recording/slice.ts"
import type {Moment} from "#web/recording/moment.ts"
import type {Recording} from "#web/recording/recording.ts"
import type {Stepper} from "#web/stepper/stepper.ts"

const MOST = 12 // rows; a longer chain is shown by its beginning and end

export class Origin {
  recording: Recording
  shown: Slice | null = null
  stepper: Stepper
  name: HTMLSpanElement
  rows: HTMLOListElement
  el: HTMLElement

  constructor(stepper: Stepper) {
    this.stepper = stepper
    this.name = h("span")
    this.rows = h("ol", {class: "chain"})
    const shut = h(
      "button",
      {type: "button", class: "btn quiet icon", "aria-label": "Close", onclick: () => this.#set(null)},
      icon("shut"),
    )
    this.el = h(
      "section",
      {
        class: "panel who origin",
        "data-testid": "origin",
        "aria-label": "Where a value that is not finite came from",
        hidden: true,
      },
      h("h3", {}, this.name, shut),
      this.rows,
    )
  }

  open(recording: Recording) {
    this.recording = recording
    this.el.hidden = true
  }

  #set(chain: Slice | null) {
    if (this.stepper.moment) this.stepper.moment.chain = chain
    this.stepper.paint()
  }

  /** Explain the current event's value, else the followed one, else the last one so far that is not finite. */
  explain() {
    const {moment} = this.stepper,
      {recording} = this
    if (!moment) return
    const followed = moment.followed && this.stepper.history.lastWrite(moment)
    const asked =
      [moment.event, followed ?? -1].find((event) => event >= 0 && isNonFinite(recording, event)) ?? this.#before(moment)
    if (asked === undefined)
      return this.stepper.say(
        moment.position < recording.length ? "No value up to here is NaN or infinite." : "No value of this run is NaN or infinite.",
      )
    this.stepper.say("")
    this.#set(slice(recording, asked))
    this.el.scrollIntoView({block: "nearest"})
  }

  /** The last event so far whose value is not finite. */
  #before(moment: Moment): number | undefined {
    for (let p = moment.position - 1; p >= 0; p--) if (isNonFinite(this.recording, moment.eventAt(p))) return moment.eventAt(p)
    return undefined
  }

  #show(chain: Slice) {
    const {recording} = this,
      {events, inputs} = chain,
      last = events[events.length - 1]
    const {site, wordAt, words} = recording
    const nan = numbers(words, wordAt[last], recording.sites[site[last]].type).some(Number.isNaN)
    this.name.textContent = `Where did this ${nan ? "NaN" : "infinity"} come from?`
    const half = MOST / 2,
      shown = events.length > MOST ? [...events.slice(0, half), -1, ...events.slice(-half)] : events
    this.rows.replaceChildren(
      ...shown.map((event, i) => {
        if (event < 0) return h("li", {class: "none"}, `${events.length - MOST} more`)
        const {target, value, sign} = describeEvent(recording, event)
        const link = h(
          "a",
          {
            href: "#",
            "data-event": event + 1,
            onclick: (click: Event) => {
              click.preventDefault()
              this.#go(event)
            },
          },
          `event ${(event + 1).toLocaleString("en")}`,
        )
        const from =
          i === 0
            ? h(
                "p",
                {class: "none"},
                inputs.length ? "computed from " : "It was an input.",
                h("code", {}, inputs.map((e) => `${describeEvent(recording, e).target} = ${recording.value(e)}`).join(", ")),
              )
            : null
        return h(
          "li",
          {},
          h("code", {}, `${target} ${sign} ${value}`),
          h("span", {}, `thread ${recording.thread[event]}, line ${recording.about(event).line}`),
          link,
          from,
        )
      }),
    )
  }

  #go(event: number) {
    const {moment} = this.stepper
    if (!moment) return
    moment.pinned = -1
    this.stepper.seek(moment.after(event))
  }

  paint(moment: Moment) {
    const {chain} = moment
    if (chain !== this.shown) {
      this.shown = chain
      this.el.hidden = !chain
      if (chain) this.#show(chain)
    }
    if (chain)
      for (const link of this.rows.querySelectorAll("a"))
        link.toggleAttribute("aria-current", Number(link.dataset.event) === moment.step)
  }
}
