// What a backward loop looks back to: every state cached on the way there, beside the one state that is undone turn by turn. What has not
// come yet is pale.
import {type Look, type MemoryLook, show} from "#web/drawing/look.ts"
import {classes, css} from "#web/drawing/svg.ts"
import {h} from "#web/runtime/dom.ts"
import type {DrawingHost, DrawingView} from "#web/drawing/types.ts"

/** R, g, b and T. */
type State = number[]

interface Facts {
  /** Number of layers. */
  count: number
  /** R, g, b, α of each. */
  layers: number[][]
  /** The state after the last layer. */
  end: State
}

const MEMORIES = ["kept", "undone", "dByKept", "dByUndo"]
const STATE_BYTES = 16
const HEAD = 90 // px: the head of the table, and the padding around it
const LOOSE = 40 // px for a row below which rows are dense
const DENSE = 34 // and below which they are tight

/** Memories: kept and undone hold the state before layer i + 1, dByKept and dByUndo the gradient by its colour and α. */
export function draw(host: DrawingHost<Facts>): DrawingView {
  let drawn: ReturnType<typeof table> | null = null
  const fit = () => {
    const row = (host.room().height - HEAD) / (host.facts.count + 1)
    drawn?.el.classList.toggle("dense", row < LOOSE)
    drawn?.el.classList.toggle("tight", row < DENSE)
  }
  return {
    open() {
      if (!host.facts.layers) return
      drawn = table(host.facts)
      host.root.replaceChildren(drawn.el)
      fit()
    },
    resized: fit,
    paint: (look) => drawn?.paint(look),
    describe: (look) => drawn?.describe(look) ?? "",
    news: () => "", // each step says which state is kept or used, and what gradient comes of it
  }
}

function table({count, layers, end}: Facts) {
  const rows = layers.map(layerRow)
  const last = stateCell()
  const counts = [h("span"), h("span")]
  const head = h(
    "p",
    {class: "cached-row cached-head", "aria-hidden": "true"},
    h("span", {}, "layer", h("i", {class: "cached-alpha"}, ", α")),
    h("span", {}, h("b", {}, "kept"), counts[0]),
    h("span", {}, h("b", {}, "undone"), counts[1]),
    h("span", {}, "∂L/∂α ", h("i", {}, "by kept")),
    h("span", {}, "∂L/∂α ", h("i", {}, "by undo")),
  )
  const endName = h("span", {class: "cached-layer"}, "end")
  const endRow = spokenRow("cached-row cached-end", endName, h("span"), last.el, h("span"), h("span"))
  const el = h("div", {class: "cached"}, head, h("ol", {}, ...rows.map((row) => row.el), endRow.el))

  const where = (look: Look) => {
    const [cached, undone] = ["kept", "undone"].map((name) => look.ownMemory(name))
    const written = rows.findLastIndex((_, i) => cached.written(i))
    const reading = rows.findIndex((_, i) => cached.read(i))
    const forwardOver = look.value("state.finalCount") !== null && written === count - 1 && look.value("next.value.a") === end[3]
    return {
      written,
      undoneFrom: rows.findIndex((_, i) => undone.written(i)),
      reading,
      ended: reading >= 0 || forwardOver,
      waiting: rows.filter((_, i) => cached.written(i) && !cached.read(i)).length,
    }
  }
  return {
    el,
    paint(look: Look) {
      const [cached, undone, byCached, byUndo] = MEMORIES.map((name) => look.ownMemory(name))
      const [cachedEnd, undoneEnd, byCachedEnd, byUndoEnd] = MEMORIES.map((name) => look.final.ownMemory(name))
      const {written, undoneFrom, reading, ended, waiting} = where(look)
      const backward = reading >= 0
      const gradients = rows.map((_, i) => [byCachedEnd, byUndoEnd].map((memory) => memory.number(i, 3) ?? 0))
      const decimals = decimalsOf(gradients.flat())
      rows.forEach((row, i) => {
        const now = i === (backward ? reading : written)
        const keeps = !cached.written(i) ? "later" : now ? "now" : cached.read(i) ? "spent" : ""
        const kept = row.cached.paint(stateOf(cachedEnd, i), keeps)
        const back = row.undone.paint(stateOf(undoneEnd, i), !undone.written(i) ? "later" : i === undoneFrom ? "now" : "spent")
        const [a, b] = gradients[i]
        // a gradient is what the way back is for: not shown before it is known
        row.byCached.textContent = byCached.written(i) ? aligned(a, decimals) : "?"
        row.byUndo.textContent = byUndo.written(i) ? aligned(b, decimals) : "?"
        row.byCached.classList.toggle("later", !byCached.written(i))
        row.byUndo.className = classes("num", !byUndo.written(i) && "later", byUndo.written(i) > 0 && a !== b && "off")
        row.el.classList.toggle("here", now && look.step > 0)
        const slopes = `gradient by α ${row.byCached.textContent} by kept, ${row.byUndo.textContent} by undo`
        row.say(`Layer ${i + 1}, α ${show(layers[i][3], 3)}: kept ${kept}; undone ${back}; ${slopes}`)
      })
      endRow.say(`At the end: ${last.paint(end, !ended ? "later" : undoneFrom < 0 ? "now" : "spent")}`)
      counts[0].textContent = `${waiting} wait,\n${waiting * STATE_BYTES} bytes`
      counts[1].textContent = `${ended ? 1 : 0} state,\n${ended ? STATE_BYTES : 0} bytes`
    },
    describe(look: Look) {
      const {reading, undoneFrom, waiting} = where(look)
      const back = reading < 0 ? 0 : count - (undoneFrom < 0 ? count : undoneFrom)
      return `${waiting} ${waiting === 1 ? "state waits" : "states wait"} in kept; ${back} of ${count} layers have their gradient.`
    },
  }
}

