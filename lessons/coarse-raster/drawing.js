// Gaussians over a picture cut into tiles, and the tile that gathers those whose box overlaps it: the picture with the box under test
// and what separates it, the projections of both boxes on four axes, which thread tests what, and the list.
import {show} from "#web/drawing/look.js"
import {redrawn} from "#web/drawing/redrawn.js"
import {canvas, classes, laneMark, s, setAttributes} from "#web/drawing/svg.js"
import {h} from "#web/shell/dom.js"

/** @import {Drawn, DrawingHost} from "#web/drawing/types.d.ts" */
/** @import {Look} from "#web/drawing/look.js" */

/**
 * A test of one Gaussian's box against the tile.
 * @typedef {object} Test
 * @property {number} gaussian
 * @property {number} thread
 * @property {number} turn
 * @property {number} begin  step
 * @property {number} end  step
 * @property {number[]} asked  steps at which each axis was asked
 * @property {number} place  in the list; −1 where the two are apart
 *
 * Positions in pixels; the four axes are the box's two and the tile's two.
 * @typedef {object} Shape
 * @property {[number, number]} center
 * @property {[number, number]} axis  direction of the box's first side
 * @property {[number, number]} half  half its sides
 * @property {number} strongest  its largest alpha in the tile
 * @property {number[]} distance  of the centres along each axis
 * @property {number[]} box  half the box's extent along each axis
 * @property {number[]} tile  half the tile's
 *
 * @typedef {object} Facts
 * @property {[across: number, down: number]} tiles
 * @property {[width: number, height: number]} size  of a tile
 * @property {number} room  of the list
 * @property {number} counted  step of the first count
 * @property {Test[]} tests
 * @property {Shape[]} shapes
 *
 * @typedef {{tile: number}} Values
 */

const AXES = ["its short side", "its long side", "the tile's width", "the tile's height"]
const THREADS = 32
const BOX_SIGMAS = 4 // to the sides of a box
const DRAWN_SIGMAS = 2 // to the ellipse that is drawn
const LEAST_ALPHA = 1 / 255
const NARROW = 520

/** @param {DrawingHost<Facts, unknown, Values>} host */
export const draw = (host) => redrawn(host, (facts) => facts.tests, build)

/**
 * @param {DrawingHost<Facts, unknown, Values>} host
 * @returns {Drawn}
 */
function build(host) {
  const {facts, root} = host
  const width = root.clientWidth
  const parts = [
    pictureOfTiles(host, width),
    sentenceLine(facts),
    axisRows(facts, width),
    threadTable(facts, width),
    listOfGaussians(facts),
  ]
  const paint = (/** @type {Look} */ look) => {
    const over = look.step >= facts.counted
    const tested = over
      ? null
      : (facts.tests.filter((test) => test.thread === look.thread && test.begin <= look.step).at(-1) ?? null)
    for (const part of parts) part.paint(look, tested)
  }
  const elements = parts.flatMap((part) => /** @type {Element[]} */ (part.el))
  return {el: h("div", {}, ...elements), paint, width}
}

/**
 * What came of a test: "" before its end, "no" where the two are apart, "yes" where they overlap, "lost" where the list is full.
 * @param {Test} test
 * @param {number} step
 * @param {number} room
 */
export function outcomeOf(test, step, room) {
  if (step < test.end) return ""
  if (test.place < 0) return "no"
  return test.place < room ? "yes" : "lost"
}

/** @param {Shape} shape */
const degreesOf = ({axis: [x, y]}) => (Math.atan2(y, x) * 180) / Math.PI

/**
 * The picture: tiles, Gaussians, the box under test.
 * @param {DrawingHost<Facts, unknown, Values>} host
 * @param {number} width
 */
