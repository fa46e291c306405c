// A small render by the kernels, and how many Gaussians of it to blend.
import {h, style} from "#web/shell/dom.js"
import {showFrames} from "#web/widgets/frame.js"

/** @import {Render} from "#web/types.d.ts" */

/**
 * @typedef {object} Parameters
 * @property {number} width_px
 * @property {number} height_px
 * @property {number} total  of the Gaussians
 * @property {number} count  of those to blend at first
 * @property {boolean} ready  whether kernels are there to draw
 * @property {Record<string, string>} data  of the picture
 * @property {string} alt
 * @property {number} sequence  number of the frame
 * @property {ArrayBuffer} frame  the picture, encoded
 */

const thousands = (/** @type {number} */ n) => n.toLocaleString("en")

/** @param {Render<Parameters>} component */
export function render({model, el}) {
  style(el)
  const canvas = h("canvas", {width: model.width_px, height: model.height_px})
  const slider = h("input", {type: "range", id: "blended", min: 1, max: model.total, step: 1, value: model.count})
  const count = h("output", {for: "blended", class: "num"})
  const note = h("p", {class: "note", role: "status"})
  /** @type {number | null} */
  let asked = null // the number whose frame is on its way

  const label = () => count.replaceChildren(h("b", {}, thousands(+slider.value)), ` of ${thousands(model.total)}`)
  const ask = () => {
    if (asked !== null) return
    asked = +slider.value
    model.send_msg({type: "ask", count: asked})
  }
  const say = (/** @type {string} */ text) => {
    note.textContent = text
  }
  // the next request waits until this one's frame is drawn, and then asks for where the slider is by now
  const answered = () => {
    const was = asked
    asked = null
    if (was !== null && was !== +slider.value) ask()
  }
  slider.disabled = !model.ready
  slider.oninput = () => {
    label()
    ask()
  }
  model.on("msg:custom", (event) => {
    if (event.type === "failed") {
      say(event.message)
      answered()
    }
  })
  label()
  showFrames(model, canvas, () => {
    say("")
    answered()
  })
  if (model.ready) {
    say("The kernels are being made ready …")
    ask()
  } else say("The kernels that draw here are not connected yet.")

  return h(
    "figure",
    {class: "live", "data-testid": "live-render"},
    h("div", {class: "live-frame"}, canvas),
    h("figcaption", {}, h("label", {for: "blended"}, "Gaussians blended"), count, slider, note),
  )
}
