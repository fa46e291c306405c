// Above the stepper, while a tile of a run is in view: where it is, its stages, its Gaussians, the way back to training.
import {h, style} from "#web/shell/dom.js"
import {emit, on} from "#web/shell/events.js"
import {addKeys, setKeys} from "#web/shell/keys.js"
import {refocus} from "./reticle.js"
import {current, go, setInputs} from "#web/shell/router.js"

const count = (n) => n.toLocaleString("en")
const small = (value) =>
  value === 0 ? "0" : Math.abs(value) >= 1e-3 && Math.abs(value) < 1e4 ? value.toPrecision(4) : value.toExponential(2)

class TileBar {
  constructor(model, el) {
    this.model = model
    this.el = el
    this.open = false
    this.picked = null // the id of a Gaussian, as the address has it
    this.wanted = current().step
    this.back = h(
      "button",
      {type: "button", class: "btn", "data-testid": "tile-back", onclick: () => go("train")},
      "Back",
      h("span", {class: "wide"}, "to training"),
    )
    this.title = h("h2", {})
    this.stages = h("div", {class: "seg", role: "group", "aria-label": "Stage"})
    this.strip = h("div", {class: "tile-ids", role: "radiogroup", "aria-label": "The tile's Gaussians, nearest first"})
    this.strip.onkeydown = (event) => this.#arrow(event)
    this.values = h("dl", {class: "tile-raws"})
    this.notes = h("p", {class: "tile-notes", role: "status"})
    this.root = h(
      "section",
      {class: "tilebar", "aria-label": "The tile", "data-testid": "tile", tabindex: "-1"},
      h("div", {class: "tile-line"}, this.back, this.title, h("span", {class: "sp"}), this.stages),
      this.notes,
      this.strip,
      this.values,
    )
    const ends = [
      addKeys({active: () => this.open, keys: {Escape: () => go("train")}}),
      on("moment", (shown) => this.#moved(shown)),
      on("step", (step) => {
        this.wanted = step
      }),
    ]
    const soon = () => queueMicrotask(() => this.show())
    for (const name of ["spot", "gaussians", "recording"]) model.on(name, soon)
    const size = new ResizeObserver(() => {
      const at = this.at
      if (at) at.style.setProperty("--above", `${this.root.offsetHeight}px`)
    })
    size.observe(this.root)
    model.on("remove", () => {
      for (const end of ends) end()
      size.disconnect()
      document.querySelector(".app").classList.remove("rail")
    })
    soon()
  }

  get at() {
    return this.el.getRootNode().host?.closest(".tile-at")
  }
  get chosen() {
    return this.model.gaussians.findIndex(([id]) => String(id) === this.picked)
  }

  #inputs(stage) {
    const {x, y} = this.model.spot
    return `x=${x}&y=${y}&stage=${stage}${this.picked === null ? "" : `&gaussian=${this.picked}`}`
  }

  show() {
    const {spot} = this.model,
      open = spot.x !== undefined
    this.at?.closest(".page").classList.toggle("stepping", open)
    document.querySelector(".app").classList.toggle("rail", open)
    if (open !== this.open) setKeys(open ? this.model.keys : this.model.keys_before)
    const before = this.open
    this.open = open
    if (open && !before) {
      scrollTo(0, 0)
      this.root.focus({preventScroll: true})
    } else if (before && !open) refocus()
    if (this.spot !== spot) {
      this.spot = spot
      this.picked = new URLSearchParams(current().inputs).get("gaussian")
    }
    if (open) this.#paint(spot)
  }

  #paint(spot) {
    const {model} = this,
      iteration = spot.iteration === undefined ? "" : ` at iteration ${count(spot.iteration)}`
    this.title.replaceChildren(
      h("b", {}, `Pixel ${spot.x}, ${spot.y}`),
      iteration,
      h("span", {class: "wide"}, `: tile ${spot.tile.join(", ")}, thread ${spot.thread}`),
    )
    if (!this.stages.children.length)
      this.stages.append(
        ...model.stages.map(([name, title]) =>
          h("button", {type: "button", "data-stage": name, onclick: () => this.#go(name)}, title),
        ),
      )
    for (const button of this.stages.children) button.setAttribute("aria-pressed", String(button.dataset.stage === spot.stage))
    const [, , says, page] = model.stages.find(([name]) => name === spot.stage)
    this.notes.replaceChildren(
      `${says} `,
      h("a", {href: `?page=${page}`}, "The section about it"),
      ...model.notes.map((words) => `. ${words}`.replace(/\.$/, "")),
      ".",
    )
    this.#list()
  }

  #go(stage) {
    go("train", 0, "", this.#inputs(stage))
  }

  #list() {
    const {gaussians} = this.model,
      chosen = this.chosen
    if (this.listed !== gaussians) {
      this.listed = gaussians
      this.strip.replaceChildren(
        ...gaussians.map(([id, colour, , , light], i) => {
          const swatch = h("i", {class: "tile-sw"}),
            behind = light === null ? "" : `; T behind it: ${light.toPrecision(3)}`
          swatch.style.background = colour
          const button = h(
            "button",
            {
              type: "button",
              role: "radio",
              class: light === null ? null : "lit",
              "data-gaussian": id,
              title: `Gaussian ${id}, number ${i + 1} of ${gaussians.length} from the front${behind}`,
              onclick: (event) => this.#choose(i, event.detail > 0),
            },
            swatch,
            `${id}`,
          )
          if (light !== null) button.style.setProperty("--light", light)
          return button
        }),
      )
    }
    this.strip.hidden = !gaussians.length
    ;[...this.strip.children].forEach((button, i) => {
      button.setAttribute("aria-checked", String(i === chosen))
      button.tabIndex = i === Math.max(0, chosen) ? 0 : -1
    })
    this.strip.children[chosen]?.scrollIntoView({block: "nearest", inline: "nearest"})
    const gradients = gaussians[chosen]?.[3]
    this.values.hidden = !gradients
    this.values.replaceChildren(
      ...(gradients ?? []).map((value, i) =>
        h("div", {}, h("dt", {}, `∂loss/∂ ${this.model.fields[i]}`), h("dd", {}, small(value).replace("-", "−"))),
      ),
    )
  }

  // After a click the arrows step events again, after a key they go on from Gaussian to Gaussian.
  #choose(i, clicked = false) {
    const [id, , step] = this.model.gaussians[i]
    this.picked = String(id)
    setInputs("train", this.#inputs(this.model.spot.stage))
    this.#step(step)
    this.#list()
    if (clicked) this.root.focus({preventScroll: true})
  }

  #arrow(event) {
    const way = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key],
      now = [...this.strip.children].indexOf(event.target)
    const next = this.strip.children[now + way]
    if (!way || now < 0) return
    event.preventDefault()
    event.stopPropagation()
    if (next) {
      next.focus()
      this.#choose(now + way)
    }
  }

  #step(step) {
    emit("step", step)
  }

  // A recording is there: of another pixel another thread is chosen, and the chosen Gaussian is looked up.
  #moved({moment, sequence}) {
    if (!this.open || moment.recording === this.recording || sequence !== this.model.recording) return
    this.recording = moment.recording
    const wanted = this.wanted || this.model.gaussians[this.chosen]?.[2] || 0
    queueMicrotask(() => {
      moment.pinned = this.model.spot.thread
      this.#step(wanted)
    })
  }
}

export function render({model, el}) {
  style(el)
  return new TileBar(model, el).root
}
