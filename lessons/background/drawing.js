// A few pixels on white paper, composited in two ways: both pictures, how far they are apart, and every pixel's red over its T.
// What is not written yet is pale: it shows what the kernel is going to write.
import {show} from "#web/drawing/look.js"
import {canvas, classes, css, s, setAttributes} from "#web/drawing/svg.js"
import {h} from "#web/shell/dom.js"
import {onArrows} from "#web/widgets/roving.js"

/** @import {DrawingHost, DrawingView} from "#web/drawing/types.d.ts" */
/** @import {Look} from "#web/drawing/look.js" */

/**
 * Of each pixel, colours from 0 to 1. The kernel writes them to asItShould and asShipped.
 * @typedef {object} Facts
 * @property {number} width
 * @property {number} height
 * @property {number[]} T
 * @property {number[][]} right  over the background as it should be
 * @property {number[][]} shipped  as in the sample
 */

const GAP = 18
const PADDING = 16
const MOST_DARKER = 0.25 // full colour in the picture of differences

/**
 * @param {DrawingHost<Facts>} host
 * @returns {DrawingView}
 */
export function draw(host) {
  const {root} = host
  /** @type {{pictures: Picture[], chart: Chart} | null} */
  let drawn = null
  /** @type {Look} */
  let look

  const build = () => {
    const {facts} = host
    const room = Math.max(280, root.clientWidth - 2 * PADDING)
    const cell = Math.floor((room - 2 * GAP) / (3 * facts.width))
    const pictures = ["as it should be", "as shipped", "darker by"].map((caption) => picture(caption, facts, cell, moves))
    const chart = redOverT(facts, room)
    root.replaceChildren(h("div", {class: "paper-body"}, h("div", {class: "sheets"}, ...pictures.map((one) => one.el)), chart.el))
    drawn = {pictures, chart}
  }
  const choose = (/** @type {number} */ thread) => {
    if (look && look.moment.pinned !== thread) look.moment.choose(thread)
  }
  const moves = {
    choose,
    move(/** @type {[dx: number, dy: number]} */ [dx, dy]) {
      if (!look) return
      const {width, height} = host.facts
      const [x, y] = [(look.thread % width) + dx, Math.floor(look.thread / width) + dy]
      if (x >= 0 && x < width && y >= 0 && y < height) choose(y * width + x)
    },
  }
  // a control's change makes another recording and another picture: the focus stays in it
  const buildAndFocus = () => {
    const focused = /** @type {ShadowRoot} */ (root.getRootNode()).activeElement
    const index = /** @type {(Element | null)[]} */ ([...root.querySelectorAll(".sheet")]).indexOf(focused)
    build()
    const again = /** @type {SVGElement | undefined} */ (root.querySelectorAll(".sheet")[index])
    again?.focus()
  }

  return {
    open() {
      drawn = null
      if (host.facts.T !== undefined) buildAndFocus()
    },
    changed() {},
    paint(now) {
      look = now
      if (drawn) paint(drawn, host.facts, look)
    },
    resized(now) {
      look = now
      if (!drawn) return
      build()
      paint(drawn, host.facts, look)
    },
  }
}

/**
 * @param {{pictures: Picture[], chart: Chart}} drawn
 * @param {Facts} facts
 * @param {Look} look
 */
function paint({pictures, chart}, facts, look) {
  const [right, shipped, darker] = pictures
  const [rightMemory, shippedMemory] = ["asItShould", "asShipped"].map((name) => look.ownMemory(name))
  facts.T.forEach((_, i) => {
    const [first, second] = [rightMemory, shippedMemory].map((memory, which) =>
      memory.written(i) ? [0, 1, 2].map((part) => memory.number(i, part) ?? 0) : facts[which ? "shipped" : "right"][i],
    )
    const known = shippedMemory.written(i) > 0
    const pale = known ? "" : "pale"
    const difference = Math.max(...first.map((value, channel) => value - second[channel]))
    const share = Math.round(100 * Math.min(1, difference / MOST_DARKER))
    setAttributes(right.cells[i], {fill: css(first), class: rightMemory.written(i) ? "" : "pale"})
    setAttributes(shipped.cells[i], {fill: css(second), class: pale})
    setAttributes(darker.cells[i], {style: `fill: color-mix(in oklab, var(--c-blue) ${share}%, var(--surface))`, class: pale})
    chart.point(i, first[0], second[0], known, i === look.thread)
    if (i === look.thread) darker.words.textContent = ` ${show(Number(difference.toFixed(3)), 3)}`
  })
  for (const one of pictures) one.mark(look.thread)
}

/** @typedef {ReturnType<typeof picture>} Picture */

/**
 * One of the three pictures: a square a pixel, the chosen one marked.
 * @param {string} caption
 * @param {Facts} facts
 * @param {number} cell  size of a square
 * @param {{choose(thread: number): void, move(by: [number, number]): void}} moves
 */
