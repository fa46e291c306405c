// How: the buttons that move through the run, the current event, the order, the search.
import {h} from "#web/runtime/dom.ts"
import {shortcut} from "#web/runtime/keys.ts"
import {remember, remembered} from "#web/runtime/stored.ts"
import {onFieldKeys} from "#web/widgets/field_keys.ts"
import {arrowsChoose, checkOne} from "#web/widgets/roving.ts"
import {icon, type IconName} from "./icons.ts"
import {describeEvent} from "#web/recording/describe.ts"
import {isNonFinite} from "#web/recording/slice.ts"
import type {Moment} from "#web/recording/moment.ts"
import type {Recording} from "#web/recording/recording.ts"
import type {Stepper} from "#web/stepper/stepper.ts"

const button = (name: IconName, label: string, key: string, act: () => void, klass = "") =>
  h(
    "button",
    {
      type: "button",
      class: `btn icon ${klass}`,
      "data-tip": `${label} (${key})`,
      "aria-label": label,
      "aria-keyshortcuts": shortcut(key),
      onclick: act,
    },
    icon(name),
  )

const DETAILS = "splatscope-events" // key in the browser's storage: whether figures show the current event

export class Transport {
  unit = "" // the unit that the arrows move by
  words = "" // the text shown about the moment
  said = "" // shown in place of the current event until the next move
  stepper: Stepper
  stair: HTMLButtonElement
  play: HTMLButtonElement
  threadName: Text
  back: HTMLButtonElement
  on: HTMLButtonElement
  barriers: HTMLButtonElement[]
  last: HTMLButtonElement
  thread: HTMLButtonElement
  calls: HTMLSpanElement
  stops: HTMLSpanElement
  now: HTMLParagraphElement
  details: HTMLButtonElement
  /** Unfolds the rest of a figure. */
  more = h("button", {
    type: "button",
    class: "btn more",
    title: "The other controls, the legend, the formula, the events",
    "data-testid": "unfold",
  })
  find: HTMLInputElement
  orders: HTMLButtonElement[]
  ownOrderName: Text
  /** Shown while a figure is in the other order than its own: the way back. */
  ownOrder: HTMLParagraphElement
  seg: HTMLDivElement
  el: HTMLDivElement

