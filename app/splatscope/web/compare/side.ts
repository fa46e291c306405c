// One side of a comparison: a recording's source, chosen thread and memory, always in lockstep.
import {h} from "#web/runtime/dom.ts"
import {Memory} from "#web/stepper/panes/memory.ts"
import {Moment} from "#web/recording/moment.ts"
import {Source} from "#web/stepper/panes/source.ts"
import {Threads} from "#web/stepper/panes/threads.ts"
import {describeMoment} from "#web/stepper/panes/transport.ts"
import {verdictOf} from "#web/stepper/panes/findings.ts"
import {severityIcon} from "#web/stepper/panes/icons.ts"
import {describeEvent} from "#web/recording/describe.ts"
import type {Recording} from "#web/recording/recording.ts"
import type {Meta} from "#components"
import type {Followed} from "#web/types.ts"
import type {Compare} from "./compare.ts"

export class Side {
  recording: Recording
  moment: Moment
  owner: Compare
  source: Source
  threads: Threads
  memory: Memory
  name: HTMLHeadingElement
  adapter: HTMLSpanElement
  findings: HTMLSpanElement
  now: HTMLParagraphElement
  el: HTMLElement

  /** @param which  0 or 1 */
  constructor(owner: Compare, which: number) {
    this.owner = owner
    this.source = new Source(this)
    this.threads = new Threads(this)
    this.memory = new Memory(this)
    this.name = h("h2")
    this.adapter = h("span", {class: "adapter"})
    this.findings = h("span", {class: "dim"})
    this.now = h("p", {class: "now num"})
    this.el = h(
      "section",
      {class: "cmp-half", "data-half": which + 1},
      h("header", {}, this.name, this.adapter, h("span", {class: "sp"}), this.findings),
      this.now,
      this.source.el,
      this.threads.el,
      this.memory.el,
    )
  }

  open(recording: Recording, name: string, meta: Meta) {
    this.recording = recording
    this.moment = new Moment(recording, () => {})
    this.moment.setOrder(true)
    this.el.setAttribute("aria-label", name)
    this.name.textContent = name
    this.adapter.textContent = meta.adapter ?? ""
    const n = recording.findings.length
    const {heading, level} = verdictOf(recording.head)
    this.findings.replaceChildren(
      severityIcon(n ? "error" : level),
      n ? ` ${n} finding${n > 1 ? "s" : ""}` : ` ${heading.toLowerCase()}`,
    )
    for (const pane of [this.source, this.threads, this.memory]) pane.open(recording)
  }

  /** An event in a few words: "thread 3, line 12, keys[3] = 30". */
  describe(event: number) {
    if (event < 0) return "no more events"
    const {recording} = this,
      {verb, target, value, sign} = describeEvent(recording, event)
    const does = value ? `${target} ${sign} ${value}` : `${verb} ${target}`.trim()
    return `thread ${recording.thread[event]}, line ${recording.about(event).line}, ${does}`
  }

  /** @param differs  whether the two sides differ at the current event */
  draw(differs: boolean) {
    this.moment.state.seek(this.moment.position).meet()
    for (const pane of [this.threads, this.memory, this.source]) pane.paint(this.moment)
    this.now.replaceChildren(...(differs ? [severityIcon("error"), " "] : []), ...describeMoment(this.moment))
    this.el.classList.toggle("cmp-differs", differs)
    this.el.dataset.step = String(this.moment.step)
  }

  /** Paint both sides. */
  paint() {
    this.owner.paint()
  }
  choose(thread: number) {
    this.owner.choose(thread)
  }
  /** @param followed  a cell; variables cannot be followed in both */
  follow(followed: Followed | null) {
    if (followed?.memory !== undefined) this.owner.follow(this, followed)
  }
}
