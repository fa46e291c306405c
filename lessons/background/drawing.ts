// A few pixels on white paper, white laid behind them in two ways: both pictures, how far they are apart, and every pixel's red over its
// T. A pixel that is not written yet is hatched, and not in the chart.
import {alongLine, alongPath, placeLabels, type Point} from "#web/drawing/labels.ts"
import {type Look, show} from "#web/drawing/look.ts"
import {listChoices} from "#web/drawing/choices.ts"
import {redrawn} from "#web/drawing/redrawn.ts"
import {canvas, classes, css, pointerIn, s, setAttributes} from "#web/drawing/svg.ts"
import {h} from "#web/runtime/dom.ts"
import {onArrows} from "#web/widgets/roving.ts"
import type {DrawingHost, Drawn} from "#web/drawing/types.ts"

/** Of each pixel, colours from 0 to 1. The kernel writes them to asItShould and inSample. */
export interface Facts {
  width: number
  height: number
  T: number[]
  /** With T added. */
  right: number[][]
  /** By the sample's formula. */
  inSample: number[][]
}

type Moves = {choose(thread: number): void; move(step: number): void}

const GAP = 16
const PADDING = 14
const CAPTION = 22
const MOST_CELL = 44
const TAP = 24 // px
const WORDS = 104 // px: width of the words beside a picture
const MOST_DARKER = 0.25 // full colour in the picture of differences
const CHART = {least: 150, most: 260}
const NAME = {width: 10, height: 12} // px, of R and S
const CAPTIONS = ["R: white adds T", "S: the sample's formula", "S is darker by"]

const HATCH = {id: "unwritten", width: 8, height: 8, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)"}

const digits = (value: number) => show(Number(value.toFixed(3)), 3)

export const draw = (host: DrawingHost<Facts>) =>
  redrawn(
    host,
    (facts) => facts.T,
    build,
    (now, built) => now.width === built.width && now.height === built.height,
  )

function build(host: DrawingHost<Facts>, look: Look): Drawn {
  const {width, height} = host.facts
  const space = host.room()
  const half = Math.max(0, (space.width - 2 * PADDING - GAP) / 2)
  const most = (space.height - 2 * PADDING - 2 * CAPTION - GAP) / 2 // of a picture
  const beside = half >= 240 || Number.isFinite(space.height) // the chart stands at the right of the third picture
  // else each picture has a row, with its words beside it, and pixels that a finger finds
  const wide = beside ? half : Math.max(TAP * width, 2 * half - WORDS)
  const cell = Math.floor(Math.max(4, Math.min(MOST_CELL, wide / width, most / height)))
  const chartHeight = Math.max(CHART.least, Math.min(CHART.most, beside ? cell * height + CAPTION : 200))
  let latest = look
  const choose = (thread: number) => {
    if (latest.moment.pinned !== thread) latest.moment.choose(thread)
  }
  const moves: Moves = {
    choose,
    move(step) {
      const next = latest.moment.thread + step
      if (next >= 0 && next < width * height) choose(next)
    },
  }
  const focused = indexOfFocus(host.root)
  const pictures = CAPTIONS.map((caption) => picture(caption, host.facts, cell, moves))
  const chartOf = (facts: Facts) => redOverT(facts, Math.max(200, beside ? half : space.width - 2 * PADDING), chartHeight)
  let [charted, chart] = [host.facts, chartOf(host.facts)]
  const grid = h("div", {class: classes("paper", !beside && "slim")}, ...pictures.map((one) => one.el), chart.el)
  if (focused >= 0) queueMicrotask(() => pictures[focused].svg.focus()) // another size, another picture: the focus stays

  const pair = (i: number) => [host.facts.right[i], host.facts.inSample[i]]
  const darker = (i: number) => {
    const [right, inSample] = pair(i)
    return Math.max(...right.map((value, channel) => value - inSample[channel]))
  }
  return {
    el: grid,
    paint(now) {
      latest = now
      const {facts} = host
      if (facts !== charted) {
        const before = chart.el
        ;[charted, chart] = [facts, chartOf(facts)]
        before.replaceWith(chart.el)
      }
      const memories = ["asItShould", "inSample"].map((name) => now.ownMemory(name))
      facts.T.forEach((_, i) => {
        const known = memories.map((memory) => memory.written(i) > 0)
        pair(i).forEach((colour, which) => {
          setAttributes(pictures[which].cells[i], {fill: known[which] ? css(colour) : "none"}) // else it would tell what comes
        })
        const share = Math.round(100 * Math.min(1, darker(i) / MOST_DARKER))
        setAttributes(pictures[2].cells[i], {
          style: known[1] ? `fill: color-mix(in oklab, var(--c-blue) ${share}%, var(--surface))` : "fill: none",
        })
        chart.point(i, known, i === now.thread)
      })
      chart.lines(memories.map((memory) => facts.T.every((_, i) => memory.written(i) > 0)))
      const written = (which: number, i: number) => memories[which].written(i) > 0
      pictures[2].words.textContent = written(1, now.thread) ? ` ${digits(darker(now.thread))}` : " ?"
      const red = (which: number) => (i: number) => (written(which, i) ? `red ${digits(pair(i)[which][0])}` : "not known yet")
      pictures[0].mark(now.thread, red(0))
      pictures[1].mark(now.thread, red(1))
      pictures[2].mark(now.thread, (i) => (written(1, i) ? digits(darker(i)) : "not known yet"))
    },
    describe(now) {
      const i = now.thread
      const [right, inSample] = pair(i)
      const place = `Pixel (${i % width}, ${Math.floor(i / width)}) lets T = ${digits(host.facts.T[i])} through`
      return `${place}: its red is ${digits(right[0])} with T added, ${digits(inSample[0])} by the sample's formula.`
    },
  }
}