  constructor(stepper: Stepper) {
    this.stepper = stepper
    this.stair = button("stair", "In lockstep", "O", () => stepper.setOrder(!stepper.moment?.lockstep), "order rare rest")
    this.play = button("play", "Play", "Space", () => stepper.player.toggle())
    this.threadName = document.createTextNode("Step thread")
    this.back = button("back", "", "←", () => stepper.move(-1))
    this.on = button("on", "", "→", () => stepper.move(1), "pri")
    this.#name("event")
    this.barriers = [
      button("wallBack", "Back to the previous barrier", "Shift+←", () => stepper.barrier(-1), "wall rare rest"),
      button("wallOn", "Forward to the next barrier", "Shift+→", () => stepper.barrier(1), "wall rare rest"),
    ]
    const steps = h("span", {class: "steps"}, this.back, this.play, this.on) // what is pressed all the time, apart from the others
    const tp = h(
      "div",
      {class: "tp", role: "group", "aria-label": "Steps"},
      button("start", "To the start", "Home", () => stepper.seek(0), "wide rare rest"),
      this.barriers[0],
      steps,
      button("line", "The next statement, for all threads that execute it together", "S", () => stepper.line(1), "wide rare rest"),
      this.barriers[1],
      button("end", "To the end", "End", () => stepper.seek(Infinity), "wide rare rest"),
      button("write", "Previous write of the followed cell or variable", "W", () => stepper.history.jump(-1), "narrow"),
      this.stair,
    )
    this.last = h(
      "button",
      {
        type: "button",
        class: "btn wide",
        title: "To the previous write of the followed cell or variable (W)",
        "aria-label": "Last write",
        "aria-description": "To the previous write of the followed cell or variable",
        "aria-keyshortcuts": "W",
        onclick: () => stepper.history.jump(-1),
      },
      icon("write"),
      h("span", {class: "word"}, "Last write"),
    )
    this.thread = h(
      "button",
      {
        type: "button",
        class: "btn wide",
        title: "The chosen thread's next statement, into calls (N or F11); the previous one (P)",
        onclick: () => stepper.statement(1),
      },
      this.threadName,
    )
    const step = (words: string, title: string, act: () => void): HTMLElement =>
      h("button", {type: "button", class: "btn wide", title, onclick: act}, words)
    this.calls = h(
      "span",
      {class: "stops wide"},
      step("Over", "Its next statement, over calls (Shift+N or F10)", () => stepper.over(1)),
      step("Out", "Out of its function, to the caller (U or Shift+F11)", () => stepper.out()),
    )
    this.stops = h(
      "span",
      {class: "stops wide", hidden: true},
      button("stopBack", "Back to a breakpoint", "[", () => stepper.breakpoints.go(-1)),
      button("stopOn", "Forward to a breakpoint", "]", () => stepper.breakpoints.go(1)),
    )
    this.now = h("p", {class: "now num"})
    this.details = h(
      "button",
      {
        type: "button",
        class: "btn details rest",
        title: "Show the current event and its number",
        onclick: () => this.#detail(true),
      },
      "Events",
    )
    this.find = h("input", {
      type: "search",
      class: "find",
      title:
        "The first event at which this is true: T < 1/255, keys[10] == 30, line == 21, NaN; or of a kind: write keys, barrier, " +
        "call f, thread 1,3, read keys if i > 3 (/)",
      "aria-label": "Find the first event at which this is true",
      spellcheck: "false",
      autocomplete: "off",
    })
    onFieldKeys(this.find, {
      enter: ({shiftKey}) => stepper.breakpoints.search(this.find.value, shiftKey ? -1 : 1),
      clear: () => stepper.say(""),
    })
    const order = (lockstep: boolean, words: string) =>
      h("button", {type: "button", role: "radio", onclick: () => stepper.setOrder(lockstep)}, words)
    this.orders = [order(false, "As the device ran it"), order(true, "In lockstep")]
    this.ownOrderName = document.createTextNode("")
    this.ownOrder = h(
      "p",
      {class: "own-order", hidden: true},
      h(
        "button",
        {type: "button", title: "Back to this figure's own steps (O)", onclick: () => stepper.setOrder(stepper.model.lockstep)},
        this.ownOrderName,
      ),
    )
    this.seg = h("div", {class: "seg wide", role: "radiogroup", "aria-label": "Order of the events"}, ...this.orders)
    arrowsChoose(this.seg, this.orders)
    this.el = h(
      "div",
      {class: "row"},
      tp,
      h("div", {class: "acts2"}, this.last, this.thread, this.calls, this.stops),
      stepper.model.layout === "figure" ? h("div", {class: "ends"}, this.details, this.more) : null,
      this.now,
      this.find,
      this.seg,
    )
  }

