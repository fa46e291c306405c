// What a backward loop looks back to: every state kept on the way there, beside the one state that is undone turn by turn.
//
// facts: count, layers [[r, g, b, α]], end [r, g, b, T: the state after the last layer]
// Memories: kept, undone [the state before layer i + 1], dByKept, dByUndo [the gradient by its colour and α]
import {h} from "#web/shell/dom.js"
import {show} from "#web/drawing/look.js"

const STATE = 16 // bytes
const rgb = (c) =>
  `rgb(${c
    .slice(0, 3)
    .map((x) => Math.round(255 * Math.min(1, Math.max(0, x))))
    .join(" ")})`
const parts = (memory, i) => [0, 1, 2, 3].map((part) => memory.number(i, part))

export function draw(host) {
  let rows = [],
    last = null,
    held = null,
    count = 0
  const build = () => {
    const {facts} = host
    count = facts.count
    rows = facts.layers.map((layer, i) => {
      const kept = cell(),
        undone = cell(),
        byKept = h("span", {class: "num"}),
        byUndo = h("span", {class: "num"})
      const name = h(
        "span",
        {class: "tap-layer"},
        h("b", {style: `--layer: ${rgb(layer)}`}, String(i + 1)),
        h("span", {class: "num"}, `α ${show(layer[3], 3)}`),
      )
      return {kept, undone, byKept, byUndo, el: h("li", {class: "tap-row"}, name, kept.el, undone.el, byKept, byUndo)}
    })
    last = cell()
    held = [h("span"), h("span")]
    const head = h(
      "p",
      {class: "tap-row tap-head"},
      h("span", {}, "layer"),
      h("span", {}, h("b", {}, "kept"), held[0]),
      h("span", {}, h("b", {}, "undone"), held[1]),
      h("span", {}, "∂L/∂α by kept"),
      h("span", {}, "∂L/∂α by undo"),
    )
    const end = h(
      "li",
      {class: "tap-row tap-end"},
      h("span", {class: "tap-layer"}, "end"),
      h("span"),
      last.el,
      h("span"),
      h("span"),
    )
    host.root.replaceChildren(h("div", {class: "tap"}, head, h("ol", {}, ...rows.map((row) => row.el), end)))
  }

  const paint = (look) => {
    if (!count) return
    const [kept, undone, byKept, byUndo] = ["kept", "undone", "dByKept", "dByUndo"].map((name) => look.memory(name))
    const there = rows.findLastIndex((_, i) => kept.written(i)),
      back = rows.findIndex((_, i) => undone.written(i))
    const turned = rows.some((_, i) => kept.read(i)),
      reading = rows.findIndex((_, i) => kept.read(i))
    const ended =
      turned || (look.value("state.finalCount") !== null && there === count - 1 && look.value("next.value.a") === host.facts.end[3])
    rows.forEach((row, i) => {
      const now = turned ? i === reading : i === there
      row.kept.paint(kept.written(i) ? parts(kept, i) : null, now ? "now" : kept.read(i) ? "spent" : "")
      row.undone.paint(undone.written(i) ? parts(undone, i) : null, i === back ? "now" : "spent")
      const [a, b] = [byKept, byUndo].map((memory) => (memory.written(i) ? memory.number(i, 3) : null))
      row.byKept.textContent = a === null ? "" : show(a)
      row.byUndo.textContent = b === null ? "" : show(b)
      row.byUndo.classList.toggle("off", a !== null && b !== null && a !== b)
      row.el.classList.toggle("here", now && look.step > 0)
    })
    last.paint(ended ? host.facts.end : null, back < 0 ? "now" : "spent")
    const waiting = rows.filter((_, i) => kept.written(i) && !kept.read(i)).length
    held[0].textContent = ` ${waiting} waiting, ${waiting * STATE} bytes`
    held[1].textContent = ended ? ` 1 state, ${STATE} bytes` : ""
  }
  return {
    open() {
      if (host.facts.layers) build()
    },
    paint,
  }
}

// A state (C, T): its light as a colour, its transmittance as a number and a bar.
function cell() {
  const swatch = h("i", {class: "tap-swatch"}),
    words = h("b", {class: "num"}),
    bar = h("i"),
    el = h("span", {class: "tap-cell"}, swatch, h("span", {}, words, h("i", {class: "tap-track"}, bar)))
  return {
    el,
    paint(state, when) {
      el.className = `tap-cell ${state ? when : "unknown"}`
      swatch.style.background = state ? rgb(state) : ""
      words.textContent = state ? `T ${show(state[3])}` : ""
      bar.style.width = state ? `${100 * state[3]}%` : "0"
    },
  }
}
