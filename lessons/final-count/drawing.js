// A pixel's way through its list and back: to the right the place in the list, upward finalCount. Below, the layers and T.
import {show} from "#web/drawing/look.js"
import {redrawn} from "#web/drawing/redrawn.js"
import {canvas, classes, s, setAttributes} from "#web/drawing/svg.js"
import {h} from "#web/shell/dom.js"

/** @import {Drawn, DrawingHost} from "#web/drawing/types.d.ts" */
/** @import {Look, MemoryLook} from "#web/drawing/look.js" */

/**
 * Memories: there and back hold (C, T) after each layer, thereCount and backCount finalCount.
 * @typedef {object} Facts
 * @property {number} count  of layers
 * @property {number} blended
 * @property {boolean} guarded  whether finalCount stops at 0
 */

const LEFT = 54
const RIGHT = 20
const TOP = 30
const BARS = 64
const OPAQUE = 1 / 255
const LEAST_T = 1e-4

/** @param {DrawingHost<Facts>} host */
export const draw = (host) => redrawn(host, (facts) => facts.count !== undefined, build)

/**
 * @param {DrawingHost<Facts>} host
 * @returns {Drawn}
 */
function build({root, facts}) {
  const {count} = facts
  const layout = layOut(facts, Math.max(280, root.clientWidth))
  const {width, height, cell, x, y} = layout
  const label = `finalCount on a walk through ${count} layers and back`
  const svg = canvas(width, height, {class: "counts", role: "img", "aria-label": label})
  const band = s("rect", {class: "band", y: TOP - 8, height: layout.ground - TOP + 8, rx: 4})
  drawPlane(svg, facts, layout, band)
  const layers = Array.from({length: count}, (_, i) => drawLayer(svg, layout, i))
  const [forward, backward] = [s("path", {class: "there"}), s("path", {class: "back"})]
  const ring = s("circle", {class: "place", r: 7})
  const number = s("text", {class: "m now"})
  const act = s("text", {class: "m act", "text-anchor": "middle"})
  const threshold = layout.level(OPAQUE)
  svg.append(s("path", {class: "limit", d: `M${x(0)} ${threshold}H${x(count)}`}), forward, backward, ring, number, act)
  svg.append(s("text", {x: LEFT - 6, y: threshold + 4, "text-anchor": "end"}, "1/255"))
  const words = h("p", {class: "vh", role: "status"})

  const paint = (/** @type {Look} */ look) => {
    const up = look.ownMemory("thereCount")
    const down = look.ownMemory("backCount")
    const point = (/** @type {number} */ i, /** @type {number} */ n) => /** @type {[number, number]} */ ([x(i), y(n)])
    const went = forwardCounts(up, count).map((n, i) => point(i, n))
    const came = backwardCounts(down, count).map((n, i) => point(count - i, n))
    const path = (/** @type {[number, number][]} */ points) => (points.length ? `M${points.map((p) => p.join(" ")).join("L")}` : "")
    setAttributes(forward, {d: path(went)})
    setAttributes(backward, {d: path(came)})

    const turned = came.length > 1
    const known = went.length > 0
    const at = turned ? count + 1 - came.length : Math.max(0, went.length - 1)
    const value = (turned ? down.number(at) : known ? up.number(at) : 0) ?? 0
    const [px, py] = (turned ? came : went).at(-1) ?? point(0, 0)
    const visibility = known ? "visible" : "hidden"
    const right = px > width - 110
    setAttributes(ring, {cx: px, cy: py, visibility})
    setAttributes(number, {
      x: px + (right ? -13 : 13),
      y: py + (turned ? 19 : -10),
      "text-anchor": right ? "end" : "start",
      visibility,
    })
    number.textContent = show(value)

    const layer = turned ? at + 1 : at // the one just walked, 0 before the first
    const done = layer === 0 ? "" : turned ? undone(down, at) : blended(up, layer)
    setAttributes(band, {x: x(Math.max(0, layer - 1)), width: cell, visibility: layer > 0 ? "visible" : "hidden"})
    act.textContent = done
    setAttributes(act, {x: Math.max(118, Math.min(width - 34, x(Math.max(0, layer - 0.5)))), y: TOP - 14})
    layers.forEach((one, i) => one.paint(look, i + 1 === layer, turned))
    words.textContent = done ? `Layer ${layer}: ${done}. finalCount is ${value}.` : ""
  }
  return {el: h("div", {}, svg, words), paint, width: root.clientWidth}
}

const undone = (/** @type {MemoryLook} */ counts, /** @type {number} */ at) =>
  counts.number(at) !== counts.number(at + 1) ? "undo" : "skip"
const blended = (/** @type {MemoryLook} */ counts, /** @type {number} */ layer) =>
  counts.number(layer) !== counts.number(layer - 1) ? "blend" : "leave out"

/**
 * finalCount at each place that was reached on the way forward.
 * @param {MemoryLook} memory
 * @param {number} count
 */
function forwardCounts(memory, count) {
  const counts = []
  for (let i = 0; i <= count && memory.written(i); i++) counts.push(memory.number(i) ?? 0)
  return counts
}

/**
 * finalCount at each place that was reached on the way back, from the last; below 0 where it is not guarded.
 * @param {MemoryLook} memory
 * @param {number} count
 */
