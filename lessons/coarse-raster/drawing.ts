// Gaussians over a picture cut into tiles, and the tile that gathers those whose box overlaps it: the picture with the box under test
// and what separates it, the projections of both boxes on four axes, which thread tests what, and the list. The test that is shown is the
// chosen thread's latest, of which the formula beside the drawing speaks, too.
import {type Look, show} from "#web/drawing/look.ts"
import {listChoices} from "#web/drawing/choices.ts"
import {redrawn} from "#web/drawing/redrawn.ts"
import {canvas, classes, laneMark, s, setAttributes} from "#web/drawing/svg.ts"
import {h} from "#web/runtime/dom.ts"
import {onArrows} from "#web/widgets/roving.ts"
import type {Followed} from "#web/drawing/pixel_picker.ts"
import type {DrawingHost, Drawn} from "#web/drawing/types.ts"

/** A test of one Gaussian's box against the tile. */
interface Test {
  gaussian: number
  thread: number
  turn: number
  /** The step at which it begins. */
  begin: number
  /** Step by which the thread knows the outcome. */
  known: number
  /** The step at which it ends. */
  end: number
  /** Steps at which each axis was asked. */
  asked: number[]
  /** In the list; −1 where the two are apart. */
  place: number
}

/** Positions in pixels; the four axes are the box's two and the tile's two. */
interface Shape {
  center: [number, number]
  /** Direction of the box's first side. */
  axis: [number, number]
  /** Half its sides. */
  half: [number, number]
  /** Its largest alpha in the tile. */
  strongest: number
  /** Distance of the centres along each axis. */
  distance: number[]
  /** Half the box's extent along each axis. */
  box: number[]
  /** Half the tile's. */
  tile: number[]
}

interface Facts {
  tiles: [across: number, down: number]
  /** Size of a tile. */
  size: [width: number, height: number]
  /** Room of the list. */
  room: number
  tests: Test[]
  /** For each test, a step at which it is its thread's latest. */
  moments: number[]
  shapes: Shape[]
}

type Values = Followed & {tile: number}

const AXES = ["its short side", "its long side", "the tile's width", "the tile's height"]
const THREADS = 32
const BOX_SIGMAS = 4 // to the sides of a box
const DRAWN_SIGMAS = 2 // to the ellipse that is drawn
const LEAST_ALPHA = 1 / 255
const NARROW = 520
const FEW = 8 // threads beside each other where it is narrow: a finger finds their squares
const LEAST_TABLE = 460 // px of its width from which its rows have names
const TAP = 24 // px: the side of such a square
const LEAST_WIDTH = 240
const LOW = 460 // px: in less height only the direction that decides has a row, so that the picture has room
const MARGINS = 4 // px: those that meet where there is no picture between

export const draw = (host: DrawingHost<Facts, unknown, Values>) => redrawn(host, (facts) => facts.tests, build)

function build(host: DrawingHost<Facts, unknown, Values>): Drawn {
  const {facts, root} = host
  const {width, height} = host.room()
  let latest: Look | null = null
  const pick = (test: Test) => {
    host.step(facts.moments[test.gaussian])
    if (latest && latest.thread !== test.thread) latest.moment.choose(test.thread)
  }
  const parts = [
    sentenceLine(facts),
    axisRows(facts, width, height < LOW),
    title("Who tests what: a column for each thread, a square for each Gaussian."),
    threadTable(facts, width, height === Infinity && width < NARROW, pick),
    listOfGaussians(facts),
  ]
  const el = h("div", {}, ...parts.flatMap((part) => part.el as Element[]))
  root.replaceChildren(el)
  const room = height - root.offsetHeight - MARGINS // for the picture: what the others, with type of any size, leave
  const picture = pictureOfTiles(host, Math.max(LEAST_WIDTH, Math.min(width, (room * acrossOf(facts)) / downOf(facts))))
  el.prepend(...picture.el)
  const paint = (look: Look) => {
    latest = look
    const tested = testAt(facts, look)
    for (const part of [picture, ...parts]) part.paint(look, tested)
  }
  const news = (look: Look) => madeText(facts, look) // each step says who comes onto the list
  return {el, paint, describe: (look) => describe(facts, look), news}
}

