// The contents of the buffers after the last run.
import {h} from "#web/runtime/dom.ts"
import {PLAIN} from "#web/stepper/panes/findings.ts"
import {isFloat, number, text} from "#web/recording/values.ts"
import type {Recording} from "#web/recording/recording.ts"
import type {Output} from "#web/types.ts"

const SHOWN = 64 // numbers shown for an output

const SAME = {
  ...PLAIN,
  null: "The kernel was not run without recording, because that would not be safe.",
}

export class Outputs {
  of: HTMLSpanElement
  el: HTMLElement

  constructor() {
    this.of = h("span", {class: "dim"})
    this.el = h("section", {class: "panel outputs", "data-testid": "outputs", "aria-label": "Outputs", hidden: true})
  }

  show(recording: Recording) {
    this.el.hidden = !recording.outputs.length
    this.#tell(false)
    this.el.replaceChildren(
      h("div", {class: "ph"}, h("h2", {}, "Outputs"), this.of),
      h(
        "p",
        {class: "hint"},
        recording.head.rounding ?? recording.head.difference ?? SAME[`${recording.head.same_as_plain ?? null}`],
      ),
      ...recording.outputs.map(output),
    )
  }

  /** Called when the kernel or its inputs have changed since the last run. */
  age() {
    this.#tell(true)
  }

  #tell(isOld: boolean) {
    this.el.classList.toggle("old", isOld)
    this.of.textContent = isOld ? "of the last run, before your changes" : "of the last run"
  }
}

const WIDEST = 380 // px

/** Draw a texture: floats from 0 to 1, whole numbers up to the largest. */
function drawn({name, parts, data}: Output, [height, width, components]: [height: number, width: number, components: number]) {
  const canvas = h("canvas", {class: "texel-output", role: "img", "aria-label": `Picture of ${name}`}),
    scalar = parts[0][1],
    values = Array.from(data, (_, i) => number(data, i, scalar)),
    most = isFloat(scalar)
      ? 1
      : Math.max(
          1,
          values.reduce((a, b) => Math.max(a, b), 0),
        )
  canvas.width = width
  canvas.height = height
  canvas.style.width = `${Math.min(WIDEST, width * Math.max(1, Math.floor(192 / Math.max(width, height))))}px`
  const pen = canvas.getContext("2d") as CanvasRenderingContext2D,
    image = pen.createImageData(width, height)
  for (let texel = 0; texel < width * height; texel++) {
    for (let c = 0; c < 3; c++) {
      const value = components === 1 ? values[texel] : c < components ? values[texel * components + c] : 0
      image.data[4 * texel + c] = 255 * (value / most)
    }
    image.data[4 * texel + 3] = 255
  }
  pen.putImageData(image, 0, 0)
  return canvas
}

function output(given: Output) {
  const {name, words, stride, parts, data, picture, size} = given
  if (picture && size) {
    const of = `${size[1].toLocaleString("en")} × ${size[0].toLocaleString("en")} texels`
    return h(
      "div",
      {class: "out", "data-buffer": name},
      h("p", {}, h("code", {}, name), h("span", {class: "dim"}, picture[0] < size[0] ? `${of}, in part` : of)),
      drawn(given, picture),
    )
  }
  const numbers = []
  const wide = parts.length
  for (let at = 0; at < data.length && numbers.length < SHOWN; at += stride) {
    for (const [, scalar, offset] of parts) if (offset % 4 === 0) numbers.push(text(number(data, at + offset / 4, scalar), scalar))
  }
  const count = Math.floor(words / stride)
  return h(
    "div",
    {class: "out", "data-buffer": name},
    h("p", {}, h("code", {}, name), h("span", {class: "dim"}, `${count.toLocaleString("en")} element${count > 1 ? "s" : ""}`)),
    h("p", {class: "mono"}, numbers.join(wide > 1 ? "  " : " ") + (count * wide > numbers.length ? " …" : "")),
  )
}
