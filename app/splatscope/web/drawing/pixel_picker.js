// A small picture written by a kernel, in which one pixel is chosen with a click, by dragging, or with the arrow keys.
import {h} from "#web/runtime/dom.js"
import {GRID, onArrows} from "#web/widgets/roving.js"
import {context2d, paintPixels} from "./pixels.js"
import {s} from "./svg.js"

/**
 * @typedef {[x: number, y: number]} Pixel
 *
 * @typedef {object} PickerFacts
 * @property {[width: number, height: number]} size  in pixels
 * @property {Pixel} pixel  the chosen one
 * @property {string} picture  bytes in base 64
 * @property {[x: number, y: number, sigmaX: number, sigmaY: number, angle: number][]} [ellipses]
 */

const MOVES = {...GRID, Home: [-Infinity, -Infinity], End: [Infinity, Infinity]}

/**
 * Make the picture. `show(facts, colours)` paints it, with a colour for each ellipse.
 * @param {(pixel: Pixel) => void} choose
 */
export function pixelPicker(choose) {
  const canvas = h("canvas", {class: "pixels"})
  const marks = s("svg", {"aria-hidden": "true", preserveAspectRatio: "none"})
  const el = h(
    "div",
    {
      class: "pixel-picker",
      role: "slider",
      tabindex: "0",
      "aria-orientation": "horizontal",
      "aria-label": "Chosen pixel; move it with the arrow keys",
    },
    canvas,
    marks,
  )
  let [width, height] = [1, 1]
  /** @type {Pixel} */
  let pixel = [0, 0]

  const mark = () => {
    for (const old of marks.querySelectorAll(".chosen-pixel")) old.remove()
    for (const name of ["chosen-pixel out", "chosen-pixel"])
      marks.append(s("rect", {x: pixel[0], y: pixel[1], width: 1, height: 1, class: name}))
    el.setAttribute("aria-valuenow", String(pixel[1] * width + pixel[0]))
    el.setAttribute("aria-valuetext", `column ${pixel[0]}, row ${pixel[1]}`)
  }
  const moveTo = (/** @type {number} */ x, /** @type {number} */ y) => {
    /** @type {Pixel} */
    const next = [Math.min(width - 1, Math.max(0, x)), Math.min(height - 1, Math.max(0, y))]
    if (next[0] === pixel[0] && next[1] === pixel[1]) return
    pixel = next
    mark()
    choose(pixel)
  }
  const moveToPointer = (/** @type {PointerEvent} */ event) => {
    const box = el.getBoundingClientRect()
    const [u, v] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height]
    moveTo(Math.floor(u * width), Math.floor(v * height))
  }
  el.onpointerdown = (event) => {
    if (event.button) return
    el.setPointerCapture(event.pointerId)
    moveToPointer(event)
  }
  el.onpointermove = (event) => {
    if (el.hasPointerCapture(event.pointerId)) moveToPointer(event)
  }
  onArrows(el, MOVES, ([dx, dy]) => moveTo(pixel[0] + dx, pixel[1] + dy))

  return {
    el,
    /**
     * Show another picture of the same size until the kernel's arrives.
     * @param {ImageData} image
     */
    preview: (image) => context2d(canvas).putImageData(image, 0, 0),
    /**
     * @param {PickerFacts} facts
     * @param {string[]} colours  of the ellipses, CSS
     */
    show(facts, colours) {
      ;[width, height] = facts.size
      pixel = facts.pixel
      canvas.width = width
      canvas.height = height
      paintPixels(canvas, facts.picture)
      el.style.aspectRatio = `${width} / ${height}`
      el.setAttribute("aria-valuemax", String(width * height - 1))
      el.setAttribute("aria-valuemin", "0")
      marks.setAttribute("viewBox", `0 0 ${width} ${height}`)
      marks.replaceChildren(...(facts.ellipses ?? []).map((ellipse, i) => outline(ellipse, colours[i])))
      mark()
    },
  }
}

/**
 * A Gaussian at two standard deviations. In the kernel, pixel centres have integer coordinates; here they are half a pixel off.
 * @param {[number, number, number, number, number]} ellipse
 * @param {string} colour
 */
function outline([x, y, sigmaX, sigmaY, angle], colour) {
  const turned = `translate(${x + 0.5} ${y + 0.5}) rotate(${(angle * 180) / Math.PI})`
  return s("g", {transform: turned}, s("ellipse", {rx: 2 * sigmaX, ry: 2 * sigmaY, class: "gaussian", style: `--own:${colour}`}))
}