function picture(caption, {width, height, T}, cell, {choose, move}) {
  const at = (/** @type {number} */ i) => ({x: (i % width) * cell, y: Math.floor(i / width) * cell})
  const cells = T.map((_, i) => s("rect", {...at(i), width: cell, height: cell}))
  const mark = s("rect", {class: "chosen", width: cell, height: cell, fill: "none"})
  const svg = s(
    "svg",
    {
      width: cell * width + 4,
      height: cell * height + 4,
      viewBox: `-2 -2 ${cell * width + 4} ${cell * height + 4}`,
      class: "sheet",
      role: "img",
      tabindex: "0",
      "aria-label": `${caption}, ${width} × ${height} pixels. Arrow keys choose a pixel's thread.`,
    },
    ...cells,
    mark,
  )
  svg.onclick = (event) => {
    const box = svg.getBoundingClientRect()
    const x = Math.floor((event.clientX - box.left - 2) / cell)
    const y = Math.floor((event.clientY - box.top - 2) / cell)
    if (x >= 0 && y >= 0 && x < width && y < height) choose(y * width + x)
  }
  onArrows(svg, {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}, ([dx, dy]) => move([dx, dy]))
  const words = h("span", {class: "num"})
  return {
    el: h("figure", {class: "sheet-box"}, svg, h("figcaption", {}, caption, words)),
    cells,
    words,
    mark: (/** @type {number} */ i) => setAttributes(mark, at(i)),
  }
}

/** @typedef {ReturnType<typeof redOverT>} Chart */

/**
 * The red channel over T: a ring as it should be, a disc as shipped, and what lies between for the chosen pixel.
 * @param {Facts} facts
 * @param {number} width
 */
function redOverT(facts, width) {
  const axes = axesOf(width)
  const {x, y, height} = axes
  const label = "The red channel of every pixel by its T, as it should be and as shipped"
  const svg = canvas(width, height, {class: "sag", role: "img", "aria-label": label})
  drawAxes(svg, axes)
  const order = facts.T.map((_, i) => i).sort((a, b) => facts.T[a] - facts.T[b])
  const line = (/** @type {number[][]} */ values) => `M${order.map((i) => `${x(facts.T[i])} ${y(values[i][0])}`).join("L")}`
  const gap = s("path", {class: "missing"})
  const middle = order[order.length >> 1]
  const deepest = Math.min(...facts.shipped.map(([red]) => red))
  const place = {x: x(facts.T[middle]), y: y(deepest) + 22, "text-anchor": "middle"}
  svg.append(
    s("path", {class: "should", d: line(facts.right)}),
    s("path", {class: "does", d: line(facts.shipped)}),
    gap,
    s("text", {x: x(1), y: y(1) - 12, "text-anchor": "end", class: "should-word"}, "as it should be"),
    s("text", {...place, class: "does-word"}, "as shipped"),
  )
  const points = facts.T.map((T) => {
    const ring = s("circle", {cx: x(T), r: 4.5, class: "ring"})
    const disc = s("circle", {cx: x(T), r: 4, class: "dot"})
    svg.append(ring, disc)
    return {ring, disc}
  })
  return {
    el: svg,
    /**
     * Move a pixel's two points.
     * @param {number} i
     * @param {number} right  red
     * @param {number} shipped  red
     * @param {boolean} known
     * @param {boolean} chosen
     */
    point(i, right, shipped, known, chosen) {
      const {ring, disc} = points[i]
      setAttributes(ring, {cy: y(right), class: classes("ring", !known && "pale", chosen && "me")})
      setAttributes(disc, {cy: y(shipped), class: classes("dot", !known && "pale", chosen && "me")})
      if (!chosen) return
      setAttributes(gap, {d: `M${x(facts.T[i])} ${y(right)}V${y(shipped)}`})
      svg.append(ring, disc) // above the others
    },
  }
}

/** @param {number} width */
function axesOf(width) {
  const height = Math.max(200, Math.min(280, width * 0.42))
  const [left, right, top, bottom] = [46, 22, 30, 34]
  const x = (/** @type {number} */ T) => left + T * (width - left - right)
  const y = (/** @type {number} */ value) => top + (1 - value) * (height - top - bottom)
  return {x, y, height, left, nameY: top + (height - top - bottom) * 0.12}
}

/**
 * @param {SVGElement} svg
 * @param {ReturnType<typeof axesOf>} axes
 */
function drawAxes(svg, {x, y, height, left, nameY}) {
  for (const value of [0, 0.25, 0.5, 0.75, 1]) {
    const number = s("text", {x: left - 8, y: y(value) + 4, "text-anchor": "end", class: "m"}, String(value))
    svg.append(s("path", {class: "grid", d: `M${x(0)} ${y(value)}H${x(1)}`}), number)
  }
  for (const T of [0, 0.5, 1]) svg.append(s("text", {x: x(T), y: height - 14, "text-anchor": "middle", class: "m"}, String(T)))
  svg.append(s("text", {x: x(0.25), y: height - 14, "text-anchor": "middle"}, "T"), s("text", {x: 0, y: nameY}, "red"))
}
