// Who wrote this? The history of the followed cell or variable, and its writes so far, newest first.
import {focused, h} from "#web/runtime/dom.ts"
import {colour, onTheme} from "#web/theme/theme.ts"
import {icon} from "./icons.ts"
import {AccessIndex} from "#web/recording/accesses.ts"
import {nameOf} from "#web/recording/describe.ts"
import {type Moment, near} from "#web/recording/moment.ts"
import type {Recording} from "#web/recording/recording.ts"
import type {Stepper} from "#web/stepper/stepper.ts"
import type {Followed} from "#web/types.ts"

const ROWS = 3

export class WriteHistory {
  recording: Recording
  accesses: AccessIndex
  positions: number[] = []
  key = "" // key of what the positions belong to
  drawn = "" // key of what the background shows
  ground = new OffscreenCanvas(1, 1) // the background: everything but the cursor
  cursor = ""
  stepper: Stepper
  name: HTMLElement
  strip: HTMLCanvasElement
  rows: HTMLUListElement
  before: HTMLButtonElement
  beyond: HTMLButtonElement
  el: HTMLElement
  endTheme: () => void

  constructor(stepper: Stepper) {
    this.stepper = stepper
    this.name = h("code")
    this.strip = h("canvas", {class: "life", role: "img"})
    this.rows = h("ul", {class: "hist"})
    this.before = h("button", {type: "button", class: "btn", onclick: () => this.jump(-1)}, icon("write"), "Previous write")
    this.beyond = h(
      "button",
      {type: "button", class: "btn icon", title: "Next write", "aria-label": "Next write", onclick: () => this.jump(1)},
      icon("on"),
    )
    const shut = h(
      "button",
      {type: "button", class: "btn quiet icon", "aria-label": "Stop following it", onclick: () => stepper.follow(null)},
      icon("shut"),
    )
    this.el = h(
      "section",
      {class: "panel who", "data-testid": "who", "aria-label": "Who wrote this?", hidden: true},
      h("h3", {}, h("span", {}, "Who wrote ", this.name, "?"), this.before, this.beyond, shut),
      this.strip,
      this.rows,
    )
    this.endTheme = onTheme(() => {
      this.drawn = ""
      stepper.paint()
    })
    this.strip.onclick = (event) => {
      const {left, width} = this.strip.getBoundingClientRect()
      this.stepper.seek(Math.round(((event.clientX - left) / width) * this.recording.length))
    }
  }

  open(recording: Recording) {
    this.recording = recording
    this.accesses = new AccessIndex(recording)
    this.key = this.drawn = ""
  }

  /** Positions of the writes, in the order shown. */
  #writes(moment: Moment, followed: Followed) {
    const key = `${JSON.stringify(followed)} ${moment.lockstep}`
    if (this.key !== key) {
      this.key = key
      this.positions = this.accesses
        .of(followed)
        .writes.map((event) => moment.after(event))
        .sort((a, b) => a - b)
    }
    return this.positions
  }

  /** The event that last wrote the followed cell or variable, undefined if there was none yet. */
  lastWrite(moment: Moment) {
    const {followed} = moment
    const position = followed ? this.#writes(moment, followed).findLast((at) => at <= moment.position) : undefined
    return position && moment.eventAt(position - 1)
  }

  /** What is followed and which event last wrote it, for screen readers. */
  told(moment: Moment) {
    const {followed} = moment
    if (!followed) return "Nothing is followed now."
    const event = this.lastWrite(moment)
    const by = event === undefined ? "no thread has written it yet" : `last written by ${this.#writer(event)}. W goes to that write`
    return `Following ${nameOf(this.recording, followed)}: ${by}.`
  }

  /** The thread and the line of an event. */
  #writer(event: number) {
    return `thread ${this.recording.thread[event]}, line ${this.recording.about(event).line}`
  }

  /**
   * Move to the previous or the next write.
   * @param way  -1 or 1
   */
  jump(way: number) {
    const {moment} = this.stepper
    if (!moment) return
    if (!moment.followed) return this.stepper.say("No cell and no variable is followed: choose one first.")
    const position = near(this.#writes(moment, moment.followed), moment.position, way)
    if (position === undefined) return this.stepper.say(`There is no write ${way > 0 ? "after" : "before"} this.`)
    this.stepper.seek(position)
  }

  paint(moment: Moment) {
    const {followed} = moment
    this.el.hidden = !followed
    if (!followed) return
    const {recording} = this,
      writes = this.#writes(moment, followed)
    this.name.textContent = nameOf(recording, followed)
    const until = writes.findLastIndex((position) => position <= moment.position)
    // not disabled: that would take the focus from the one just pressed
    this.before.ariaDisabled = String(near(writes, moment.position, -1) === undefined)
    this.beyond.ariaDisabled = String(near(writes, moment.position, 1) === undefined)
    const shown = writes
      .slice(Math.max(0, until + 1 - ROWS), until + 1)
      .reverse()
      .map((position) => {
        const event = moment.eventAt(position - 1),
          site = recording.about(event)
        const value = site.kind === "atomic" ? site.operation : recording.value(event)
        return h(
          "li",
          {},
          h("span", {class: "v"}, value || "·"),
          h("span", {}, this.#writer(event)),
          h(
            "a",
            {
              href: "#",
              onclick: (click: Event) => {
                click.preventDefault()
                this.stepper.seek(position)
              },
            },
            `event ${(event + 1).toLocaleString("en")}`,
          ),
        )
      })
    const first =
      followed.memory !== undefined && recording.memories[followed.memory].space === "device"
        ? "No thread yet: it has its initial value."
        : "No thread yet."
    const held = this.rows.contains(focused())
    this.rows.replaceChildren(...(shown.length ? shown : [h("li", {class: "none"}, first)]))
    if (held) this.rows.querySelector("a")?.focus({preventScroll: true}) // that of the write just gone to
    this.#draw(moment, followed, writes)
  }

  #draw(moment: Moment, followed: Followed, writes: number[]) {
    const {width, height} = this.strip.getBoundingClientRect(),
      density = window.devicePixelRatio || 1
    if (!width) return
    const key = `${this.key} ${width} ${density}`
    if (this.drawn !== key) {
      this.drawn = key
      this.ground = new OffscreenCanvas(Math.round(width * density), Math.round(height * density))
      const paper = this.ground.getContext("2d") as OffscreenCanvasRenderingContext2D,
        x = (position: number) => (position / this.recording.length) * (width - 5)
      paper.scale(density, density)
      paper.fillStyle = colour("--line-2")
      paper.fillRect(0, height / 2 - 0.5, width, 1)
      paper.fillStyle = colour("--cell-read")
      for (const event of this.accesses.of(followed).reads) paper.fillRect(x(moment.after(event)), height / 2 - 4, 1.2, 8)
      paper.fillStyle = colour("--cell-write")
      for (const position of writes) paper.fillRect(x(position), height / 2 - 6, 4, 12)
      this.strip.width = this.ground.width
      this.strip.height = this.ground.height
      this.cursor = colour("--lane-chosen")
      this.strip.setAttribute("aria-label", `History of ${this.name.textContent}: ${writes.length} writes in the run`)
    }
    const paper = this.strip.getContext("2d") as CanvasRenderingContext2D
    paper.clearRect(0, 0, this.strip.width, this.strip.height)
    paper.drawImage(this.ground, 0, 0)
    paper.fillStyle = this.cursor
    paper.fillRect(
      Math.round(((moment.position / this.recording.length) * (width - 5) + 1) * density),
      0,
      2 * density,
      this.strip.height,
    )
  }

  close() {
    this.endTheme()
  }
}