const title = (words: string) => {
  const el = h("p", {class: "coarse-title"}, words)
  return {el: [el], paint() {}}
}
const acrossOf = ({tiles, size}: Facts) => tiles[0] * size[0]
const downOf = ({tiles, size}: Facts) => tiles[1] * size[1]

/** The test to look at: the latest that the chosen thread has begun; where it has begun none, its first or the latest of all. */
export function testAt({tests}: Facts, {thread, step}: Look) {
  const begun = tests.filter((test) => test.begin <= step).sort((a, b) => a.begin - b.begin)
  const own = tests.filter((test) => test.thread === thread)
  return begun.findLast((test) => test.thread === thread) ?? own[0] ?? begun.at(-1) ?? tests[0]
}

function describe(facts: Facts, look: Look) {
  const {tests, room} = facts
  const listed = tests.filter(({known, place}) => look.step >= known && place >= 0 && place < room)
  const ids = listed.sort((a, b) => a.place - b.place).map((test) => test.gaussian)
  return `${madeText(facts, look)} On the list: ${ids.join(", ") || "nothing yet"}.`
}

const madeText = ({tests}: Facts, look: Look) =>
  `${tests.filter(({known}) => look.step >= known).length} of ${tests.length} tests are made.`

/** What comes of a test: "no" where the two are apart, "yes" where they overlap, "lost" where the list is full. */
export function outcomeOf(test: Test, room: number) {
  if (test.place < 0) return "no"
  return test.place < room ? "yes" : "lost"
}

const degreesOf = ({axis: [x, y]}: Shape) => (Math.atan2(y, x) * 180) / Math.PI

/** Choose a tile; in a trained picture, the pixel that is there where the chosen one is in its own. */
function choose({facts, values, set}: DrawingHost<Facts, unknown, Values>, tile: number) {
  if (!values.picture) return set("tile", tile)
  const [across] = facts.tiles
  const moved = [(tile % across) - (values.tile % across), Math.floor(tile / across) - Math.floor(values.tile / across)]
  set(
    "at",
    values.at.map((n, i) => Math.max(0, n + moved[i] * facts.size[i])),
  )
}

/** The picture: tiles, Gaussians, the box under test. */
function pictureOfTiles(host: DrawingHost<Facts, unknown, Values>, width: number) {
  const {facts, values} = host
  const {tests, shapes, room} = facts
  const [across, down] = facts.tiles
  const scale = width / (across * facts.size[0])
  const [tileWidth, tileHeight] = facts.size.map((size) => size * scale)
  const height = scale * down * facts.size[1]
  const label = `${shapes.length} Gaussians over ${across * down} tiles; tile ${values.tile} gathers`
  const svg = canvas(width, height, {class: "coarse", role: "img", "aria-label": label, "data-mini": ""})
  const corner = (tile: number) => ({x: (tile % across) * tileWidth, y: Math.floor(tile / across) * tileHeight})
  for (let tile = 0; tile < across * down; tile++) {
    const attributes = {...corner(tile), width: tileWidth, height: tileHeight, class: "coarse-tile"}
    svg.append(s("rect", {...attributes, onclick: () => choose(host, tile)}, s("title", {}, `Tile ${tile}`)))
  }
  const ellipse = (shape: Shape, share: number) => {
    const [x, y] = shape.center.map((value) => (value + 0.5) * scale)
    const [rx, ry] = shape.half.map((half) => Math.max(0, half * scale * share))
    return s("ellipse", {cx: x, cy: y, rx, ry, transform: `rotate(${degreesOf(shape)} ${x} ${y})`})
  }
  const ellipses = shapes.map((shape) => ellipse(shape, DRAWN_SIGMAS / BOX_SIGMAS))
  const own = corner(values.tile)
  const boxOf = (shape: Shape, name: string) => {
    const [x, y] = shape.center.map((value) => (value + 0.5) * scale)
    const [halfWidth, halfHeight] = shape.half.map((half) => half * scale)
    const sides = {x: x - halfWidth, y: y - halfHeight, width: Math.max(0, 2 * halfWidth), height: Math.max(0, 2 * halfHeight)}
    return s("rect", {class: name, ...sides, transform: `rotate(${degreesOf(shape)} ${x} ${y})`})
  }
  // what was tested, where it was found to touch: an ellipse alone can end short of the tile
  const reaches = tests.map((test, i) => (outcomeOf(test, room) === "no" ? null : boxOf(shapes[i], "coarse-reach")))
  const tested = s("g", {class: "coarse-test"})
  const frame = s("rect", {...own, width: tileWidth, height: tileHeight, class: "coarse-own"})
  svg.append(...reaches.filter((box) => box !== null), ...ellipses, frame, tested)
  const middle = {x: own.x + tileWidth / 2, y: own.y + tileHeight / 2}

  const marksOf = (test: Test) => {
    const shape = shapes[test.gaussian]
    const box = boxOf(shape, "coarse-box")
    const outline = ellipse(shape, 1)
    outline.setAttribute("class", "coarse-far")
    if (test.place >= 0) return [box, outline]
    const line = separatingLine(shape, test.asked.length - 1, scale, middle, width * 2)
    return [box, outline, s("path", {class: "coarse-apart", d: line})]
  }
  const paint = (look: Look, test: Test) => {
    ellipses.forEach((el, i) => {
      const made = look.step >= tests[i].known
      el.setAttribute("class", classes("coarse-gaussian", outcomeOf(tests[i], room), !made && "later", tests[i] === test && "me"))
      reaches[i]?.setAttribute("visibility", made && tests[i] !== test ? "visible" : "hidden")
    })
    const touching = tests.filter(({known, place}) => look.step >= known && place >= 0).length
    svg.setAttribute("aria-label", `${label}; ${touching} touch it so far`)
    tested.replaceChildren(...marksOf(test))
    tested.setAttribute("class", classes("coarse-test", look.step < test.known && "later"))
  }
  return {el: [svg], paint}
}

