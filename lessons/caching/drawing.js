// What a backward loop looks back to: every state cached on the way there, beside the one state that is undone turn by turn.
import {show} from "#web/drawing/look.js"
import {css} from "#web/drawing/svg.js"
import {h} from "#web/shell/dom.js"

/** @import {DrawingHost, DrawingView} from "#web/drawing/types.d.ts" */
/** @import {Look, MemoryLook} from "#web/drawing/look.js" */

/**
 * @typedef {number[]} State  r, g, b and T
 *
 * @typedef {object} Facts
 * @property {number} count  of layers
 * @property {number[][]} layers  r, g, b, α of each
 * @property {State} end  the state after the last layer
 */

const STATE_BYTES = 16

/**
 * Memories: kept and undone hold the state before layer i + 1, dByKept and dByUndo the gradient by its colour and α.
 * @param {DrawingHost<Facts>} host
 * @returns {DrawingView}
 */
export function draw(host) {
  /** @type {ReturnType<typeof table> | null} */
  let drawn = null
  return {
    open() {
      if (!host.facts.layers) return
      drawn = table(host.facts)
      host.root.replaceChildren(drawn.el)
    },
    paint: (look) => drawn?.paint(look),
  }
}

/** @param {Facts} facts */
function table({count, layers, end}) {
  const rows = layers.map(layerRow)
  const last = stateCell()
  const counts = [h("span"), h("span")]
  const head = h(
    "p",
    {class: "cached-row cached-head"},
    h("span", {}, "layer"),
    h("span", {}, h("b", {}, "kept"), counts[0]),
    h("span", {}, h("b", {}, "undone"), counts[1]),
    h("span", {}, "∂L/∂α by kept"),
    h("span", {}, "∂L/∂α by undo"),
  )
  const endName = h("span", {class: "cached-layer"}, "end")
  const endRow = h("li", {class: "cached-row cached-end"}, endName, h("span"), last.el, h("span"), h("span"))
  const el = h("div", {class: "cached"}, head, h("ol", {}, ...rows.map((row) => row.el), endRow))

  const paint = (/** @type {Look} */ look) => {
    const [cached, undone, byCached, byUndo] = ["kept", "undone", "dByKept", "dByUndo"].map((name) => look.ownMemory(name))
    const written = rows.findLastIndex((_, i) => cached.written(i))
    const undoneFrom = rows.findIndex((_, i) => undone.written(i))
    const reading = rows.findIndex((_, i) => cached.read(i))
    const backward = reading >= 0
    const forwardOver = look.value("state.finalCount") !== null && written === count - 1 && look.value("next.value.a") === end[3]
    const ended = backward || forwardOver
    rows.forEach((row, i) => {
      const now = i === (backward ? reading : written)
      row.cached.paint(stateOf(cached, i), now ? "now" : cached.read(i) ? "spent" : "")
      row.undone.paint(stateOf(undone, i), i === undoneFrom ? "now" : "spent")
      const [a, b] = [byCached, byUndo].map((memory) => (memory.written(i) ? memory.number(i, 3) : null))
      row.byCached.textContent = a === null ? "" : show(a)
      row.byUndo.textContent = b === null ? "" : show(b)
      row.byUndo.classList.toggle("off", a !== null && b !== null && a !== b)
      row.el.classList.toggle("here", now && look.step > 0)
    })
    last.paint(ended ? end : null, undoneFrom < 0 ? "now" : "spent")
    const waiting = rows.filter((_, i) => cached.written(i) && !cached.read(i)).length
    counts[0].textContent = ` ${waiting} waiting, ${waiting * STATE_BYTES} bytes`
    counts[1].textContent = ended ? ` 1 state, ${STATE_BYTES} bytes` : ""
  }
  return {el, paint}
}

/**
 * The state in a cell; null while it is not written.
 * @param {MemoryLook} memory
 * @param {number} i
 * @returns {State | null}
 */
const stateOf = (memory, i) => (memory.written(i) ? [0, 1, 2, 3].map((part) => memory.number(i, part) ?? 0) : null)

/**
 * @param {number[]} layer  r, g, b, α
 * @param {number} i
 */
function layerRow(layer, i) {
  const cached = stateCell()
  const undone = stateCell()
  const byCached = h("span", {class: "num"})
  const byUndo = h("span", {class: "num"})
  const disc = h("b", {style: `--layer: ${css(layer.slice(0, 3))}`}, String(i + 1))
  const name = h("span", {class: "cached-layer"}, disc, h("span", {class: "num"}, `α ${show(layer[3], 3)}`))
  const el = h("li", {class: "cached-row"}, name, cached.el, undone.el, byCached, byUndo)
  return {cached, undone, byCached, byUndo, el}
}

/** A state (C, T): its light as a colour, its transmittance as a number and a bar. */
function stateCell() {
  const swatch = h("i", {class: "cached-swatch"})
  const words = h("b", {class: "num"})
  const bar = h("i")
  const el = h("span", {class: "cached-cell"}, swatch, h("span", {}, words, h("i", {class: "cached-track"}, bar)))
  return {
    el,
    /**
     * @param {State | null} state
     * @param {string} when  "now", "spent" or ""
     */
    paint(state, when) {
      el.className = `cached-cell ${state ? when : "unknown"}`
      swatch.style.background = state ? css(state.slice(0, 3)) : ""
      words.textContent = state ? `T ${show(state[3])}` : ""
      bar.style.width = state ? `${100 * state[3]}%` : "0"
    },
  }
}
