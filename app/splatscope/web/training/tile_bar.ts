// The bar above a pixel's layers and its tile's stepper: the pixel, the stages, the tile's Gaussians, and the way back to training.
import {h, style} from "#web/runtime/dom.ts"
import {emit, type MomentShown, on} from "#web/runtime/events.ts"
import {addKeys, setKeys} from "#web/runtime/keys.ts"
import {current, followLink, setInputs} from "#web/runtime/router.ts"
import {primary} from "#web/stepper/steppers.ts"
import {ARROWS, onArrows, setTabStop} from "#web/widgets/roving.ts"
import {refocus} from "./pixel_cursor.ts"
import type {PublicSpot, TileGaussian} from "#components"
import type {Model, Render} from "#web/types.ts"

const withCommas = (n: number) => n.toLocaleString("en")

/** A gradient as text. */
function gradientText(value: number) {
  if (value === 0) return "0"
  const size = Math.abs(value)
  return (size >= 1e-3 && size < 1e4 ? value.toPrecision(4) : value.toExponential(2)).replace("-", "−")
}

const FOLD = 12 // Gaussians shown at first; a button shows those behind

class TileBar {
  title = h("h2", {})
  stages = h("div", {class: "seg", role: "group", "aria-label": "Stage"})
  down = h("button", {type: "button", class: "btn pri", "data-testid": "tile-step"}, "Step it in the debugger")
  list = h("div", {class: "tile-ids", role: "radiogroup", "aria-label": "The tile's Gaussians, nearest first"})
  more = h("button", {type: "button", class: "btn quiet"})
  unfolded = false
  values = h("dl", {class: "tile-raws"})
  notes = h("p", {class: "tile-notes", role: "status"})
  model: Model<"TileBar">
  el: HTMLElement
  open: boolean
  story: boolean
  chosenId: string | null
  spot: Model<"TileBar">["spot"] | null
  listed: TileGaussian[] | null
  begun: string
  wantedStep: number
  root: HTMLElement

  constructor(model: Model<"TileBar">, el: HTMLElement) {
    this.model = model
    this.el = el
    this.open = false
    this.story = false
    this.chosenId = null // as in the address
    this.spot = null
    this.listed = null
    this.begun = "" // hash of the recording that was opened last
    this.wantedStep = current().step
    this.root = this.#assemble()
    this.#listen()
  }