/**
 * Path of a line through the middle of the gap between the two boxes, across an axis.
 * @param middle  of the tile
 */
export function separatingLine(
  {axis: [ax, ay], distance, tile, box}: Shape,
  axis: number,
  scale: number,
  middle: {x: number; y: number},
  length: number,
) {
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

const longest = (all: string[]) => all.reduce((one, other) => (other.length > one.length ? other : one), "")

function sentenceLine({shapes, tests, room}: Facts) {
  const words = (test: Test) => sentence(shapes[test.gaussian], test, room)
  const before = ({thread, gaussian}: Test) => `Thread ${thread} tests Gaussian ${gaussian}.`
  const el = h("p", {class: "reading num"}, longest(tests.map(words))) // until it is painted: it is measured
  const paint = (look: Look, test: Test) => {
    el.textContent = look.step < test.known ? before(test) : words(test)
    el.classList.toggle("later", look.step < test.known)
  }
  return {el: [el], paint}
}

function sentence({strongest}: Shape, test: Test, room: number) {
  const name = `Thread ${test.thread}, Gaussian ${test.gaussian}`
  const asked = test.asked.length
  if (test.place < 0) return `${name}: apart, found in ${asked === 1 ? "the first direction" : `direction ${asked}`} of 4.`
  const place = test.place < room ? `gets place ${test.place}` : `gets place ${test.place}, past the end of the list`
  const effect = strongest < LEAST_ALPHA ? "it is not seen in the tile" : `its alpha in the tile is up to ${show(strongest, 2)}`
  return `${name}: touches, ${place}; ${effect}.`
}

/** The axis that decides a test: the one with the gap, or where there is none, the one with the least overlap. */
export function decisiveAxis({distance, box, tile}: Shape, {asked, place}: Test) {
  if (place < 0) return asked.length - 1
  const gaps = distance.map((d, i) => Math.abs(d) - tile[i] - box[i])
  return gaps.indexOf(Math.max(...gaps))
}

/** The projections of both boxes, a row an axis, in the order in which they are asked; or that of the axis that decides alone. */
function axisRows({shapes}: Facts, width: number, one: boolean) {
  const narrow = width < NARROW
  const [left, right] = narrow ? [132, 92] : [132, 150]
  const [top, rowHeight] = [18, 18]
  const room = Math.max(1, width - left - right - 12)
  const height = top + (one ? 1 : AXES.length) * rowHeight + 4
  const label = "The shadows of the two boxes on four directions"
  const svg = canvas(width, height, {class: "coarse", role: "img", "aria-label": label})
  const head = s("text", {x: left, y: 12})
  svg.append(
    s("text", {x: left - 10, y: 12, "text-anchor": "end"}, "direction"),
    head,
    s("text", {x: width - right + 10, y: 12}, narrow ? "apart, halves" : "apart, half shadows"),
  )
  const rows = AXES.slice(0, one ? 1 : AXES.length).map((_, i) => {
    const y = top + i * rowHeight + rowHeight / 2
    const line = s("path", {class: "coarse-line", d: `M${left} ${y}H${left + room}`})
    const tile = s("rect", {class: "coarse-shadow tile", y: y - 5, height: 4, rx: 1})
    const box = s("rect", {class: "coarse-shadow box", y: y + 1, height: 4, rx: 1})
    const gap = s("path", {class: "coarse-gap"})
    const title = s("text", {x: left - 10, y: y + 4, "text-anchor": "end"})
    const words = s("text", {x: width - right + 10, y: y + 4, class: "num"})
    svg.append(line, tile, box, gap, title, words)
    return {y, tile, box, gap, title, words}
  })
  const paint = (look: Look, test: Test) => {
    const shape = shapes[test.gaussian]
    const most = Math.max(...shape.distance.map((d, i) => Math.max(Math.abs(d) + shape.box[i], shape.tile[i])))
    const x = (value: number) => left + ((value / most + 1) / 2) * room
    const between = (from: number, to: number) => ({x: x(from), width: Math.max(0, x(to) - x(from))})
    svg.classList.toggle("later", look.step < test.known)
    svg.setAttribute("aria-label", `${label}: ${look.step < test.known ? "not known yet" : shadowsText(shape, test)}`)
    head.textContent = narrow ? "shadows" : "shadows of the tile, above, and of the box"
    if (one) head.textContent = test.place < 0 ? "the shadows with the gap" : "the shadows that overlap least"
    rows.forEach(({y, tile, box, gap, title, words}, row) => {
      const i = one ? decisiveAxis(shape, test) : row
      title.textContent = AXES[i]
      const asked = i < test.asked.length
      title.setAttribute("class", asked ? "now" : "")
      const [d, tileHalf, boxHalf] = [shape.distance[i], shape.tile[i], shape.box[i]]
      const apart = Math.abs(d) - tileHalf - boxHalf
      const sign = Math.sign(d) || 1
      const off = !asked && "off"
      setAttributes(tile, {...between(-tileHalf, tileHalf), class: classes("coarse-shadow tile", off)})
      setAttributes(box, {...between(d - boxHalf, d + boxHalf), class: classes("coarse-shadow box", off)})
      setAttributes(gap, {d: apart > 0 && asked ? `M${x(sign * tileHalf)} ${y}H${x(sign * (tileHalf + apart))}` : ""})
      const numbers = `${Math.abs(d).toFixed(2)} ${apart > 0 ? ">" : "≤"} ${(tileHalf + boxHalf).toFixed(2)}`
      const verdict = narrow ? "" : apart > 0 ? ", a gap" : ", overlap"
      const known = look.step >= test.known
      words.textContent = !known ? "?" : asked ? `${numbers}${verdict}` : "not asked"
      words.setAttribute("class", classes("num", known && asked && apart > 0 && "now"))
    })
  }
  return {el: [svg], paint}
}

/** On which direction the shadows are apart, in words. */
function shadowsText({distance, tile, box}: Shape, {asked}: Test) {
  const gaps = AXES.filter((_, i) => i < asked.length && Math.abs(distance[i]) > tile[i] + box[i])
  return gaps.length ? `apart on ${gaps.join(" and ")}` : "they overlap on all four"
}

/**
 * Which thread tests what: a column a thread, a row a turn.
 * @param stacked  whether it is a phone's: with squares that a finger finds, those of a few threads beside each other
 */
function threadTable({tests, room}: Facts, width: number, stacked: boolean, pick: (test: Test) => void) {
  const narrow = width < NARROW
  const turns = Math.max(...tests.map((test) => test.turn)) + 1
  const across = stacked ? FEW : THREADS // columns; those of the other threads are below
  const left = stacked ? 60 : !narrow ? 92 : width < LEAST_TABLE ? 0 : 64
  const column = Math.max(4, (width - left - 8) / across)
  const cell = stacked ? TAP : Math.max(2, Math.min(14, column - 2))
  const [head, gap] = stacked ? [20, 3] : [26, 4]
  const block = head + turns * (cell + gap) + (stacked ? 6 : 0) // height
  const height = (block * THREADS) / across
  const svg = canvas(width, height, {
    class: "coarse",
  })
  let shown = 0
  onArrows(svg, {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -THREADS, ArrowDown: THREADS}, (step) => {
    if (tests[shown + step]) pick(tests[shown + step])
  })
  const columnX = (thread: number) => left + column * ((thread % across) + 0.5)
  const blockY = (thread: number) => block * Math.floor(thread / across)
  const rowY = (turn: number, thread: number) => blockY(thread) + head + turn * (cell + gap)
  const laneY = (thread: number) => blockY(thread) + head / 2
  const lanes = Array.from({length: THREADS}, (_, i) => laneMark(columnX(i), laneY(i), Math.min(4.5, column * 0.36)))
  svg.append(...lanes.map((lane) => lane.el))
  for (let thread = 0; left > 0 && thread < THREADS; thread += across) {
    for (let turn = 0; turn < turns; turn++) {
      const first = THREADS * turn + thread
      const last = Math.min(tests.length, first + across) - 1
      if (last >= first) svg.append(s("text", {x: 0, y: rowY(turn, thread) + cell / 2 + 4}, `${first} to ${last}`))
    }
    svg.append(s("text", {x: 0, y: laneY(thread) + 4}, "threads"))
  }
  const boxes = tests.map(({thread, turn}) => ({x: columnX(thread) - cell / 2, y: rowY(turn, thread), width: cell, height: cell}))
  const cells = tests.map((test, i) => {
    const el = s("rect", {...boxes[i], rx: 2, onclick: () => pick(test)}, s("title", {}, `Gaussian ${test.gaussian}`))
    svg.append(el)
    return el
  })
  const paintChoices = listChoices(svg, "Test that is shown", boxes, (i) => pick(tests[i]))
  const paint = (look: Look, test: Test) => {
    cells.forEach((el, i) => {
      const made = look.step >= tests[i].known
      el.setAttribute("class", classes("coarse-seat", outcomeOf(tests[i], room), !made && "later", tests[i] === test && "me"))
    })
    lanes.forEach((lane, thread) => lane.show(look.status(thread), thread === test.thread))
    shown = test.gaussian
    paintChoices(tests.indexOf(test), (i) => {
      const {gaussian, thread, place} = tests[i]
      const outcome = look.step < tests[i].known ? "not tested yet" : place < 0 ? "apart from the tile" : "touches the tile"
      return `Gaussian ${gaussian}, thread ${thread}: ${outcome}`
    })
  }
  return {el: [svg], paint}
}

/** The shared list, with its two counters. */
function listOfGaussians({tests, room}: Facts) {
  const [counted, kept] = [h("b"), h("b")]
  const full = h("b", {class: "coarse-full"})
  const head = h("p", {class: "coarse-head num"})
  const named = (name: string, value: HTMLElement) => h("span", {}, h("code", {}, name), " ", value)
  head.append(named("blobCountAT", counted), " ", named("blobCount", kept))
  head.prepend("The list: ", h("code", {}, `blobs[${room}]`), " ")
  head.append(" ", full)
  const without = (lost: number) => (lost > 0 ? `◆ ${lost} without a place` : "")
  full.textContent = without(tests.filter((test) => outcomeOf(test, room) === "lost").length) // until it is painted: it is measured
  const cells = Array.from({length: room}, () => h("span", {class: "cell"}))
  const paint = (look: Look, test: Test) => {
    const found = look.memory("blobCountAT")?.number(0) ?? null
    const stored = look.memory("blobCount")?.number(0) ?? null
    counted.textContent = String(found ?? "–")
    kept.textContent = String(stored ?? "–")
    full.textContent = without((found ?? 0) - room)
    const blobs = look.memory("blobs")
    cells.forEach((cell, i) => {
      const known = blobs?.number(i) ?? null
      cell.textContent = String(known ?? "")
      cell.className = classes("cell", known !== null && test.place === i && "wr", known === null && "unwritten")
    })
  }
  return {el: [head, h("div", {class: "coarse-list"}, ...cells)], paint}
}