function backwardCounts(memory, count) {
  const counts = []
  for (let i = count; i >= 0 && memory.written(i); i--) counts.push((memory.number(i) ?? 0) | 0)
  return counts
}

/**
 * @param {Facts} facts
 * @param {number} width
 */
function layOut({count, blended, guarded}, width) {
  const lowest = guarded ? 0 : Math.min(0, blended - count)
  const cell = (width - LEFT - RIGHT) / count
  const tall = Math.min(cell, Math.max(14, 300 / (count - lowest)))
  const y = (/** @type {number} */ n) => TOP + (count - n) * tall
  const foot = y(lowest) + 42
  const ground = foot + 58 + BARS
  return {
    width,
    height: ground + 20,
    count,
    lowest,
    cell,
    x: (/** @type {number} */ i) => LEFT + i * cell,
    y,
    foot,
    ground,
    /** T on a logarithmic scale, from 1 at the top to 1e-4 at the bottom. */
    level: (/** @type {number} */ T) => ground - BARS + BARS * Math.min(1, Math.max(0, Math.log(T) / Math.log(LEAST_T))),
  }
}

/** @typedef {ReturnType<typeof layOut>} Layout */

/**
 * Draw what does not change: the plane of place and finalCount, its diagonal, and the names of the rows below.
 * @param {SVGElement} svg
 * @param {Facts} facts
 * @param {Layout} layout
 * @param {SVGElement} band
 */
function drawPlane(svg, {count}, {lowest, cell, x, y, foot, ground}, band) {
  const text = (/** @type {number} */ tx, /** @type {number} */ ty, /** @type {string} */ words, attributes = {}) =>
    s("text", {x: tx, y: ty, ...attributes}, words)
  const hatch = {id: "beyond", width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)"}
  svg.append(s("defs", {}, s("pattern", hatch, s("path", {class: "beyond-line", d: "M0 0V7"}))))
  // where index > finalCount
  svg.append(band, s("path", {class: "beyond", d: `M${x(0)} ${y(0)}L${x(count)} ${y(count)}V${y(lowest)}H${x(0)}Z`}))
  const every = count - lowest > 12 ? 2 : 1
  for (let n = lowest; n <= count; n++) {
    svg.append(s("path", {class: "grid", d: `M${x(0)} ${y(n)}H${x(count)}`}))
    const number = n < 0 ? `−${-n}` : String(n)
    if (n % every === 0) svg.append(text(LEFT - 10, y(n) + 4, number, {"text-anchor": "end", class: "m"}))
  }
  svg.append(text(8, 16, "finalCount", {class: "m"}))
  svg.append(s("path", {class: "diagonal", d: `M${x(0)} ${y(0)}L${x(count)} ${y(count)}`}))
  if (cell * count > 400) {
    const aside = {"text-anchor": "end", class: "aside"}
    svg.append(text(x(count) - 10, y(lowest) - 12, "here index > finalCount: skip", aside))
    svg.append(text(x(count * 0.36), y(count * 0.36) - 14, "here they are equal: undo", aside))
  }
  svg.append(text(8, foot + 4, "layer", {class: "m"}), text(8, foot + 27, "layers[ ]", {class: "m small"}))
  svg.append(text(8, ground - BARS + 8, "T"))
}

/**
 * Draw a layer below the plane: its number, its place in the array, T after it on both ways.
 * @param {SVGElement} svg
 * @param {Layout} layout
 * @param {number} i
 */
function drawLayer(svg, {count, cell, x, foot, level}, i) {
  const middle = (x(i) + x(i + 1)) / 2
  const named = cell >= 22 || i % 2 === 1
  const disc = s("circle", {cx: middle, cy: foot, r: Math.min(10, cell * 0.42), class: "ld"})
  const number = s("text", {x: middle, y: foot + 4, "text-anchor": "middle", class: "no"}, named ? String(i + 1) : "")
  const place = s("text", {x: middle, y: foot + 27, "text-anchor": "middle", class: "m small"}, named ? String(i) : "")
  const [bar, tick] = [s("path", {class: "tb"}), s("path", {class: "tt"})]
  svg.append(disc, number, place, bar, tick)
  return {
    /**
     * @param {Look} look
     * @param {boolean} current
     * @param {boolean} turned  on the way back
     */
    paint(look, current, turned) {
      const [counts, forward, backward] = ["thereCount", "there", "back"].map((name) => look.ownMemory(name))
      const written = counts.written(i + 1) > 0
      const leftOut = written && counts.number(i + 1) === counts.number(i)
      disc.setAttribute("class", classes("ld", leftOut && "out", current && "now"))
      place.setAttribute("class", classes("m small", current && "now"))
      const after = forward.number(i + 1, 3)
      setAttributes(bar, {d: written && after !== null ? `M${x(i) + cell * 0.2} ${level(after)}h${cell * 0.6}` : ""})
      // where the way back begins, the state after the last layer is there before it is walked
      const start = i + 1 === count && !backward.written(i) && !turned
      const undone = backward.written(i + 1) && !start ? backward.number(i + 1, 3) : null
      setAttributes(tick, {d: undone === null ? "" : `M${x(i) + cell * 0.1} ${level(undone)}h${cell * 0.8}`})
    },
  }
}
