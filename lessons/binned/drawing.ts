// Gaussians over tiles, how many each tile has counted, and the lists of all tiles side by side as they fill.
import {alongEllipse, alongLine, clearest, placeLabels, type Point} from "#web/drawing/labels.ts"
import {canvas, classes, s} from "#web/drawing/svg.ts"
import {redrawn} from "#web/drawing/redrawn.ts"
import {h} from "#web/runtime/dom.ts"
import type {Look} from "#web/drawing/look.ts"
import type {DrawingHost, DrawingView, Drawn} from "#web/drawing/types.ts"

/** Steps are events, counted from 1. */
interface Facts {
  grid: [columns: number, rows: number]
  /** Its side, in pixels. */
  tile: number
  /** Per Gaussian. */
  ellipses: [x: number, y: number, first: number, second: number, angle: number][]
  /** [Gaussian]: sizes from its centre at which it ends. */
  reach: number[]
  /** [Gaussian], in tiles. */
  boxes: [column: number, row: number, columns: number, rows: number][]
  /** [Gaussian]: step. */
  boxed: number[]
  counted: [step: number, tile: number][]
  /** By all threads together. */
  walked: [first: number, last: number, gaussian: number][]
  /** Per tile. */
  parts: [step: number, begin: number, length: number][]
  placed: [step: number, place: number, gaussian: number, number: number][]
  /** By the threads in one round. */
  filled: [first: number, last: number][]
}

const OUTLINE = 2 // sizes
const CELL = 24 // px, of an entry
const ROW = 44 // px, of a row of entries with its tiles' numbers
const GAP = 6 // px between the lists of two tiles
const COUNT = {width: 24, height: 15} // px, of a tile's
const WITHIN = 0.8 // of an ellipse's outline: where its number's middle may be
const LISTS = "The entries of all lists, by tile"
const NUMBER = {width: 10, height: 14} // px, of a Gaussian's

export const draw = (host: DrawingHost<Facts>): DrawingView => redrawn(host, (facts) => facts.parts, build)

function build({facts, room}: DrawingHost<Facts>): Drawn {
  const {width, height} = room()
  const lists = listsOf(facts, Math.max(CELL * 4, width))
  const [columns, rows] = facts.grid
  const most = Number.isFinite(height) ? Math.max(150, height - lists.height - 34) : 400
  const side = Math.max(8, Math.floor(Math.min((width - 2) / columns, most / rows)))
  const picture = pictureOf(facts, side)
  const words = h("p", {class: "binned-words"}, "The lists of all tiles, one after another in memory")
  const doneAt =
    ({moment}: Look) =>
    (step: number) =>
      moment.after(step - 1) <= moment.position
  return {
    el: h("div", {class: "binned"}, picture.el, words, lists.el),
    paint(look) {
      const done = doneAt(look)
      picture.paint(done, look.thread)
      lists.paint(done)
    },
    /** Each step says how many there are so far; this, which went where. */
    news(look) {
      const round = facts.filled.find(([, last]) => look.moment.after(last - 1) === look.moment.position)
      if (!round) return ""
      return `${listed(facts, ([step]) => step >= round[0] && step <= round[1])}.`
    },
    describe(look) {
      const done = doneAt(look)
      const counted = facts.counted.filter(([step]) => done(step)).length
      const placed = facts.placed.filter(([step]) => done(step))
      const lists = placed.length ? ` The lists: ${listed(facts, ([step]) => done(step))}.` : ""
      const box = boxText(facts, look)
      return `${counted} entries are counted, ${placed.length} of ${facts.placed.length} are in the lists.${lists}${box && ` ${box}`}`
    },
    chosen: (look) => boxText(facts, look),
  }
}

/** Which Gaussians are in the lists of which tiles, in words, of those entries that are asked for. */
function listed({parts, placed}: Facts, which: (entry: Facts["placed"][number]) => boolean) {
  const entries = placed.filter(which).sort((one, other) => one[1] - other[1]) // in memory
  const lists = parts.flatMap(([, begin, length], tile) => {
    const own = entries.filter(([, place]) => place >= begin && place < begin + length).map(([, , gaussian]) => gaussian)
    return own.length ? `tile ${tile}: ${series(own.length > 1 ? "Gaussians" : "Gaussian", own)}` : []
  })
  return lists.join("; ").replace(/^t/, "T")
}

/** Which tiles the box of the chosen thread's Gaussian covers, in words; "" before it is drawn. */
function boxText({boxes, boxed, grid}: Facts, {moment, thread}: Look) {
  if (thread >= boxes.length || moment.after(boxed[thread] - 1) > moment.position) return ""
  const [column, row, across, down] = boxes[thread]
  const tiles = Array.from({length: across * down}, (_, i) => column + (i % across) + (row + Math.floor(i / across)) * grid[0])
  if (!tiles.length) return `The box of Gaussian ${thread} covers no tile.`
  return `The box of Gaussian ${thread} covers ${series(tiles.length > 1 ? "tiles" : "tile", tiles)}.`
}

