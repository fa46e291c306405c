// A pixel's transmittance layer by layer, on a logarithmic scale, down to the limit and past it.
import {redrawn} from "#web/drawing/redrawn.js"
import {canvas, s, setAttributes} from "#web/drawing/svg.js"
import {h} from "#web/shell/dom.js"

/** @import {Drawn, DrawingHost, DrawingView} from "#web/drawing/types.d.ts" */
/** @import {Look} from "#web/drawing/look.js" */

/**
 * @typedef {object} Layer
 * @property {number} before  T
 * @property {number} after  T
 * @property {number} open  T with no layer left out
 * @property {number} adds  light, in steps of 255
 * @property {boolean} blended
 * @property {number} end  step
 *
 * @typedef {object} Facts
 * @property {Layer[]} layers
 * @property {number} finalCount
 *
 * @typedef {object} Options
 * @property {number} limit  of T
 */

const TOP = 14
const CHART = 264
const BOTTOM = TOP + CHART
const LEFT = 46
const RIGHT = 14
const SQUARE = 11

/**
 * @param {DrawingHost<Facts, Options>} host
 * @returns {DrawingView}
 */
export const draw = (host) => ({...redrawn(host, (facts) => facts.layers, build), changed() {}})

/**
 * @param {DrawingHost<Facts, Options>} host
 * @returns {Drawn}
 */
function build({root, facts, options, step}) {
  const {layers} = facts
  const layout = layOut(facts, options, Math.max(280, root.clientWidth))
  const {width, room, each, x, y} = layout
  const label = `T after each of ${layers.length} layers. ${facts.finalCount} are blended, ${layers.length - facts.finalCount} left out.`
  const svg = canvas(width, BOTTOM + 62, {class: "transmittance", role: "img", "aria-label": label})
  drawScale(svg, layout)
  const band = s("rect", {class: "band", y: TOP, height: CHART + 22, width: Math.max(3, each)})
  svg.append(band)
  drawCurves(svg, facts, options, layout)
  const point = s("circle", {class: "point", r: 5})
  svg.append(point)
  drawSquares(svg, facts, layout)
  drawFinalCount(svg, facts, layout)
  const hit = s("rect", {x: LEFT, y: TOP, width: room, height: CHART + 24, class: "hit"})
  hit.onclick = (event) => {
    const layer = Math.floor((event.clientX - hit.getBoundingClientRect().left) / each)
    step(layers[Math.min(layers.length - 1, Math.max(0, layer))].end)
  }
  svg.append(hit)
  const words = h("p", {class: "reading num"})

  const paint = (/** @type {Look} */ look) => {
    const done = layers.filter((layer) => look.step >= layer.end).length
    const last = Math.max(0, done - 1)
    setAttributes(band, {x: x(last), visibility: done ? "visible" : "hidden"})
    setAttributes(point, {cx: x(done), cy: y(done ? layers[last].after : 1)})
    words.textContent = done ? sentence(layers[last], done) : "T = 1: all light comes through."
  }
  return {el: h("div", {}, svg, words), paint, width: root.clientWidth}
}

/**
 * @param {Layer} layer
 * @param {number} number
 */
function sentence({blended, before, after, adds}, number) {
  const amount = `${adds.toPrecision(2)} of 255 steps`
  return blended
    ? `Layer ${number} is blended: T goes from ${before.toPrecision(3)} to ${after.toPrecision(3)}. It adds up to ${amount}.`
    : `Layer ${number} is left out: T stays ${after.toPrecision(3)}. It would have added at most ${amount}.`
}

/**
 * @param {Facts} facts
 * @param {Options} options
 * @param {number} width
 */
function layOut({layers}, {limit}, width) {
  const room = width - LEFT - RIGHT
  const each = room / layers.length
  const least = Math.min(limit / 8, ...layers.map((layer) => layer.open).filter((T) => T > 1e-7))
  const lowest = Math.log10(Math.max(least, 1e-7)) - 0.12 // exponent at the bottom
  return {
    width,
    room,
    each,
    lowest,
    x: (/** @type {number} */ layer) => LEFT + layer * each,
    y: (/** @type {number} */ T) => TOP + CHART * Math.min(1, Math.log10(Math.max(T, 1e-30)) / lowest),
  }
}

/** @typedef {ReturnType<typeof layOut>} Layout */

/**
 * @param {SVGElement} svg
 * @param {Layout} layout
 */
function drawScale(svg, {width, lowest, y}) {
  for (let power = 0; power >= lowest; power--) {
    const height = y(10 ** power)
    svg.append(s("path", {class: "grid", d: `M${LEFT} ${height}H${width - RIGHT}`}))
    svg.append(s("text", {x: LEFT - 8, y: height + 4, "text-anchor": "end"}, scaleLabel(power)))
  }
}

/**
 * A negative power of ten as text: 0.001, 10⁻⁴.
 * @param {number} power  at most 0
 */
export function scaleLabel(power) {
  if (power > -4) return String(10 ** power)
  return `10⁻${[...String(-power)].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[+digit]).join("")}`
}

/**
 * @param {SVGElement} svg
 * @param {Facts} facts
 * @param {Options} options
 * @param {Layout} layout
 */
function drawCurves(svg, {layers, finalCount}, {limit}, {width, lowest, x, y}) {
  const path = (/** @type {"open" | "after"} */ name) => {
    const out = layers.findIndex((layer) => Math.log10(layer[name]) < lowest) // the first below the chart
    const shown = out < 0 ? layers : layers.slice(0, out)
    const steps = shown.map((layer, i) => `H${x(i + 0.5)}V${y(layer[name])}H${x(i + 1)}`).join("")
    return `M${x(0)} ${y(1)}${steps}${out < 0 ? "" : `H${x(out + 0.5)}V${BOTTOM}`}`
  }
  if (finalCount < layers.length) svg.append(s("path", {class: "open", d: path("open")}))
  const name = {class: "m now", x: width - RIGHT, y: y(limit) - 7, "text-anchor": "end"}
  svg.append(s("path", {class: "limit", d: `M${LEFT} ${y(limit)}H${width - RIGHT}`}), s("text", name, "1/255"))
  svg.append(s("path", {class: "stairs", d: path("after")}))
}

/**
 * Draw the layers, a square each, with their numbers.
 * @param {SVGElement} svg
 * @param {Facts} facts
 * @param {Layout} layout
 */
function drawSquares(svg, {layers}, {each, x}) {
  const side = Math.min(SQUARE, Math.max(1.5, each - 1.5))
  layers.forEach((layer, i) => {
    const box = {x: x(i + 0.5) - side / 2, y: BOTTOM + 8, width: side, height: Math.max(6, side)}
    svg.append(s("rect", {class: layer.blended ? "sq" : "sq no", ...box}))
  })
  const every = [1, 2, 5, 10, 20, 50].find((n) => n * each > 26) ?? 100
  for (let n = every; n <= layers.length; n += every)
    svg.append(s("text", {x: x(n - 0.5), y: BOTTOM + 35, "text-anchor": "middle"}, String(n)))
}

/**
 * @param {SVGElement} svg
 * @param {Facts} facts
 * @param {Layout} layout
 */
function drawFinalCount(svg, {finalCount}, {width, x}) {
  const end = x(finalCount)
  const right = end > width - 130
  const name = {class: "m now", x: end + (right ? -6 : 6), y: BOTTOM + 56, "text-anchor": right ? "end" : "start"}
  svg.append(s("path", {class: "countline", d: `M${end} ${BOTTOM + 4}V${BOTTOM + 44}`}))
  svg.append(s("text", name, `finalCount = ${finalCount}`))
}