  #assemble() {
    const words = h("span", {class: "wide"}, "to training")
    const attributes = {type: "button", class: "btn", "data-testid": "tile-back", onclick: () => followLink("train")}
    const back = h("button", attributes, h("span", {}, "Back ", words))
    const line = h("div", {class: "tile-line"}, back, this.title, h("span", {class: "sp"}))
    this.more.onclick = () => {
      this.unfolded = !this.unfolded
      this.#paintList()
    }
    this.down.onclick = () => this.#goToStage("blend")
    line.append(this.stages, this.down)
    const root = {class: "tilebar", "aria-label": "The tile", "data-testid": "tile", tabindex: "-1"}
    return h("section", root, line, this.notes, h("div", {class: "tile-fold"}, this.list, this.more), this.values)
  }

  #listen() {
    const {model} = this
    onArrows(this.list, ARROWS, (step, event) => this.#moveInList(step, event))
    const ends = [
      addKeys({active: () => this.open, keys: {Escape: () => followLink("train")}}),
      on("moment", (shown) => this.#onMoment(shown)),
      on("step", (step) => {
        this.wantedStep = step
      }),
    ]
    const soon = () => queueMicrotask(() => this.show())
    for (const name of ["spot", "gaussians", "recording"]) model.on(name, soon)
    const resizes = new ResizeObserver(() => this.area?.style.setProperty("--above", `${this.root.offsetHeight}px`))
    resizes.observe(this.root)
    model.on("remove", () => {
      for (const end of ends) end()
      resizes.disconnect()
      document.querySelector(".app")?.classList.remove("rail")
    })
    soon()
  }

  /** The part of the page that contains the tile. */
  get area() {
    const root = this.el.getRootNode()
    return root instanceof ShadowRoot ? (root.host.closest(".tile-at") as HTMLElement | null) : null
  }

  get chosen() {
    return this.model.gaussians.findIndex(([id]) => String(id) === this.chosenId)
  }

  /** The address's inputs for a stage of this pixel. */
  #inputs(stage: string) {
    const {x, y} = this.model.spot as PublicSpot
    return `x=${x}&y=${y}${stage && `&stage=${stage}`}${this.chosenId === null ? "" : `&gaussian=${this.chosenId}`}`
  }

  show() {
    const {spot} = this.model
    const open = spot.x !== undefined
    this.area?.closest(".page")?.classList.toggle("stepping", open)
    const story = spot.x !== undefined && !spot.stage
    document.querySelector(".app")?.classList.toggle("rail", open && !story)
    this.area?.closest(".page")?.classList.toggle("story", story)
    if (open !== this.open || story !== this.story)
      setKeys(open ? (story ? this.model.keys_story : this.model.keys) : this.model.keys_before)
    this.story = story
    const before = this.open
    this.open = open
    if (open && !before) {
      scrollTo(0, 0)
      this.root.focus({preventScroll: true})
    } else if (before && !open) refocus()
    if (this.spot !== spot) {
      this.spot = spot
      this.begun = ""
      this.chosenId = new URLSearchParams(current().inputs).get("gaussian")
    }
    if (spot.x !== undefined) this.#paint(spot)
  }

  #paint(spot: PublicSpot) {
    const {model} = this
    this.root.setAttribute("aria-label", spot.stage ? "The tile" : "The pixel")
    const iteration = spot.iteration === undefined ? "" : ` at iteration ${withCommas(spot.iteration)}`
    const where = h("span", {class: "wide"}, `, drawn by thread ${spot.thread} of tile ${spot.tile.join(", ")}`)
    this.title.replaceChildren(h("b", {}, `Pixel (${spot.x}, ${spot.y})`), iteration, where)
    this.#paintStages(spot)
    this.down.hidden = Boolean(spot.stage)
    this.stages.hidden = this.notes.hidden = !spot.stage
    if (!spot.stage) {
      this.list.hidden = this.more.hidden = this.values.hidden = true
      return
    }
    const [, , words, page, section] = model.stages.find(([name]) => name === spot.stage) ?? ["", "", "", "", ""]
    const link = h("a", {href: `?page=${page}`}, section)
    this.notes.replaceChildren([words, ...model.notes, "More: "].join(" "), link)
    this.#paintList()
  }

  #paintStages(spot: PublicSpot) {
    const {stages} = this
    if (!stages.children.length) {
      const go = (name: string) => this.#goToStage(name)
      for (const [name, title] of [["", "Pixel"], ...this.model.stages])
        stages.append(h("button", {type: "button", "data-stage": name, onclick: () => go(name)}, title))
    }
    for (const button of stages.children as HTMLCollectionOf<HTMLElement>)
      button.setAttribute("aria-pressed", String(button.dataset.stage === spot.stage))
  }

  #goToStage(stage: string) {
    followLink("train", 0, "", this.#inputs(stage))
    this.#paintStages({...(this.model.spot as PublicSpot), stage}) // at once, because the server's answer may take a moment
    if (stage) primary()?.wait("Recording this stage …")
  }

  get #buttons() {
    return [...this.list.children] as HTMLElement[]
  }

  #paintList() {
    const {gaussians, fields} = this.model
    const {chosen} = this
    if (this.listed !== gaussians) {
      this.listed = gaussians
      this.list.replaceChildren(...gaussians.map((_, i) => this.#gaussianButton(i)))
    }
    this.list.hidden = !gaussians.length
    this.more.hidden = gaussians.length <= FOLD
    this.more.textContent = this.unfolded ? `The first ${FOLD}` : `All ${gaussians.length}`
    this.#buttons.forEach((button, i) => {
      button.setAttribute("aria-checked", String(i === chosen))
      button.hidden = i >= FOLD && i !== chosen && !this.unfolded
    })
    setTabStop(this.#buttons, Math.max(0, chosen))
    this.#buttons[chosen]?.scrollIntoView({block: "nearest", inline: "nearest"})
    const gradients = gaussians[chosen]?.[3]
    this.values.hidden = !gradients
    const rows = (gradients ?? []).map((value, i) =>
      h("div", {}, h("dt", {}, `∂loss/∂ ${fields[i]}`), h("dd", {}, gradientText(value))),
    )
    this.values.replaceChildren(...rows)
  }

  #gaussianButton(i: number) {
    const {gaussians} = this.model
    const [id, colour, , , light] = gaussians[i]
    const swatch = h("i", {class: "tile-sw"})
    swatch.style.background = colour
    const behind = light === null ? "" : `; T behind it: ${light.toPrecision(3)}`
    const attributes = {
      type: "button",
      role: "radio",
      class: light === null ? null : "lit",
      "data-gaussian": id,
      "aria-label": `Gaussian ${id}, layer ${i + 1}`,
      title: `Gaussian ${id}, number ${i + 1} of ${gaussians.length} from the front${behind}`,
      onclick: (event: MouseEvent) => this.#choose(i, event.detail > 0),
    }
    const button = h("button", attributes, swatch, `${id}`)
    if (light !== null) button.style.setProperty("--light", String(light))
    return button
  }

  /**
   * Choose a Gaussian and go to its event. After a click, arrow keys step events again; after a key, they keep moving between
   * Gaussians.
   */
  #choose(i: number, clicked = false) {
    const {gaussians, spot} = this.model
    if (spot.x === undefined) return
    const [id, , step] = gaussians[i]
    this.chosenId = String(id)
    setInputs("train", this.#inputs(spot.stage))
    emit("step", step)
    this.#paintList()
    if (clicked) this.root.focus({preventScroll: true})
  }

  #moveInList(step: number, event: KeyboardEvent) {
    const now = (this.#buttons as (EventTarget | null)[]).indexOf(event.target)
    const next = this.#buttons[now + step]
    if (now < 0 || !next) return
    next.hidden = false
    next.focus()
    this.#choose(now + step)
  }

  /** Handle a new recording: choose the thread of its pixel, and go to the chosen Gaussian, or to where the recording opens. */
  #onMoment({moment, recording: painted}: MomentShown) {
    const {spot, gaussians, recording} = this.model
    if (!this.open || this.begun === painted || painted !== recording) return
    this.begun = painted
    const step = this.wantedStep > 0 ? this.wantedStep : (gaussians[this.chosen]?.[2] ?? this.model.opening)
    queueMicrotask(() => {
      if (spot.x !== undefined) moment.pinned = spot.thread
      emit("step", step)
    })
  }
}

export function render({model, el}: Render<"TileBar">) {
  style(el)
  return new TileBar(model, el).root
}