/** A name and numbers: `tiles 1, 2 and 5`. */
const series = (name: string, numbers: number[]) => `${name} ${numbers.join(", ").replace(/, (\d+)$/, " and $1")}`

const colour = (gaussian: number) => `--own: var(--layer-${1 + (gaussian % 8)})`

/**
 * The picture: tiles with their counts, Gaussians, and the box of the chosen thread's.
 * @param side  of a tile, in px
 */
function pictureOf({grid: [columns, rows], tile, ellipses, reach, boxes, boxed, counted, walked, parts}: Facts, side: number) {
  const scale = side / tile
  const [w, h_] = [columns * side, rows * side]
  const at = labelsOf({grid: [columns, rows], tile, ellipses, reach}, side)
  const cells = Array.from({length: columns * rows}, (_, i) => {
    const [x, y] = [(i % columns) * side, Math.floor(i / columns) * side]
    const cell = s("rect", {x: x + 1, y: y + 1, width: Math.max(0, side - 1), height: Math.max(0, side - 1), class: "binned-tile"})
    const count = s("tspan")
    return {cell, label: s("text", {...at.tiles[i], class: "binned-name"}, "×", count), count}
  })
  const outlines = ellipses.map(([x, y, first, second, angle], i) => {
    const turned = `translate(${(x + 0.5) * scale} ${(y + 0.5) * scale}) rotate(${(angle * 180) / Math.PI})`
    const ellipse = (sizes: number, name: string) =>
      s("ellipse", {rx: sizes * first * scale, ry: sizes * second * scale, transform: turned, class: name})
    return s("g", {style: colour(i)}, ellipse(reach[i], "binned-end"), ellipse(OUTLINE, "binned-gaussian"))
  })
  const numbers = ellipses.map((_, i) => s("text", {...at.numbers[i], class: "binned-number"}, String(i)))
  const outerBoxes = boxes.map(([column, row, across, down], i) =>
    s("rect", {
      x: column * side + 2,
      y: row * side + 2,
      width: Math.max(0, across * side - 4),
      height: Math.max(0, down * side - 4),
      class: "binned-box",
      style: colour(i),
    }),
  )
  const el = canvas(
    w + 2,
    h_ + 2,
    {role: "img", class: "binned-picture"},
    ...cells.map(({cell}) => cell),
    ...outlines,
    ...outerBoxes,
    ...cells.map(({label}) => label),
    ...numbers,
  )
  return {
    el,
    paint(done: (step: number) => boolean, thread: number) {
      cells.forEach(({cell, count}, i) => {
        const now = counted.filter(([step, at]) => at === i && done(step)).length
        const all = parts[i][2]
        count.textContent = String(now === all || done(parts[i][0]) ? all : now || all)
        count.setAttribute("class", classes("binned-count", !now && all > 0 && "later"))
        cell.setAttribute("class", classes("binned-tile", now > 0 && "met"))
      })
      const met = cells.flatMap((_, i) => {
        const now = counted.filter(([step, at]) => at === i && done(step)).length
        return now ? `${i} by ${now}` : []
      })
      const known = met.length ? `tiles covered so far: ${met.join(", ")}` : "no tile is counted yet"
      el.setAttribute("aria-label", `${ellipses.length} Gaussians over ${columns * rows} tiles; ${known}`)
      const together = walked.find(([first, last]) => done(first) && !done(last + 1))
      const shown = together ? together[2] : thread
      outerBoxes.forEach((box, i) => {
        box.setAttribute("class", classes("binned-box", i !== shown && "hidden", !done(boxed[i]) && "later"))
      })
    },
  }
}

/**
 * Where the labels of the picture stand: those of tiles in their left top corners, where a tile's is looked for; the numbers of Gaussians
 * within their ellipses and clear of these, of all outlines and borders if there is such a place, else where they cover least of them.
 * @param side  of a tile, in px
 */
