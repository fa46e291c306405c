// The slider of a figure: the run as one line, with its stops as ticks, or else its barriers.
import {h} from "#web/runtime/dom.ts"
import type {Moment} from "#web/recording/moment.ts"
import type {Recording} from "#web/recording/recording.ts"
import type {Stepper} from "#web/stepper/stepper.ts"

const MOST = 120 // stops: more ticks would merge into a bar
const DENSE = 24 // stops: more ticks are drawn thin

export class Scrub {
  foot = null // it has no legend
  drawn = "" // key of what the walls show, which stays while a hand moves
  stepper: Stepper
  slider: HTMLInputElement
  walls: HTMLDivElement
  el: HTMLDivElement

  constructor(stepper: Stepper) {
    this.stepper = stepper
    this.slider = h("input", {type: "range", min: 0, step: 1, "aria-label": "Position in the run"})
    this.walls = h("div", {class: "walls", "aria-hidden": "true"})
    this.el = h("div", {class: "scrub"}, this.walls, this.slider)
    this.slider.oninput = () => stepper.seek(+this.slider.value)
    this.slider.onkeydown = (event) => {
      if (event.key.startsWith("Arrow") || event.key === "Home" || event.key === "End") event.preventDefault()
    }
  }

  open(recording: Recording) {
    const max = String(recording.length)
    if (this.slider.max !== max) this.slider.max = max
  }

  paint(moment: Moment) {
    const stops = this.stepper.stops
    const marks = stops.length ? stops : moment.barriers
    const ticks = marks.length <= MOST ? marks : []
    const key = `${moment.recording.length} ${ticks}`
    if (key !== this.drawn) {
      this.walls.replaceChildren(...ticks.map((p) => h("i", {style: `left:${(p / moment.recording.length) * 100}%`})))
      this.walls.classList.toggle("dense", ticks.length > DENSE)
    }
    this.drawn = key
    this.walls.querySelector(".now")?.classList.remove("now")
    this.walls.children[marks.indexOf(moment.position)]?.classList.add("now")
    this.slider.value = String(moment.position)
    this.slider.style.setProperty("--done", `${(moment.position / moment.recording.length) * 100}%`)
  }

  close() {}
}