/** Which of the drawing's pictures has the focus; −1 for none. */
function indexOfFocus(root: HTMLElement) {
  const focused = (root.getRootNode() as ShadowRoot).activeElement
  return ([...root.querySelectorAll(".sheet")] as (Element | null)[]).indexOf(focused)
}

/**
 * One of the three pictures: a square a pixel, the chosen one marked.
 * @param cell  size of a square
 */
function picture(caption: string, {width, height, T}: Facts, cell: number, {choose, move}: Moves) {
  const at = (i: number) => ({x: (i % width) * cell, y: Math.floor(i / width) * cell})
  const cells = T.map((_, i) => s("rect", {...at(i), width: cell, height: cell}))
  const columns = Array.from({length: width + 1}, (_, i) => `M${i * cell} 0V${height * cell}`)
  const rows = Array.from({length: height + 1}, (_, i) => `M0 ${i * cell}H${width * cell}`)
  const mark = s("rect", {class: "chosen", width: cell, height: cell, fill: "none"})
  const svg = s(
    "svg",
    {
      width: cell * width + 4,
      height: cell * height + 4,
      viewBox: `-2 -2 ${cell * width + 4} ${cell * height + 4}`,
      class: "sheet",
    },
    s("defs", {}, s("pattern", HATCH, s("path", {class: "hatch", d: "M0 0V8"}))),
    s("rect", {width: cell * width, height: cell * height, fill: "url(#unwritten)"}),
    ...cells,
    s("path", {class: "raster", d: [...columns, ...rows].join("")}),
    mark,
  )
  const paintChoices = listChoices(
    svg,
    `Pixel of the picture “${caption}”`,
    T.map((_, i) => ({...at(i), width: cell, height: cell})),
  )
  svg.onclick = (event) => {
    const point = pointerIn(svg, event)
    const [x, y] = [Math.floor(point.x / cell), Math.floor(point.y / cell)]
    if (x >= 0 && y >= 0 && x < width && y < height) choose(y * width + x)
  }
  onArrows(svg, {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -width, ArrowDown: width}, move)
  const words = h("b", {class: "num"})
  return {
    el: h("figure", {}, svg, h("figcaption", {}, caption, words)),
    svg,
    cells,
    words,
    mark(i: number, nameOf: (i: number) => string) {
      setAttributes(mark, at(i))
      paintChoices(i, (other) => `Pixel (${other % width}, ${Math.floor(other / width)}): ${nameOf(other)}`)
    },
  }
}