function labelsOf(
  {grid: [columns, rows], tile, ellipses, reach}: Pick<Facts, "grid" | "tile" | "ellipses" | "reach">,
  side: number,
) {
  const scale = side / tile
  const [width, height] = [columns * side, rows * side]
  const names = Array.from({length: columns * rows}, (_, i) => ({
    x: (i % columns) * side + 5,
    y: Math.floor(i / columns) * side + 3,
    ...COUNT,
  }))
  const centres = ellipses.map(([x, y]) => [(x + 0.5) * scale, (y + 0.5) * scale])
  const outlines = ellipses.flatMap(([, , first, second, angle], i) =>
    [OUTLINE, reach[i]].flatMap((sizes) =>
      alongEllipse([centres[i][0], centres[i][1]], [sizes * first * scale, sizes * second * scale], angle),
    ),
  )
  const borders = [
    ...Array.from({length: columns + 1}, (_, i) => alongLine([i * side, 0], [i * side, height])),
    ...Array.from({length: rows + 1}, (_, i) => alongLine([0, i * side], [width, i * side])),
  ].flat()
  const byCentre = (i: number): Point[] => {
    const around = [0, -5, 5, -10, 10, -16, 16, -24, 24]
    const [, , first, second, angle] = ellipses[i]
    const [x, y] = [centres[i][0] - NUMBER.width / 2, centres[i][1] - NUMBER.height / 2]
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)]
    const inside = ([dx, dy] = [0, 0]) =>
      Math.hypot((dx * cos + dy * sin) / first, (dy * cos - dx * sin) / second) <= WITHIN * OUTLINE * scale
    const spots = around.flatMap((dy) => around.map((dx) => [dx, dy] as Point)).filter(inside)
    return spots.sort((a, b) => Math.hypot(...a) - Math.hypot(...b)).map(([dx, dy]) => [x + dx, y + dy])
  }
  const points = [...outlines, ...borders]
  const wanted = ellipses.map((_, i) => ({...NUMBER, places: byCentre(i)}))
  const found = placeLabels(wanted, {width, height}, {points, boxes: names})
  const boxes = [...names, ...found.flatMap((place) => (place ? [{x: place[0], y: place[1], ...NUMBER}] : []))]
  const numbers = wanted.map((label, i) => {
    if (found[i]) return found[i]
    const [x, y] = clearest(label, {points, boxes})
    boxes.push({x, y, ...NUMBER})
    return [x, y]
  })
  return {
    numbers: numbers.map(([x, y]) => ({x, y: y + NUMBER.height - 2})),
    tiles: names.map(({x, y}) => ({x, y: y + COUNT.height - 2})),
  }
}

/** Where the entries of all lists are, and the names of the lists. */
function inRows(lists: {tile: number; begin: number; length: number}[], width: number) {
  const spots: {x: number; row: number}[] = []
  const names = []
  let [x, row] = [0, 0]
  for (const {tile, begin, length} of lists) {
    if (x > 0 && x + length * CELL > width) [x, row] = [0, row + 1]
    names.push({tile, x, row})
    for (let i = 0; i < length; i++) {
      if (x + CELL > width) [x, row] = [0, row + 1]
      spots[begin + i] = {x, row}
      x += CELL
    }
    x += GAP
  }
  return {spots, names, row}
}

/** All lists, one after another, in rows. */
function listsOf(facts: Facts, width: number) {
  const {parts, placed} = facts
  const order = parts
    .map(([, begin, length], tile) => ({tile, begin, length}))
    .sort((a, b) => a.begin - b.begin || a.length - b.length)
  const filled = order.filter(({length}) => length)
  const {row} = inRows(filled, width)
  const all = filled.reduce((sum, {length}) => sum + length * CELL + GAP, -GAP)
  const longest = Math.max(...filled.map(({length}) => length))
  // rows that are equally long, if that takes no more of them
  const even = inRows(filled, Math.min(width, all / (row + 1) + longest * CELL))
  const {spots, names} = even.row === row ? even : inRows(filled, width)
  const height = (row + 1) * ROW
  const marks = placed.map(([step, place, gaussian]) => {
    const at = spots[place]
    const y = at.row * ROW + 17
    const cell = s("rect", {x: at.x + 1, y, width: CELL - 2, height: CELL - 2, rx: 3})
    const text = s("text", {x: at.x + CELL / 2, y: y + 16, "text-anchor": "middle"}, String(gaussian))
    return {step, cell, text, el: s("g", {style: colour(gaussian)}, cell, text)}
  })
  const labels = names.map(({tile, x: at, row: line}) => ({tile, el: s("text", {x: at + 2, y: line * ROW + 12}, String(tile))}))
  const el = canvas(
    width,
    height,
    {role: "img", "aria-label": LISTS, class: "binned-lists"},
    ...labels.map((one) => one.el),
    ...marks.map((mark) => mark.el),
  )
  return {
    el,
    height,
    paint(done: (step: number) => boolean) {
      el.setAttribute("aria-label", `${LISTS}: ${listed(facts, ([step]) => done(step)) || "none is in yet"}`)
      for (const {tile, el: label} of labels) label.setAttribute("class", classes("binned-name", !done(parts[tile][0]) && "later"))
      for (const {step, cell, text} of marks) {
        cell.setAttribute("class", classes("binned-entry", done(step) ? "in" : "later"))
        text.setAttribute("class", classes("binned-id", "m", !done(step) && "later"))
      }
    },
  }
}
