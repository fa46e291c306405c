// One side of a comparison: a recording's source, chosen thread and memory, always in lockstep.
import {h} from "#web/runtime/dom.js"
import {Memory} from "#web/stepper/panes/memory.js"
import {Moment} from "#web/recording/moment.js"
import {Source} from "#web/stepper/panes/source.js"
import {Threads} from "#web/stepper/panes/threads.js"
import {describeMoment} from "#web/stepper/panes/transport.js"
import {verdictOf} from "#web/stepper/panes/findings.js"
import {severityIcon} from "#web/stepper/panes/icons.js"
import {describeEvent} from "#web/recording/describe.js"

/**
 * @import {Followed, Meta} from "#web/types.d.ts"
 * @import {Recording} from "#web/recording/recording.js"
 * @import {Compare} from "./compare.js"
 */

export class Side {
  /** @type {Recording} */
  recording
  /** @type {Moment} */
  moment

  /**
   * @param {Compare} owner
   * @param {number} which  0 or 1
   */
  constructor(owner, which) {
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

  /**
   * @param {Recording} recording
   * @param {string} name
   * @param {Meta} meta
   */
  open(recording, name, meta) {
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

  /**
   * An event in a few words: "thread 3, line 12, keys[3] = 30".
   * @param {number} event
   */
  describe(event) {
    if (event < 0) return "no more events"
    const {recording} = this,
      {verb, target, value, sign} = describeEvent(recording, event)
    const does = value ? `${target} ${sign} ${value}` : `${verb} ${target}`.trim()
    return `thread ${recording.thread[event]}, line ${recording.about(event).line}, ${does}`
  }

  /** @param {boolean} differs  whether the two sides differ at the current event */
  draw(differs) {
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
  /** @param {number} thread */
  choose(thread) {
    this.owner.choose(thread)
  }
  /** @param {Followed | null} followed  a cell; variables cannot be followed in both */
  follow(followed) {
    if (followed?.memory !== undefined) this.owner.follow(this, followed)
  }
}
