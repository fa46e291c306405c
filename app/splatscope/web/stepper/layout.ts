// The stepper's elements in their places: the drawing, the panes, the tabs of a narrow window, the transport.
import {h} from "#web/runtime/dom.ts"
import {forget, remember, remembered} from "#web/runtime/stored.ts"
import {severityOf} from "./panes/findings.ts"
import {severityIcon} from "./panes/icons.ts"
import {DESCRIPTION} from "./panes/sentence.ts"
import type {Recording} from "#web/recording/recording.ts"
import type {Stepper} from "./stepper.ts"

const FRAMED = window.parent !== window ? " framed" : "" // in a notebook, or in somebody else's page
const UNFOLDED = "splatscope-unfolded" // key in the browser's storage: set once figures show all that they have
const PHONE = matchMedia("(max-width: 760px)")
const TABS: [name: string, label: string][] = [
  ["memory", "Memory"],
  ["threads", "Threads"],
  ["findings", "Findings"],
]

export class Layout {
  tabs = h("div", {class: "tabs narrow", role: "tablist"})
  heading = h("h2", {class: "sr"}, "Figure") // for those who go from heading to heading
  caption = h("div", {class: "figcaption"})
  drawn = h("div", {class: "aside", role: "group", "aria-label": "The drawing", "aria-describedby": DESCRIPTION})
  close = () => {}
  #said = "" // the caption
  #replace = () => {}
  stepper: Stepper
  root: HTMLDivElement

  constructor(stepper: Stepper) {
    this.stepper = stepper
    const {model} = stepper,
      {layout, parts} = model
    const has = (name: string) => parts.includes(name)
    const dock = h(
      "footer",
      {class: "dock", "aria-label": "Transport and the whole run"},
      layout === "figure" && has("source") ? stepper.lineAtHand.el : null,
      layout === "figure" // there the state covers no controls
        ? h("div", {class: "said"}, stepper.sentence.el, stepper.sentence.opened, stepper.waiting.el, stepper.transport.ownOrder)
        : null,
      stepper.transport.el,
      has("timeline") || layout === "figure" ? stepper.when.el : null,
      stepper.when.foot,
    )
    const right = h(
      "div",
      {class: "right"},
      has("memory") ? stepper.memory.el : null,
      has("memory") || has("threads") ? stepper.history.el : null,
      stepper.origin.el,
      has("findings") ? stepper.findings.el : null,
    )
    this.tabs.append(
      ...TABS.filter(([name]) => has(name)).map(([name, label]) =>
        h("button", {type: "button", role: "tab", "data-tab": name, onclick: () => this.tab(name)}, label),
      ),
    )
    const settings = model.get_child("settings"),
      aside = model.get_child("aside"),
      below = model.get_child("below")
    if (aside) this.drawn.append(aside)
    this.legend()
    const {caption} = this
    new ResizeObserver(() => {
      if (caption.scrollHeight > caption.clientHeight) caption.tabIndex = 0
      else caption.removeAttribute("tabindex") // a tab stop only if there is something to scroll
    }).observe(caption)
    const panes = h(
      "div",
      {class: "panes"},
      aside ? this.drawn : null,
      model.caption ? this.caption : null,
      has("source") ? stepper.source.el : null,
      below ? h("div", {class: "below rest"}, below) : null,
      this.tabs,
      has("threads") ? stepper.threads.el : null,
      right,
    )
    const root = h(
      "div",
      {class: `stage ${layout}${FRAMED} ${parts.map((name) => `has-${name}`).join(" ")}`, "data-testid": "stepper", "data-step": 0},
      layout === "figure" ? this.heading : stepper.waiting.el,
      panes,
      dock,
      stepper.sentence.description,
      stepper.sentence.announcer,
    )
    this.root = root
    if (settings) this.#place(h("div", {class: `settings${model.begins ? "" : " rest"}`}, settings))
    if (layout === "figure") this.fold(remembered(UNFOLDED) === null)
    queueMicrotask(() => this.tab("memory"))
  }

  /**
   * Put the settings above the figure. On a phone, where more than one would push the drawing off the screen, they come below it. They
   * are moved rather than drawn elsewhere, so that Tab reaches them in the visible order.
   */
  #place(settings: HTMLElement) {
    const isBelow = () => PHONE.matches && !this.root.classList.contains("folded") && this.drawn.parentNode
    this.#replace = () => (isBelow() ? this.drawn : this.heading).after(settings)
    PHONE.addEventListener("change", this.#replace)
    this.close = () => PHONE.removeEventListener("change", this.#replace)
  }

  /** Show a figure's picture, one control, one sentence and three buttons, or all that it has. */
  fold(folded: boolean) {
    const {more} = this.stepper.transport
    this.root.classList.toggle("folded", folded)
    this.#replace()
    more.textContent = folded ? "More" : "Less"
    more.setAttribute("aria-expanded", String(!folded))
    more.onclick = () => {
      if (folded) remember(UNFOLDED, "yes")
      else forget(UNFOLDED)
      this.fold(!folded)
    }
  }

  /** Show a pane, in a narrow window in place of the others. */
  tab(name: string) {
    this.root.dataset.tab = name
    for (const tab of this.tabs.children) tab.setAttribute("aria-selected", String(tab.getAttribute("data-tab") === name))
    this.stepper.paint()
  }

  /** Show the caption, which explains the drawing of this recording. */
  legend() {
    const {caption = ""} = this.stepper.model
    if (caption === this.#said) return
    this.#said = caption
    this.caption.innerHTML = caption
    this.caption.classList.toggle("rest", !this.caption.querySelector(".keys"))
  }

  /** Show the number of findings in the tabs. */
  label(recording: Recording) {
    const tab = this.tabs.querySelector("[data-tab=findings]")
    const n = recording.findings.length || (this.stepper.model.reason?.heading === undefined ? 0 : 1)
    // a figure shows one workgroup because its section is about one
    const {missed, truncated} = recording.head
    const seen = this.stepper.model.layout === "figure" ? !truncated : !missed.length
    tab?.replaceChildren(
      ...(n ? [severityIcon("error"), `${n} finding${n > 1 ? "s" : ""}`] : [seen ? "No finding" : "Not all seen"]),
    )
    this.root.classList.toggle("clean", !n)
    this.stepper.findings.el.classList.toggle(
      "rest",
      recording.findings.every((finding) => severityOf(finding) === "note"),
    )
  }
}
