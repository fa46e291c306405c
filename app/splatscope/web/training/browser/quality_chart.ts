// PSNR over the iterations of a run, as a line.
import {h} from "#web/runtime/dom.ts"

const SIZE = [600, 120] as const // of the drawing, in its own units
const NUMBER = new Intl.NumberFormat("en")

export class QualityChart {
  #points: [iteration: number, psnr: number][] = []
  #line = document.createElementNS("http://www.w3.org/2000/svg", "polyline")
  #low = h("span")
  #high = h("span")
  #end = h("span")
  #iterations = 1
  el

  constructor() {
    const drawing = document.createElementNS("http://www.w3.org/2000/svg", "svg")
    drawing.setAttribute("viewBox", `0 0 ${SIZE[0]} ${SIZE[1]}`)
    drawing.setAttribute("preserveAspectRatio", "none")
    drawing.append(this.#line)
    const axis = h("div", {class: "axis"}, this.#high, this.#low)
    const plot = h("div", {class: "curve", role: "img", "aria-label": "PSNR over iterations"}, axis, drawing)
    this.el = h("section", {class: "panel chart quality"}, h("h2", {}, "PSNR ", h("span", {}, "over iterations")), plot, this.#end)
    this.#end.className = "dim"
  }

  /** Add a point, after removing those of an earlier run. */
  add(iteration: number, psnr: number, iterations: number) {
    this.#iterations = iterations
    this.#points = [...this.#points.filter(([at]) => at < iteration), [iteration, psnr]]
    this.#draw()
  }

  /** Begin anew. */
  clear() {
    this.#points = []
    this.#draw()
  }

  #draw() {
    const values = this.#points.map(([, psnr]) => psnr)
    const [low, high] = values.length
      ? [Math.floor(Math.min(...values)), Math.max(1 + Math.floor(Math.min(...values)), Math.ceil(Math.max(...values)))]
      : [0, 1]
    const places = this.#points.map(([at, psnr]) => [
      (SIZE[0] * at) / this.#iterations,
      SIZE[1] * (1 - (psnr - low) / (high - low)),
    ])
    this.#line.setAttribute("points", places.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" "))
    this.#low.textContent = values.length ? `${low}` : ""
    this.#high.textContent = values.length ? `${high} dB` : ""
    this.#end.textContent = `${NUMBER.format(this.#iterations)} iterations`
  }
}
