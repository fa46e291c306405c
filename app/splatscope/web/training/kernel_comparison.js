// The ladder simple → tiled → binned: a panel a rung, its time as a bar, its kernels, its counts, and why it is faster.
import {h, style} from "#web/shell/dom.js"

const ms = (value) => (value >= 9.95 ? value.toFixed(0) : value >= 0.095 ? value.toPrecision(2) : value.toFixed(2))
const times = (gain) => (gain >= 9.95 ? gain.toFixed(0) : gain.toFixed(1))

function row(name, value, share) {
  return h("li", {style: `--share: ${share}`}, h("code", {}, name), h("span", {}, h("b", {}, ms(value)), " ms"))
}

function panel(rung, slowest) {
  const gain = rung.gain
    ? h("span", {class: "rung-gain"}, h("b", {}, `${times(rung.gain)} ×`), rung.gain >= 1 ? " faster" : " the speed")
    : null
  return h(
    "li",
    {class: "rung panel", "data-rung": rung.name},
    h("p", {class: "rung-head"}, h("b", {}, rung.name), h("span", {}, rung.title)),
    h("p", {class: "rung-time", style: `--share: ${rung.ms / slowest}`}, h("b", {}, ms(rung.ms)), " ms an iteration", gain),
    h("p", {class: "rung-why"}, rung.why),
    h("h3", {}, "Time by kernel"),
    h("ul", {class: "rung-kernels"}, ...rung.kernels.map(([name, value]) => row(name, value, value / rung.ms))),
    h("h3", {}, "Counted by the kernels"),
    h(
      "dl",
      {class: "rung-counts"},
      ...rung.counts.map(([words, tip, number]) =>
        h("div", {title: tip}, h("dt", {}, words), h("dd", {}, number ? number.toLocaleString("en") : "none")),
      ),
    ),
  )
}

export function render({model, el}) {
  style(el)
  const button = h(
    "button",
    {class: "btn", type: "button", "data-testid": "ladder-measure", onclick: () => model.send_msg({type: "measure"})},
    "Measure on this device",
  )
  const said = h("p", {class: "rung-said", role: "status"})
  const list = h("ol", {class: "rungs"})
  const large = h("p", {class: "rung-large"})
  const root = h(
    "section",
    {class: "climb", "data-testid": "ladder", "aria-labelledby": "climb-title"},
    h("h2", {id: "climb-title"}, "The ladder: simple, tiled, binned"),
    h(
      "p",
      {class: "rung-lead"},
      "Three kinds of kernels move the same Gaussians towards the same picture, and differ in how the work is shared out. Each rung leaves out what the one before did in vain.",
    ),
    button,
    said,
    list,
    large,
  )
  const show = () => {
    said.textContent = model.said
    large.textContent = model.large
    button.disabled = model.busy
    button.hidden = model.rungs.length > 0
    list.replaceChildren(...model.rungs.map((rung) => panel(rung, model.rungs[0].ms)))
    if (model.rungs.length) root.dataset.measured = ""
  }
  const soon = () => queueMicrotask(show)
  for (const name of ["rungs", "said", "large", "busy"]) model.on(name, soon)
  show()
  return root
}
