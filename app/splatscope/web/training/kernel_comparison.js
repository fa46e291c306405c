// Simple, tiled and binned kernels: a panel for each kind, with its time as a bar, its kernels, its counts, and why it is faster.
import {h, style} from "#web/runtime/dom.js"

/** @import {Render} from "#web/types.d.ts" */

/**
 * A kind of kernels.
 * @typedef {object} Kind
 * @property {string} name
 * @property {string} title
 * @property {string} why
 * @property {number} ms  per iteration
 * @property {number} gain  how many times faster than the previous kind, 0 for the first
 * @property {[name: string, ms: number][]} kernels
 * @property {[words: string, tip: string, count: number][]} counts
 *
 * @typedef {object} Parameters
 * @property {Kind[]} rungs
 * @property {string} said  what was measured and where, or what went wrong
 * @property {string} large  the same at a size typical of training
 * @property {boolean} here  measured on this device, not one that ships
 * @property {boolean} busy
 */

const ms = (/** @type {number} */ value) =>
  value >= 9.95 ? value.toFixed(0) : value >= 0.095 ? value.toPrecision(2) : value.toFixed(2)
const times = (/** @type {number} */ gain) => (gain >= 9.95 ? gain.toFixed(0) : gain.toFixed(1))

/**
 * @param {string} name
 * @param {number} value  ms
 * @param {number} share  of the iteration
 */
function row(name, value, share) {
  return h("li", {class: "share-bar", style: `--share: ${share}`}, h("code", {}, name), h("span", {}, h("b", {}, ms(value)), " ms"))
}

/**
 * @param {Kind} kind
 * @param {number} slowest  ms per iteration
 * @param {string} [before]  the previous kind
 */
function panel(kind, slowest, before) {
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

/** @param {Render<Parameters>} component */
export function render({model, el}) {
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
