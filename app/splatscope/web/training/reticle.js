// A pixel of the picture and the tile it lies in: chosen by pointer or arrows, opened by a click or Enter.
import {h} from "#web/shell/dom.js"
import {go} from "#web/shell/router.js"

let opened = null // the picture that was left for a tile

// Back from a tile: the focus is where it was.
export const refocus = () => opened?.isConnected && opened.focus({preventScroll: true})

const MOVES = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}

export class Reticle {
  constructor(frame, model) {
    Object.assign(this, {frame, model, width: 1, height: 1, x: -1, y: -1})
    this.tile = h("i", {class: "at-tile"})
    this.pixel = h("i", {class: "at-pixel"})
    this.words = h("output", {class: "at-words", "aria-live": "polite"})
    this.el = h("div", {class: "reticle", hidden: true}, this.tile, this.pixel, this.words)
    frame.append(this.el)
    for (const [name, value] of [
      ["tabindex", "0"],
      ["role", "application"],
      ["aria-label", "The picture. Arrows choose a pixel, Enter opens its tile in the stepper."],
      ["data-testid", "train-pixel"],
    ])
      frame.setAttribute(name, value)
    const under = ({clientX, clientY}) => {
      const box = frame.getBoundingClientRect()
      this.#put(
        Math.floor(((clientX - box.x) / box.width) * this.width),
        Math.floor(((clientY - box.y) / box.height) * this.height),
      )
    }
    frame.onpointermove = (event) => {
      if (event.pointerType === "mouse") {
        under(event)
        this.el.hidden = false
      }
    }
    frame.onpointerleave = () => {
      this.el.hidden = !frame.matches(":focus-visible")
    }
    frame.onclick = (event) => {
      under(event)
      this.open()
    }
    frame.onfocus = () => {
      if (this.x < 0) this.#put(this.width >> 1, this.height >> 1)
      if (frame.matches(":focus-visible")) this.el.hidden = false
    }
    frame.onblur = () => {
      this.el.hidden = true
    }
    frame.onkeydown = (event) => this.#key(event)
  }

  resize(width, height) {
    if (this.width === width && this.height === height) return
    Object.assign(this, {width, height, x: -1, y: -1})
    this.el.hidden = true
  }

  open() {
    if (!this.model.sequence) return
    opened = this.frame
    go("train", 0, "", `x=${this.x}&y=${this.y}`)
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const move = MOVES[event.key],
      [width, height] = event.shiftKey ? this.model.tile : [1, 1]
    if (!move && event.key !== "Enter") return
    event.preventDefault()
    event.stopPropagation() // an arrow is an iteration elsewhere on the page
    if (!move) return this.open()
    this.el.hidden = false
    this.#put(this.x + move[0] * width, this.y + move[1] * height)
  }

  #put(x, y) {
    this.x = Math.max(0, Math.min(this.width - 1, x))
    this.y = Math.max(0, Math.min(this.height - 1, y))
    const [width, height] = this.model.tile,
      column = Math.floor(this.x / width),
      row = Math.floor(this.y / height)
    this.#outline(this.tile, column * width, row * height, width, height)
    this.#outline(this.pixel, this.x, this.y, 1, 1)
    this.el.classList.toggle("low", this.y > this.height / 2) // the words stay clear of the pixel
    this.words.textContent = `Pixel ${this.x}, ${this.y}, tile ${column}, ${row}: click or Enter to step it`
  }

  #outline(el, x, y, width, height) {
    const share = (value, of) => `${(100 * value) / of}%`
    Object.assign(el.style, {
      left: share(x, this.width),
      top: share(y, this.height),
      width: share(width, this.width),
      height: share(height, this.height),
    })
  }
}