/** The red channel over T: a ring with T added, a disc by the sample's formula, and what is missing for the chosen pixel. */
function redOverT(facts: Facts, width: number, height: number) {
  const reds = [...facts.right, ...facts.inSample].map(([red]) => red)
  const low = Math.floor(4 * Math.min(...reds, 0.99)) / 4
  const [left, right, top, bottom] = [40, 14, 24, 30]
  const x = (T: number) => left + T * (width - left - right)
  const y = (red: number) => top + ((1 - red) / (1 - low)) * (height - top - bottom)
  const order = facts.T.map((_, i) => i).sort((a, b) => facts.T[a] - facts.T[b])
  const ends = [order[0], order[order.length - 1]].map((i) => {
    return `at T ${digits(facts.T[i])}, ${digits(facts.right[i][0])} and ${digits(facts.inSample[i][0])}`
  })
  const label = `The red channel of every pixel by its T, with T added and by the sample's formula: ${ends.join("; ")}`
  const svg = canvas(width, height, {class: "sag", role: "img", "aria-label": label})
  drawAxes(svg, {x, y, low, left, height})
  const line = (values: number[][]) => `M${order.map((i) => `${x(facts.T[i])} ${y(values[i][0])}`).join("L")}`
  const missing = s("path", {class: "missing"})
  const lines = [s("path", {class: "should", d: line(facts.right)}), s("path", {class: "does", d: line(facts.inSample)})]
  svg.append(...lines, missing)
  const points = facts.T.map((T, i) => {
    const ring = s("circle", {cx: x(T), cy: y(facts.right[i][0]), r: 4.5, class: "ring"})
    const disc = s("circle", {cx: x(T), cy: y(facts.inSample[i][0]), r: 4, class: "dot"})
    svg.append(ring, disc)
    return {ring, disc}
  })
  // names stand beside the pixel that lets least light through, at the left, where the two are apart
  const first = order[0]
  const beside = x(facts.T[first]) - 12
  const at = (values: number[][]) => order.map((i) => [x(facts.T[i]), y(values[i][0])] as Point)
  const grid = ticksFrom(low).flatMap((value) => alongLine([x(0), y(value)], [x(1), y(value)]))
  const obstacles = {points: [...grid, ...alongPath(at(facts.right)), ...alongPath(at(facts.inSample))]}
  const names = Object.entries({R: facts.right, S: facts.inSample}).map(([text, values]) => {
    const middle = y(values[first][0])
    return {text, places: [0, 11, -11].map((dy) => [beside - NAME.width, middle + dy - NAME.height / 2] as Point)}
  })
  const places = placeLabels(
    names.map(({places}) => ({...NAME, places})),
    {width, height: height - bottom},
    obstacles,
  )
  const letters = places.map((place, i) => {
    const at = {x: beside, y: (place?.[1] ?? 0) + NAME.height - 2, "text-anchor": "end"}
    return s("text", {...at, class: "name"}, place ? names[i].text : "")
  })
  svg.append(...letters)
  const seen = (known: boolean) => ({visibility: known ? "visible" : "hidden"})
  return {
    el: svg,
    /** Show the lines of R and S once all their pixels are known. */
    lines(known: boolean[]) {
      known.forEach((all, which) => {
        for (const part of [lines[which], letters[which]]) setAttributes(part, seen(all))
      })
    },
    /**
     * Paint a pixel's two points.
     * @param known  of R and S
     */
    point(i: number, known: boolean[], chosen: boolean) {
      const {ring, disc} = points[i]
      setAttributes(ring, {class: classes("ring", chosen && "me"), ...seen(known[0])})
      setAttributes(disc, {class: classes("dot", chosen && "me"), ...seen(known[1])})
      if (!chosen) return
      setAttributes(missing, {
        d: `M${x(facts.T[i])} ${y(facts.right[i][0])}V${y(facts.inSample[i][0])}`,
        ...seen(known[1]),
      })
      svg.append(ring, disc) // above the others
    },
  }
}

const ticksFrom = (low: number) => [0, 0.25, 0.5, 0.75, 1].filter((value) => value >= low)

function drawAxes(
  svg: SVGElement,
  {x, y, low, left, height}: {x: (T: number) => number; y: (red: number) => number; low: number; left: number; height: number},
) {
  for (const value of ticksFrom(low)) {
    const number = s("text", {x: left - 6, y: y(value) + 4, "text-anchor": "end", class: "m"}, String(value))
    svg.append(s("path", {class: "grid", d: `M${x(0)} ${y(value)}H${x(1)}`}), number)
  }
  for (const T of [0, 0.5, 1]) svg.append(s("text", {x: x(T), y: height - 10, "text-anchor": "middle", class: "m"}, String(T)))
  svg.append(s("text", {x: x(0.75), y: height - 10, "text-anchor": "middle"}, "T"), s("text", {x: 0, y: 12}, "red of each pixel"))
}
