// A small picture rendered by the kernels, with a slider for the number of Gaussians. Pictures drawn in advance are shown at once.
import {h, style} from "#web/runtime/dom.ts"
import {showFrames} from "#web/widgets/frame.ts"
import type {Render} from "#web/types.ts"

const thousands = (n: number) => n.toLocaleString("en")

export function render({model, el}: Render<"LiveRender">) {
  style(el)
  const canvas = h("canvas", {width: model.width_px, height: model.height_px})
  const stills = model.counts.length ? h("img", {src: model.stills, alt: ""}) : null
  const frame = h("div", {class: "live-frame", style: `--stills: ${model.counts.length || 1}`}, stills, canvas)
  const slider = h("input", {type: "range", id: "blended", class: "own", min: 1, max: model.total, step: 1, value: model.count})
  const count = h("output", {for: "blended", class: "num", "aria-live": "off", "aria-hidden": "true"}) // the slider announces it
  const note = h("p", {class: "note", role: "status"})
  let asked: number | null = null // the number whose frame was requested
  let live = false // whether the canvas has a frame

  const of = ` of ${thousands(model.total)}${stills ? " Gaussians" : ""}`
  const label = () => {
    count.replaceChildren(h("b", {}, thousands(+slider.value)), of)
    slider.setAttribute("aria-valuetext", `${thousands(+slider.value)} of ${thousands(model.total)} Gaussians`)
  }
  /** Show the picture drawn in advance that is nearest to the slider, until the kernels have drawn theirs. */
  const still = () => {
    if (!stills) return
    const apart = model.counts.map((n) => Math.abs(n - +slider.value))
    frame.style.setProperty("--still", String(apart.indexOf(Math.min(...apart))))
    frame.classList.toggle("drawn", live)
    stills.alt = live ? "" : model.alt // the canvas has the same name, and is hidden until then
  }
  const ask = () => {
    if (asked !== null) return
    asked = +slider.value
    model.send_msg({type: "ask", count: asked})
  }
  const say = (text: string) => {
    note.textContent = text
  }
  // the next request waits until this frame is drawn, and then uses the slider's current value
  const answered = () => {
    const was = asked
    asked = null
    if (was !== null && was !== +slider.value) ask()
  }

  slider.oninput = () => {
    label()
    still()
    ask()
  }
  model.on("message", (answer: {type: string; message: string}) => {
    if (answer.type === "failed") {
      say(answer.message)
      answered()
    }
  })
  showFrames(model, canvas, () => {
    live = true
    say("")
    still()
    answered()
  })
  label()
  still()
  ask()

  const name = stills ? ["Take it apart", h("span", {class: "sr"}, " (Gaussians that are drawn)")] : ["Gaussians blended"]
  return h(
    "figure",
    {class: "live", "aria-label": `A picture of ${thousands(model.total)} Gaussians`, "data-testid": "live-render"},
    frame,
    h("figcaption", {}, h("label", {for: "blended"}, ...name), count, slider, note),
  )
}
