// The run as one line, for figures: its barriers as walls, its units as ticks, a thumb.
import {h} from "#web/shell/dom.js"

export class Scrub {
  constructor(stepper) {
    this.stepper = stepper
    this.range = h("input", {type: "range", min: 0, step: 1, "aria-label": "Moment of the run"})
    this.walls = h("div", {class: "walls", "aria-hidden": "true"})
    this.el = h("div", {class: "scrub"}, this.walls, this.range)
    this.range.oninput = () => stepper.seek(+this.range.value)
    this.range.onkeydown = (event) => {
      if (event.key.startsWith("Arrow") || event.key === "Home" || event.key === "End") event.preventDefault()
    }
  }

  open(recording) {
    this.range.max = recording.length
    this.drawn = ""
  }

  paint(moment) {
    const stops = this.stepper.stops
    const marks = stops.length ? stops : moment.barriers
    const key = `${moment.lockstep} ${marks.length}`
    if (key !== this.drawn && marks.length <= 120)
      this.walls.replaceChildren(...marks.map((p) => h("i", {style: `left:${(p / moment.recording.length) * 100}%`})))
    this.drawn = key
    this.range.value = moment.position
    this.range.style.setProperty("--done", `${(moment.position / moment.recording.length) * 100}%`)
    this.range.setAttribute("aria-valuetext", `event ${moment.step} of ${moment.recording.length}`)
  }
}