/** The decimals with which the largest of some numbers has five digits: one column, one place for the point. */
export function decimalsOf(numbers: number[]) {
  const most = Math.max(...numbers.map(Math.abs))
  return Number.isFinite(most) && most > 0 ? Math.min(9, Math.max(0, 4 - Math.floor(Math.log10(most)))) : 0
}

const aligned = (value: number, decimals: number) =>
  Number.isFinite(value) ? value.toFixed(decimals).replace("-", "−") : show(value)

/** The state in a cell. */
const stateOf = (memory: MemoryLook, i: number): State => [0, 1, 2, 3].map((part) => memory.number(i, part) ?? 0)

/** @param layer  r, g, b, α */
function layerRow(layer: number[], i: number) {
  const cached = stateCell()
  const undone = stateCell()
  const byCached = h("span", {class: "num"})
  const byUndo = h("span", {class: "num"})
  const disc = h("b", {style: `--layer: ${css(layer.slice(0, 3))}`}, String(i + 1))
  const name = h("span", {class: "cached-layer"}, disc, h("span", {class: "num"}, h("i", {}, "α "), show(layer[3], 3)))
  const {el, say} = spokenRow("cached-row", name, cached.el, undone.el, byCached, byUndo)
  return {cached, undone, byCached, byUndo, el, say}
}

/**
 * A row that is a sentence for screen readers, in place of its cells.
 * @param name  its CSS classes
 */
function spokenRow(name: string, ...cells: HTMLElement[]) {
  for (const cell of cells) cell.ariaHidden = "true"
  const sentence = h("span", {class: "sr"})
  const say = (words: string) => {
    sentence.textContent = words.replaceAll("?", "not known yet")
  }
  return {el: h("li", {class: name}, ...cells, sentence), say}
}

/** A state (C, T): its light as a colour, its transmittance as a number and a bar. */
function stateCell() {
  const swatch = h("i", {class: "cached-swatch"})
  const words = h("b", {class: "num"})
  const bar = h("i")
  const el = h("span", {class: "cached-cell"}, swatch, h("span", {}, words, h("i", {class: "cached-track"}, bar)))
  return {
    el,
    /** @returns what it shows, in words */
    paint(state: State, when: "now" | "spent" | "later" | "") {
      el.className = classes("cached-cell", when)
      const known = when !== "later" // what is not there yet is not told
      swatch.style.background = known ? css(state.slice(0, 3)) : "none"
      words.textContent = known ? `T ${show(state[3], 3)}` : "T ?"
      bar.style.width = known ? `${100 * Math.min(1, Math.max(0, state[3]))}%` : "0"
      return words.textContent
    },
  }
}
