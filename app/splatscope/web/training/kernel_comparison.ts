// Simple, tiled and binned kernels: a panel for each kind, with its time as a bar, its kernels, its counts, and why it is faster.
import {h, style} from "#web/runtime/dom.ts"
import type {Rung} from "#components"
import type {Render} from "#web/types.ts"

const ms = (value: number) => (value >= 9.95 ? value.toFixed(0) : value >= 0.095 ? value.toPrecision(2) : value.toFixed(2))
const times = (gain: number) => (gain >= 9.95 ? gain.toFixed(0) : gain.toFixed(1))

/**
 * @param value  ms
 * @param share  of the iteration
 */
function row(name: string, value: number, share: number) {
  return h("li", {class: "share-bar", style: `--share: ${share}`}, h("code", {}, name), h("span", {}, h("b", {}, ms(value)), " ms"))
}

/**
 * @param slowest  ms per iteration
 * @param before  the previous kind
 */
function panel(kind: Rung, slowest: number, before?: string) {
  const words = kind.gain >= 1 ? ` faster than ${before}` : ` the speed of ${before}`
  const gain = before ? h("span", {class: "rung-gain"}, h("b", {}, `${times(kind.gain)} ×`), words) : null
  return h(
    "li",
    {class: "rung panel", "data-rung": kind.name},
    h("p", {class: "rung-head"}, h("b", {}, kind.name), h("span", {}, kind.title)),
    h("p", {class: "rung-time share-bar", style: `--share: ${kind.ms / slowest}`}, h("b", {}, ms(kind.ms)), " ms", gain),
    h("p", {class: "rung-why"}, kind.why),
    h("h3", {}, "Time by kernel"),
    h("ul", {class: "rung-kernels"}, ...kind.kernels.map(([name, value]) => row(name, value, value / kind.ms))),
    h("h3", {}, "Counted by the kernels"),
    h(
      "dl",
      {class: "rung-counts"},
      ...kind.counts.map(([words, tip, number]) =>
        h("div", {title: tip}, h("dt", {}, words), h("dd", {}, number ? number.toLocaleString("en") : "none")),
      ),
    ),
  )
}

export function render({model, el}: Render<"KernelComparison">) {
  style(el)
  let asked = false // whether the reader waits for a measurement, with the focus on the button
  const measure = () => {
    if (model.busy) return
    asked = true
    said.setAttribute("role", "status") // only now: what is there as the page opens is not announced
    model.send_msg({type: "measure"})
  }
  const button = h(
    "button",
    {class: "btn", type: "button", "data-testid": "ladder-measure", onclick: measure, onblur: () => (asked = false)},
    "Measure on this device",
  )
  const said = h("p", {class: "rung-said"})
  const heading = h("h2", {id: "climb-title", tabindex: "-1"}, "The ladder: simple, tiled, binned")
  const list = h("ol", {class: "rungs"})
  const large = h("p", {class: "rung-large"})
  const root = h(
    "section",
    {class: "climb", "data-testid": "ladder", "aria-labelledby": "climb-title"},
    heading,
    h(
      "p",
      {class: "rung-lead"},
      "Three kinds of kernels move the same Gaussians towards the same picture, but divide the work differently. " +
        "Each rung drops work that the previous one did in vain.",
    ),
    button,
    said,
    list,
    large,
  )
  const show = () => {
    said.textContent = model.said
    large.textContent = model.large
    button.setAttribute("aria-disabled", String(model.busy)) // not disabled: it keeps the focus
    if (model.here && asked) heading.focus({preventScroll: true}) // the button that has it goes
    button.hidden = model.here
    list.replaceChildren(...model.rungs.map((kind, i) => panel(kind, model.rungs[0].ms, model.rungs[i - 1]?.name)))
    root.toggleAttribute("data-measured", model.here)
  }
  const soon = () => queueMicrotask(show)
  for (const name of ["rungs", "said", "large", "here", "busy"]) model.on(name, soon)
  show()
  return root
}