  /** Name the arrows by the unit they move. */
  #name(unit: string) {
    if (unit === this.unit) return
    this.unit = unit
    const named = [
      [this.back, `One ${unit} back`, "←"],
      [this.on, `One ${unit} forward`, "→"],
    ] as const
    for (const [el, label, key] of named) {
      el.dataset.tip = `${label} (${key})`
      el.ariaLabel = label
    }
  }

  /**
   * Show or hide the current event, for all figures from now on.
   * @param other  toggle it; if false, apply the last choice
   */
  #detail(other: boolean) {
    const before = remembered(DETAILS) === "shown"
    const shown = before !== other
    if (other) {
      remember(DETAILS, shown ? "shown" : "hidden")
      this.stepper.announce(shown ? this.words : "")
    }
    this.details.setAttribute("aria-pressed", String(shown))
    this.stepper.root.classList.toggle("detailed", shown)
  }

  open(recording: Recording) {
    this.#detail(false)
    this.seg.hidden = this.stair.hidden = recording.threads < 2
    for (const el of this.barriers) el.hidden = !recording.sites.some(({kind}) => kind === "arrive")
    this.said = ""
    const variable = recording.variables.find(({type}) => /^u?int$/.test(type))
    this.find.placeholder = `Find: ${variable?.name ?? "line"} == 8`
    this.calls.hidden = recording.sites.filter(({kind}) => kind === "call").length < 2
  }

  playing(on: boolean) {
    this.play.replaceChildren(icon(on ? "pause" : "play"))
    this.play.setAttribute("aria-label", on ? "Pause" : "Play")
  }

  say(words: string) {
    this.said = words
    this.stepper.paint()
    if (words) this.stepper.sentence.answer()
  }

  paint(moment: Moment) {
    const {recording} = moment,
      {step} = moment
    this.threadName.data = `Step thread ${moment.thread}`
    this.last.disabled = !moment.followed
    this.stops.hidden = !this.stepper.breakpoints.set.size
    this.el.classList.toggle("crowded", !this.stops.hidden)
    checkOne(this.orders, +moment.lockstep)
    const order = moment.lockstep ? "In lockstep: show the device's order" : "The device's order: show lockstep"
    if (this.stair.ariaLabel !== order) {
      this.stair.replaceChildren(icon(moment.lockstep ? "straight" : "stair"))
      this.stair.ariaLabel = order
      this.stair.dataset.tip = `${order} (O)`
    }
    this.ownOrder.hidden = !this.stepper.inOtherOrder
    this.ownOrderName.data = moment.lockstep ? "Leave lockstep" : "Back to lockstep"
    const {stops, unit: moves} = this.stepper
    this.#name(moves)
    if (this.said) {
      this.now.replaceChildren(this.said)
      this.words = this.said
      return
    }
    const unit =
      stops.length && step
        ? `${this.stepper.model.unit} ${stops.filter((n) => n <= moment.position).length} of ${stops.length}, `
        : ""
    const ask =
      step && isNonFinite(recording, moment.event)
        ? h(
            "button",
            {type: "button", class: "ask", title: "C", onclick: () => this.stepper.origin.explain()},
            "Where did it come from?",
          )
        : ""
    const parts = [unit, ...describeMoment(moment, Boolean(unit))]
    this.words = wordsOf(parts)
    // where it needs two lines, a thread and a line keep their numbers
    const whole = parts.map((part) => (typeof part === "string" ? part.replace(/\b(thread|line) (?=\d)/g, "$1\u00a0") : part))
    this.now.replaceChildren(ask, ...whole)
  }
}

/** Parts of a description, some of them elements, as text. */
export const wordsOf = (parts: (string | Element)[]) =>
  parts.map((part) => (typeof part === "string" ? part : part.textContent)).join("")

/**
 * The current event in words.
 * @param inside  whether more words come before
 */
export function describeMoment(moment: Moment, inside = false) {
  const {recording, step, event} = moment,
    of = ` of ${recording.length.toLocaleString("en")}`
  if (!step) return [h("b", {}, "Before the first event"), `${of}: press → to begin`]
  const {verb, target, value, sign} = describeEvent(recording, event),
    site = recording.about(event)
  const code = value ? h("code", {}, `${target} ${sign} ${value}`) : target ? h("code", {}, target) : null
  const words = value && ["sets", "reads", "writes"].includes(verb) ? "" : verb
  const replay = recording.flags[event] & 2 ? ", replayed for its derivative" : ""
  const where = `${of}: thread ${recording.thread[event]}, line ${site.line}${words || code ? ", " : ""}${words}${words && code ? " " : ""}`
  return [h("b", {}, `${inside ? "event" : "Event"} ${step.toLocaleString("en")}`), where, ...(code ? [code] : []), replay]
}
