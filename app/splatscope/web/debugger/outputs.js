// What the last run left in its buffers.
import {h} from "#web/shell/dom.js"
import {number, text} from "#web/stepper/model/values.js"

const SHOWN = 64 // numbers of an output

const SAME = {
  true: "The kernel without recording leaves the same.",
  false: "The kernel without recording leaves other numbers: the order of its threads matters.",
  null: "The kernel was not run without recording: it is not safe to.",
}

/**
 * @import {Output} from "#web/types.d.ts"
 * @import {Recording} from "#web/stepper/model/recording.js"
 */

export class Outputs {
  constructor() {
    this.el = h("section", {class: "panel outputs", "data-testid": "outputs", "aria-label": "Outputs", hidden: true})
  }

  /** @param {Recording} recording */
  show(recording) {
    this.el.hidden = !recording.outputs.length
    this.el.replaceChildren(
      h("div", {class: "ph"}, h("h2", {}, "Outputs"), h("span", {class: "dim"}, "of the last run")),
      h("p", {class: "hint"}, recording.head.rounding ?? SAME[`${recording.head.same_as_plain ?? null}`]),
      ...recording.outputs.map(output),
    )
  }
}

/** @param {Output} output */
function output({name, words, stride, parts, data}) {
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
