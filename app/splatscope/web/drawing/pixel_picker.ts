// A small picture written by a kernel, in which one pixel is chosen with a click, by dragging, or with the arrow keys.
import {h} from "#web/runtime/dom.ts"
import type {Pixel} from "#web/runtime/followed_pixel.ts"
import {GRID, onArrows} from "#web/widgets/roving.ts"
import {paintPixels} from "./pixels.ts"
import {s} from "./svg.ts"
import type {DrawingHost} from "./types.ts"

export interface PickerFacts {
  /** In pixels. */
  size: [width: number, height: number]
  /** The chosen one. */
  pixel: Pixel
  /** Bytes, in base 64 from Python. */
  picture: string | Uint8Array<ArrayBuffer>
  ellipses?: [x: number, y: number, sigmaX: number, sigmaY: number, angle: number][]
}

/** The pixel of a trained picture that a section shows; "" and [] for its own example. */
export interface Followed {
  picture: string
  at: number[]
}

/** Choose another pixel of a section's small picture; in a trained picture, the one that is there. */
export function setPixel({values, facts, set}: DrawingHost<PickerFacts, unknown, Followed>, pixel: Pixel) {
  if (!values.picture) return set("pixel", pixel)
  set(
    "at",
    values.at.map((n, i) => Math.max(0, n + pixel[i] - facts.pixel[i])),
  )
}

const MOVES = {...GRID, Home: [-Infinity, -Infinity], End: [Infinity, Infinity]}

/** Make the picture. `show(facts, colours)` paints it, with a colour for each ellipse. */
export function pixelPicker(choose: (pixel: Pixel) => void) {
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
  let pixel: Pixel = [0, 0]

  const mark = () => {
    for (const old of marks.querySelectorAll(".chosen-pixel")) old.remove()
    for (const name of ["chosen-pixel out", "chosen-pixel"])
      marks.append(s("rect", {x: pixel[0], y: pixel[1], width: 1, height: 1, class: name}))
    el.setAttribute("aria-valuenow", String(pixel[1] * width + pixel[0]))
    el.setAttribute("aria-valuetext", `column ${pixel[0]}, row ${pixel[1]}`)
  }
  const moveTo = (x: number, y: number) => {
    const next: Pixel = [Math.min(width - 1, Math.max(0, x)), Math.min(height - 1, Math.max(0, y))]
    if (next[0] === pixel[0] && next[1] === pixel[1]) return
    pixel = next
    mark()
    choose(pixel)
  }
  const moveToPointer = (event: PointerEvent) => {
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
    /** @param colours  of the ellipses, CSS */
    show(facts: PickerFacts, colours: string[]) {
      ;[width, height] = facts.size
      pixel = facts.pixel
      if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, {width, height}) // which clears it
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

/** A Gaussian at two standard deviations. In the kernel, pixel centres have integer coordinates; here they are half a pixel off. */
function outline([x, y, sigmaX, sigmaY, angle]: [number, number, number, number, number], colour: string) {
  const turned = `translate(${x + 0.5} ${y + 0.5}) rotate(${(angle * 180) / Math.PI})`
  return s("g", {transform: turned}, s("ellipse", {rx: 2 * sigmaX, ry: 2 * sigmaY, class: "gaussian", style: `--own:${colour}`}))
}