function pictureOfTiles({facts, values, set}, width) {
  const {tests, shapes, room} = facts
  const [across, down] = facts.tiles
  const scale = width / (across * facts.size[0])
  const [tileWidth, tileHeight] = facts.size.map((size) => size * scale)
  const height = scale * down * facts.size[1]
  const label = `${shapes.length} Gaussians over ${across * down} tiles; tile ${values.tile} gathers`
  const svg = canvas(width, height, {class: "coarse", role: "img", "aria-label": label})
  const corner = (/** @type {number} */ tile) => ({x: (tile % across) * tileWidth, y: Math.floor(tile / across) * tileHeight})
  for (let tile = 0; tile < across * down; tile++) {
    const attributes = {...corner(tile), width: tileWidth, height: tileHeight, class: "coarse-tile"}
    svg.append(s("rect", {...attributes, onclick: () => set("tile", tile)}, s("title", {}, `Tile ${tile}`)))
  }
  const ellipse = (/** @type {Shape} */ shape, /** @type {number} */ share) => {
    const [x, y] = shape.center.map((value) => (value + 0.5) * scale)
    const [rx, ry] = shape.half.map((half) => half * scale * share)
    return s("ellipse", {cx: x, cy: y, rx, ry, transform: `rotate(${degreesOf(shape)} ${x} ${y})`})
  }
  const ellipses = shapes.map((shape) => ellipse(shape, DRAWN_SIGMAS / BOX_SIGMAS))
  const own = corner(values.tile)
  const tested = s("g", {class: "coarse-test"})
  const frame = s("rect", {...own, width: tileWidth, height: tileHeight, class: "coarse-own"})
  svg.append(...ellipses, frame, tested)
  const middle = {x: own.x + tileWidth / 2, y: own.y + tileHeight / 2}

  const marksOf = (/** @type {Test} */ test, /** @type {number} */ step) => {
    const shape = shapes[test.gaussian]
    const [x, y] = shape.center.map((value) => (value + 0.5) * scale)
    const [halfWidth, halfHeight] = shape.half.map((half) => half * scale)
    const turn = `rotate(${degreesOf(shape)} ${x} ${y})`
    const sides = {x: x - halfWidth, y: y - halfHeight, width: 2 * halfWidth, height: 2 * halfHeight}
    const box = s("rect", {class: "coarse-box", ...sides, transform: turn})
    const outline = ellipse(shape, 1)
    outline.setAttribute("class", "coarse-far")
    if (test.place >= 0 || step < test.end) return [box, outline]
    const line = separatingLine(shape, test.asked.length - 1, scale, middle, width * 2)
    return [box, outline, s("path", {class: "coarse-apart", d: line})]
  }
  const paint = (/** @type {Look} */ look, /** @type {Test | null} */ test) => {
    ellipses.forEach((el, i) => {
      const outcome = outcomeOf(tests[i], look.step, room)
      el.setAttribute("class", classes("coarse-gaussian", outcome, tests[i] === test && "me"))
    })
    tested.replaceChildren(...(test ? marksOf(test, look.step) : []))
  }
  return {el: [svg], paint}
}

/**
 * Path of a line through the middle of the gap between the two boxes, across an axis.
 * @param {Shape} shape
 * @param {number} axis
 * @param {number} scale
 * @param {{x: number, y: number}} middle  of the tile
 * @param {number} length
 */
export function separatingLine({axis: [ax, ay], distance, tile, box}, axis, scale, middle, length) {
  const directions = [
    [ax, ay],
    [-ay, ax],
    [1, 0],
    [0, 1],
  ]
  const [ux, uy] = directions[axis]
  const gap = Math.abs(distance[axis]) - tile[axis] - box[axis]
  const at = Math.sign(distance[axis]) * (tile[axis] + gap / 2) * scale
  const [x, y] = [middle.x + ux * at, middle.y + uy * at]
  return `M${x - uy * length} ${y + ux * length}L${x + uy * length} ${y - ux * length}`
}

/** @param {Facts} facts */
function sentenceLine(facts) {
  const el = h("p", {class: "reading num"})
  const paint = (/** @type {Look} */ look, /** @type {Test | null} */ test) => {
    if (test) el.textContent = sentence(facts, test, look.step)
    else if (look.step < facts.counted) el.textContent = "→ begins the tests."
    else el.textContent = `${facts.tests.filter((one) => one.place >= 0).length} boxes touch the tile.`
  }
  return {el: [el], paint}
}

/**
 * @param {Facts} facts
 * @param {Test} test
 * @param {number} step
 */
function sentence({shapes, room}, test, step) {
  const name = `Thread ${test.thread}, Gaussian ${test.gaussian}: `
  const asked = test.asked.filter((at) => step >= at).length
  if (step < test.end) return `${name}${asked} of 4 directions asked.`
  if (test.place < 0) return `${name}apart, found with ${asked} of 4 directions.`
  const place = test.place < room ? `place ${test.place}` : `place ${test.place}, which the list does not have`
  const alpha = shapes[test.gaussian].strongest
  const effect =
    alpha < LEAST_ALPHA
      ? "Only its box does: no pixel of the tile gets an alpha of 1/255."
      : `Its largest alpha in the tile is ${show(alpha, 2)}.`
  return `${name}touches, draws ${place}. ${effect}`
}

/**
 * The projections of both boxes, a row an axis, in the order in which they are asked.
 * @param {Facts} facts
 * @param {number} width
 */
