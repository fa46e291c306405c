// A pixel of the picture and its tile, chosen with the pointer or the arrow keys, and opened with a click or Enter.
import {h} from "#web/runtime/dom.ts"
import {on} from "#web/runtime/events.ts"
import {current, followLink} from "#web/runtime/router.ts"
import {GRID} from "#web/widgets/roving.ts"

let opened: HTMLElement | null = null // the picture that was left for a tile

/** Give the focus back to the picture that was left for a tile. */
export function refocus() {
  if (opened?.isConnected) opened.focus({preventScroll: true})
}

const ATTRIBUTES = {
  tabindex: "0",
  role: "application",
  "aria-roledescription": "picture",
  "aria-description": "Choose a pixel with the arrow keys; Enter shows what it is made of.",
  "data-testid": "train-pixel",
}

/** Where the pixel is kept that was opened. */
export interface OpenedPixel {
  readonly at: [x: number, y: number] | null
  open(x: number, y: number): void
}

/** In the address: its tile is opened in the stepper. */
const IN_ADDRESS: OpenedPixel = {
  get at(): OpenedPixel["at"] {
    const inputs = new URLSearchParams(current().inputs)
    return inputs.has("x") && !inputs.has("stage") ? [Number(inputs.get("x")), Number(inputs.get("y"))] : null
  },
  open: (x, y) => followLink("train", 0, "", `x=${x}&y=${y}`),
}

/** The cursor over the picture of a training run. */
export class PixelCursor {
  frame: HTMLElement
  colour: (x: number, y: number) => string
  model: {sequence: number; tile: [width: number, height: number]}
  pixel: OpenedPixel
  width: number
  height: number
  x: number
  y: number
  /** The pixel that was opened last; null for none. */
  chosen: [x: number, y: number] | null = null
  tileMark: HTMLElement
  pixelMark: HTMLElement
  words: HTMLDivElement
  heard: HTMLParagraphElement
  el: HTMLDivElement
  /** Stop following the address. */
  end: () => void

  /**
   * @param frame  the element around the picture
   * @param model  number of the picture's frame, size of a tile
   * @param colour  what is shown at a pixel, in words
   * @param pixel  the pixel that is opened
   */
  constructor(
    frame: HTMLElement,
    model: {sequence: number; tile: [width: number, height: number]},
    colour: (x: number, y: number) => string,
    pixel = IN_ADDRESS,
  ) {
    this.frame = frame
    this.pixel = pixel
    this.colour = colour
    this.model = model
    this.width = 1
    this.height = 1
    this.x = -1
    this.y = -1
    this.tileMark = h("i", {class: "at-tile"})
    this.pixelMark = h("i", {class: "at-pixel"})
    this.words = h("div", {class: "at-words", "aria-hidden": "true"})
    this.heard = h("p", {class: "sr", role: "status", "data-testid": "train-pixel-heard"}) // what the keys choose
    this.el = h("div", {class: "pixel-cursor", hidden: true}, this.tileMark, this.pixelMark, this.words, this.heard)
    frame.append(this.el)
    for (const [name, value] of Object.entries(ATTRIBUTES)) frame.setAttribute(name, value)
    this.#listen()
    this.end = on("step", () => this.#rest())
  }

  /** Called when no pointer is over the picture: mark the pixel whose layers are shown, unless the keys choose another one. */
  #rest() {
    const {frame} = this
    const told = this.pixel.at
    if (told && !frame.matches(":focus-visible")) this.#moveTo(told[0], told[1])
    this.el.hidden = !told && !frame.matches(":focus-visible")
  }

  #listen() {
    const {frame} = this
    frame.onpointermove = (event) => {
      if (event.pointerType !== "mouse") return
      this.#moveToPointer(event)
      this.el.hidden = false
    }
    frame.onpointerleave = () => this.#rest()
    frame.onclick = (event) => {
      this.#moveToPointer(event)
      this.open()
    }
    frame.onfocus = () => {
      if (this.x < 0) this.#moveTo(this.width >> 1, this.height >> 1)
      if (frame.matches(":focus-visible")) this.el.hidden = false
    }
    frame.onblur = () => this.#rest()
    frame.onkeydown = (event) => this.#key(event)
  }

  /** Set the picture's size, in pixels. */
  resize(width: number, height: number) {
    if (this.width === width && this.height === height) return
    Object.assign(this, {width, height, x: -1, y: -1, chosen: null})
    this.#rest()
  }

  /** Open the pixel. */
  open() {
    if (!this.model.sequence) return
    opened = this.frame
    this.chosen = [this.x, this.y]
    this.pixel.open(this.x, this.y)
    this.#moveTo(this.x, this.y)
  }

  #key(event: KeyboardEvent) {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const move = GRID[event.key]
    const [width, height] = event.shiftKey ? this.model.tile : [1, 1]
    if (!move && event.key !== "Enter") return
    event.preventDefault()
    event.stopPropagation() // elsewhere on the page, an arrow key runs an iteration
    if (!move) return this.open()
    this.el.hidden = false
    this.#moveTo(this.x + move[0] * width, this.y + move[1] * height)
    this.heard.textContent = `Column ${this.x}, row ${this.y}: ${this.colour(this.x, this.y)}`
  }

  #moveToPointer({clientX, clientY}: MouseEvent) {
    const box = this.frame.getBoundingClientRect()
    const [u, v] = [(clientX - box.x) / box.width, (clientY - box.y) / box.height]
    this.#moveTo(Math.floor(u * this.width), Math.floor(v * this.height))
  }

  #moveTo(x: number, y: number) {
    this.x = Math.max(0, Math.min(this.width - 1, x))
    this.y = Math.max(0, Math.min(this.height - 1, y))
    const [width, height] = this.model.tile
    const column = Math.floor(this.x / width)
    const row = Math.floor(this.y / height)
    this.#outline(this.tileMark, column * width, row * height, width, height)
    this.#outline(this.pixelMark, this.x, this.y, 1, 1)
    this.el.classList.toggle("low", this.y > this.height / 2) // keeps the words away from the pixel
    const told = this.pixel.at
    const here = told?.[0] === this.x && told[1] === this.y
    this.words.textContent = `Pixel (${this.x}, ${this.y}): ${here ? "its layers are shown" : "click, or press Enter, to see what it is made of"}`
  }

  #outline(el: HTMLElement, x: number, y: number, width: number, height: number) {
    const percent = (value: number, of: number) => `${(100 * value) / of}%`
    Object.assign(el.style, {
      left: percent(x, this.width),
      top: percent(y, this.height),
      width: percent(width, this.width),
      height: percent(height, this.height),
    })
  }
}