function axisRows({shapes}, width) {
  const narrow = width < NARROW
  const [left, right] = narrow ? [112, 76] : [132, 108]
  const rowHeight = 20
  const height = 4 * rowHeight + 6
  const label = "The shadows of the two boxes on four directions"
  const svg = canvas(width, height, {class: "coarse", role: "img", "aria-label": label})
  const rows = AXES.map((name, i) => {
    const y = 6 + i * rowHeight + rowHeight / 2
    const line = s("path", {class: "coarse-line", d: `M${left} ${y}H${width - right}`})
    const tile = s("rect", {class: "coarse-shadow tile", y: y - 5, height: 4, rx: 1})
    const box = s("rect", {class: "coarse-shadow box", y: y + 1, height: 4, rx: 1})
    const gap = s("path", {class: "coarse-gap"})
    const title = s("text", {x: left - 10, y: y + 4, "text-anchor": "end"}, name)
    const words = s("text", {x: width - right + 10, y: y + 4, class: "num"})
    svg.append(line, tile, box, gap, title, words)
    return {y, tile, box, gap, title, words}
  })
  const paint = (/** @type {Look} */ look, /** @type {Test | null} */ test) => {
    const shape = test && shapes[test.gaussian]
    const extents = shape ? shape.distance.map((d, i) => Math.max(Math.abs(d) + shape.box[i], shape.tile[i])) : [1]
    const most = Math.max(...extents)
    const x = (/** @type {number} */ value) => left + ((value / most + 1) / 2) * (width - left - right - 12)
    const between = (/** @type {number} */ from, /** @type {number} */ to) => ({x: x(from), width: x(to) - x(from)})
    rows.forEach(({y, tile, box, gap, title, words}, i) => {
      const asked = Boolean(test && look.step >= test.asked[i])
      title.setAttribute("class", asked ? "now" : "")
      for (const part of [tile, box, gap]) part.setAttribute("visibility", shape ? "visible" : "hidden")
      words.textContent = ""
      if (!shape) return
      const [d, tileHalf, boxHalf] = [shape.distance[i], shape.tile[i], shape.box[i]]
      const room = Math.abs(d) - tileHalf - boxHalf
      const sign = Math.sign(d) || 1
      const off = !asked && "off"
      setAttributes(tile, {...between(-tileHalf, tileHalf), class: classes("coarse-shadow tile", off)})
      setAttributes(box, {...between(d - boxHalf, d + boxHalf), class: classes("coarse-shadow box", off)})
      setAttributes(gap, {d: room > 0 && asked ? `M${x(sign * tileHalf)} ${y}H${x(sign * (tileHalf + room))}` : ""})
      words.textContent = !asked ? "not asked" : room > 0 ? `gap ${show(room, 3)}` : `overlap ${show(-room, 3)}`
    })
  }
  return {el: [svg], paint}
}

/**
 * Which thread tests what: a column a thread, a row a turn.
 * @param {Facts} facts
 * @param {number} width
 */
function threadTable({tests, room}, width) {
  const narrow = width < NARROW
  const turns = Math.max(...tests.map((test) => test.turn)) + 1
  const left = narrow ? 0 : 92
  const column = (width - left - 8) / THREADS
  const cell = Math.min(14, column - 2)
  const height = 26 + turns * (cell + 4)
  const svg = canvas(width, height, {class: "coarse", role: "img", "aria-label": `${THREADS} threads, ${turns} turns`})
  const columnX = (/** @type {number} */ thread) => left + column * (thread + 0.5)
  const rowY = (/** @type {number} */ turn) => 26 + turn * (cell + 4)
  const lanes = Array.from({length: THREADS}, (_, thread) => laneMark(columnX(thread), 12, Math.min(4.5, column * 0.36)))
  svg.append(...lanes.map((lane) => lane.el))
  if (!narrow) {
    for (let turn = 0; turn < turns; turn++) {
      const last = Math.min(tests.length, THREADS * (turn + 1)) - 1
      svg.append(s("text", {x: 0, y: rowY(turn) + cell - 3}, `${THREADS * turn} to ${last}`))
    }
    svg.append(s("text", {x: 0, y: 16}, "threads"))
  }
  const cells = tests.map(({thread, turn, gaussian}) => {
    const attributes = {x: columnX(thread) - cell / 2, y: rowY(turn), width: cell, height: cell, rx: 2}
    const el = s("rect", attributes, s("title", {}, `Gaussian ${gaussian}`))
    svg.append(el)
    return el
  })
  const paint = (/** @type {Look} */ look, /** @type {Test | null} */ test) => {
    cells.forEach((el, i) => {
      const outcome = outcomeOf(tests[i], look.step, room)
      el.setAttribute("class", classes("coarse-seat", outcome, tests[i] === test && "me"))
    })
    lanes.forEach((lane, thread) => lane.show(look.status(thread), thread === look.thread))
  }
  return {el: [svg], paint}
}

/**
 * The shared list, with its two counters.
 * @param {Facts} facts
 */
function listOfGaussians({room}) {
  const [counted, stored] = [h("b"), h("b")]
  const full = h("b", {class: "coarse-full"})
  const head = h("p", {class: "coarse-head num"})
  head.append(h("code", {}, "blobCountAT"), " ", counted, " ", h("code", {}, "blobCount"), " ", stored)
  head.append(" ", h("span", {}, `blobs[${room}]`), " ", full)
  const cells = Array.from({length: room}, () => h("span", {class: "cell"}))
  const paint = (/** @type {Look} */ look, /** @type {Test | null} */ test) => {
    const found = look.memory("blobCountAT")?.number(0) ?? null
    counted.textContent = String(found ?? "·")
    stored.textContent = String(look.memory("blobCount")?.number(0) ?? "·")
    const lost = (found ?? 0) - room
    full.textContent = lost > 0 ? `◆ ${lost} without a place` : ""
    const blobs = look.memory("blobs")
    cells.forEach((cell, i) => {
      const drawn = test && look.step === test.end && test.place === i
      cell.textContent = String(blobs?.number(i) ?? "")
      cell.className = `cell ${blobs?.touched(i) || (drawn ? "wr" : "")}`
    })
  }
  return {el: [head, h("div", {class: "coarse-list"}, ...cells)], paint}
}
