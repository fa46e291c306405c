// What a thread's value went through, iteration by iteration: rows of curves over one axis, and the picture at the cursor.
import {type Look, show} from "#web/drawing/look.ts"
import {bytesOf, paintPixels} from "#web/drawing/pixels.ts"
import {canvas, pointerIn, s, setAttributes} from "#web/drawing/svg.ts"
import {aloud} from "#web/recording/aloud.ts"
import {powerOfTen} from "#web/recording/values.ts"
import {h} from "#web/runtime/dom.ts"
import type {DrawingHost, DrawingView} from "#web/drawing/types.ts"

interface Curve {
  label: string
  mark: "line" | "dashed" | "dots"
  /** By thread and iteration. */
  values: (number | null)[][]
}

interface Row {
  title: string
  /** Values at which to draw lines. */
  levels?: number[]
  log?: boolean
  curves: Curve[]
}

/** Bytes, perhaps in base 64. */
type Picture = string | Uint8Array<ArrayBuffer>

export interface Facts {
  /** Names of the threads' values. */
  names: string[]
  /** Steps at which an iteration ends, by thread and iteration. */
  ends: number[][]
  rows: Row[]
  /** The curve of the first row whose rule was not run. */
  other: number
  /** Size of the pictures. */
  size: [number, number]
  target: Picture
  /** Before the first iteration and after each. */
  frames: Picture[]
}

interface Options {
  /** What a thread is. */
  choice: string
  /** What an iteration is called. */
  unit: string
}

const LEFT = 72
const RIGHT = 114 // px: the names of the curves
const NARROW = 420 // px: below, the names stand over their row, beside its title
const EDGE = 8 // px, right of a narrow chart
const LETTER = 7.5 // px of a name, at most
const PADDING = {narrow: 8, wide: 16} // px, beside a chart
const SAMPLE = 16 // px: a piece of the curve, in front of its name
const FULL = {head: 22, gap: 8, foot: 28, top: 84} // px: of a row, below it, below all, and the menu and the pictures above the chart
const CLOSE = {head: 18, gap: 4, foot: 26, top: 60}
const LOW = 400 // px of height: below, all of these are close
const OVER = 6 // px between a row's highest number and its title where the one stands under the other
const ROWS = {least: 34, most: 74} // heights; the first row, the page's subject, has twice that
const TICK_EVERY = 12
const LABEL_HEIGHT = 14
const NAME_HEIGHT = 18 // of a curve's name, which may wear a hat
const HUES = {
  m: "mean",
  m̂: "mean",
  v: "square",
  v̂: "square",
  g: "gradient",
  corrected: "corrected",
  "the sample's": "sample",
} as Record<string, string>
const MOST_HEIGHT = 480 // where the window sets no limit
let made = 0 // charts, each with an id of its own

export function draw(host: DrawingHost<Facts, Options>): DrawingView {
  let drawn: ReturnType<typeof valuePanel> | null = null
  let drawnNames = ""
  return {
    open() {
      if (!host.facts.rows) return
      // the menu stays while its names do, and with it the focus
      const names = host.facts.names.join()
      if (!drawn || names !== drawnNames) drawn = valuePanel(host)
      drawnNames = names
      drawn.reset()
    },
    changed() {},
    paint: (look) => drawn?.paint(look),
    describe: (look) => drawn?.words(look) ?? "",
    news: (look) => drawn?.news(look) ?? "",
    resized(look) {
      drawn?.reset()
      drawn?.paint(look)
    },
  }
}

/** The menu, the two pictures, and room for the chart. */
function valuePanel(host: DrawingHost<Facts, Options>) {
  const {facts, options, root} = host
  let look: Look
  let drawn: ReturnType<typeof chart> | null = null
  let drawnThread = -1
  const names = facts.names.map((name, i) => h("option", {value: i}, name))
  const menu = h("select", {"aria-label": options.choice}, ...names)
  menu.onchange = () => look.moment.choose(+menu.value)
  const target = smallPicture("target", "The picture to fit", facts.size)
  const now = smallPicture("now", "The picture now", facts.size)
  target.paint(facts.target)
  const words = h("p", {class: "num"})
  const body = h("div", {class: "curves-rows", "data-mini": ""})
  const choice = h("div", {}, h("label", {}, options.choice, menu), words)
  root.replaceChildren(h("div", {class: "curves"}, h("div", {class: "curves-top"}, choice, target.el, now.el), body))

  return {
    reset() {
      drawn = null
    },
    paint(at: Look) {
      look = at
      const {facts, options} = host
      const thread = Math.min(Math.max(0, look.thread), facts.names.length - 1)
      if (!drawn || drawnThread !== thread) {
        drawnThread = thread
        menu.value = String(thread)
        const {width, height} = host.room()
        const space = height < LOW ? CLOSE : FULL
        root.firstElementChild?.classList.toggle("low", height < LOW)
        const padding = width < NARROW ? PADDING.narrow : PADDING.wide
        drawn = chart(host, thread, Math.max(280, width - 2 * padding), Math.min(MOST_HEIGHT, height) - space.top, space)
        body.replaceChildren(drawn.el)
      }
      const ends = facts.ends[thread]
      const done = ends.filter((step) => step <= look.step).length
      drawn.paint(done)
      now.paint(facts.frames[done])
      now.name(`The picture now: ${psnr(facts.frames[done], facts.target)} dB`)
      words.textContent = done ? `${options.unit} ${done} of ${ends.length}` : `before the first ${options.unit}`
    },
    /** The chosen value and its step, in a sentence. */
    words(at: Look) {
      const {facts} = host
      const thread = Math.min(Math.max(0, at.thread), facts.names.length - 1)
      const done = facts.ends[thread].filter((step) => step <= at.step).length
      if (!done) return `${facts.names[thread]} has not moved yet.`
      const steps = facts.rows[0].curves.map((curve) => `${show(curve.values[thread][done - 1] ?? 0, 3)} ${curve.label}`)
      return `Steps of ${facts.names[thread]}, in η: ${steps.join(", ")}.`
    },
    /** The same without what the lesson's sentences say, which are about the first value and the step that it took. */
    news(at: Look) {
      const {facts} = host
      if (Math.max(0, at.thread) > 0) return this.words(at)
      const done = facts.ends[0].filter((step) => step <= at.step).length
      const {label, values} = facts.rows[0].curves[facts.other]
      const step = values[0][done - 1] ?? null
      const running = done && at.moment.position < at.moment.recording.length
      return running && step !== null ? `By the other rule, ${label}, it would be ${show(step, 3)} η.` : ""
    },
  }
}

function smallPicture(caption: string, label: string, [width, height]: [number, number]) {
  const pixels = h("canvas", {width, height, class: "pixels", role: "img", "aria-label": label})
  return {
    el: h("figure", {role: "none"}, pixels, h("div", {class: "under-it", "aria-hidden": "true"}, caption)), // the picture's name says more
    paint: (picture: Picture) => paintPixels(pixels, picture),
    name: (words: string) => pixels.setAttribute("aria-label", words),
  }
}

/** How close two pictures are, in dB. */
function psnr(picture: Picture, target: Picture) {
  const [one, other] = [bytesOf(picture), bytesOf(target)]
  const error = one.reduce((sum, byte, i) => sum + ((byte - other[i]) / 255) ** 2, 0) / one.length
  return (-10 * Math.log10(Math.max(1e-10, error))).toFixed(1)
}

/**
 * The curves of one thread's value.
 * @param most  its height at most
 */
function chart(
  {facts, options, step}: DrawingHost<Facts, Options>,
  thread: number,
  width: number,
  most: number,
  space: typeof FULL,
) {
  const {rows, names} = facts
  const ends = facts.ends[thread]
  const count = ends.length
  const narrow = width < NARROW
  const end = width - (narrow ? EDGE : RIGHT)
  const room = end - LEFT
  const x = (iteration: number) => LEFT + (iteration * room) / count
  const head = space.head + (narrow ? OVER : 0)
  const unit = (most - space.foot - rows.length * (head + space.gap)) / (rows.length + 1)
  const row = Math.max(ROWS.least, Math.min(ROWS.most, Math.floor(unit)))
  const rowHeight = (i: number) => (i ? row : 2 * row)
  const rowTop = (i: number) => (i ? (i + 1) * row + i * (head + space.gap) : 0) + head
  const height = rowTop(rows.length - 1) + row + space.foot
  /** What the curves show up to the cursor. */
  const label = (done: number) => {
    const name = `${names[thread]} over ${count} iterations`
    if (!done) return `${name}: ${rows.map((row) => row.title).join(", ")}`
    const reached = ({label, values}: Curve) => {
      const [first, last] = [values[thread][0], values[thread][done - 1]].map((value) =>
        value === null ? "nothing" : show(value, 3),
      )
      return `${label && `${label.replace("\u0302", " hat")} `}${done > 1 ? `${first} at first, ` : ""}${last} at iteration ${done}`
    }
    return [name, ...rows.map(({title, curves}) => `${title}: ${curves.map(reached).join("; ")}`)].join(". ")
  }
  const svg = canvas(width, height, {class: "curves-chart", role: "img", "aria-label": label(0)})
  const band = s("rect", {class: "band", y: 0, height: height - space.foot, width: Math.max(3, room / count)})
  const clip = `curves-${++made}`
  const past = s("rect", {x: LEFT, y: 0, height})
  svg.append(band, s("clipPath", {id: clip}, past))
  const drawn = rows.map((row, i) => {
    const place = {top: rowTop(i), height: rowHeight(i), x, end, over: narrow ? width : 0, count, clip}
    return drawRow(svg, row, thread, place)
  })
  for (let t = TICK_EVERY; t <= count; t += TICK_EVERY)
    svg.append(s("text", {x: x(t - 0.5), y: height - 8, "text-anchor": "middle"}, String(t)))
  const hit = s("rect", {class: "hit", x: LEFT, y: 0, width: room, height: height - space.foot})
  hit.onclick = (event) => {
    const iteration = Math.floor((pointerIn(svg, event).x - LEFT) / (room / count))
    step(ends[Math.min(count - 1, Math.max(0, iteration))])
  }
  svg.append(narrow ? s("text", {x: 0, y: height - 8}, options.unit) : s("text", {x: end + 16, y: height - 8}, options.unit), hit)
  return {
    el: svg,
    paint(done: number) {
      svg.setAttribute("aria-label", aloud(label(done)))
      setAttributes(band, {x: x(Math.max(0, done - 1)), visibility: done ? "visible" : "hidden"})
      setAttributes(past, {width: done ? x(done - 0.5) - LEFT : 0})
      for (const row of drawn) row.paint(done)
    },
  }
}

/** Of a row. */
interface Place {
  top: number
  height: number
  x: (iteration: number) => number
  /** End of the curves. */
  end: number
  /** Where the names end that stand over the row; 0 for beside it. */
  over: number
  /** Number of iterations. */
  count: number
  /** Id of its clip path. */
  clip: string
}

/** Draw one row: all of each curve pale, and up to the cursor in full, with a dot at its end. */
function drawRow(svg: SVGElement, row: Row, thread: number, place: Place) {
  const {top, height, x, end, over, count, clip} = place
  const curves = row.curves.map((curve) => ({...curve, own: curve.values[thread].map((value) => (row.log ? log10(value) : value))}))
  const {low, high, y} = scaleOf([...curves.flatMap((curve) => curve.own), ...(row.levels ?? [])], top, height)
  const base = top - 9 - (over ? OVER : 0) // of the title
  svg.append(s("text", {x: over ? 0 : LEFT, y: base, class: "title"}, row.title))
  const wanted = row.log ? powers(low, high) : [low, high, ...(row.levels ?? [])]
  const values: number[] = [] // numbers that would touch are left out, from the last on
  for (const value of [...wanted].reverse())
    if (values.every((other) => Math.abs(y(value) - y(other)) > LABEL_HEIGHT)) values.push(value)
  for (const value of values) {
    const number = {x: LEFT - 8, y: y(value) + 4, "text-anchor": "end", class: "m"}
    svg.append(
      s("path", {class: "grid", d: `M${LEFT} ${y(value)}H${end}`}),
      s("text", number, row.log ? powerOfTen(value) : show(value, 3)),
    )
  }
  const beside = labelPlaces(
    curves.map((curve) => y(curve.own.at(-1) ?? low) + 4),
    top,
    height,
  )
  const starts = besideTitle(
    row.curves.map((curve) => curve.label),
    over,
  )
  const labels = curves.map((_, i) => (over ? {x: starts[i], y: base} : {x: end + 6, y: beside[i]}))
  const drawn = curves.map((curve, i) => {
    const colour = HUES[curve.label] ?? "ink"
    const path = (upTo: number) => pathOf(curve.own.slice(0, upTo), curve.mark === "dots", x, y)
    const dots = curve.mark === "dots"
    const full = s("path", {class: `${colour} ${curve.mark}`, d: path(count), "clip-path": dots ? null : `url(#${clip})`})
    const head = s("circle", {class: `${colour} head`, r: 3.2})
    const {x: left, y: level} = labels[i]
    const sample = s("path", {class: `${colour} ${curve.mark}`, d: sampleOf(dots, left, level - 4)})
    const name = s("text", {x: left + SAMPLE + 5, y: level, class: `name ${colour}`}, curve.label)
    svg.append(
      s("path", {class: `${colour} ${curve.mark} later`, d: path(count)}),
      full,
      head,
      ...(curve.label ? [sample, name] : []),
    )
    return (done: number) => {
      if (dots) setAttributes(full, {d: path(done)})
      const at = Math.max(0, done - 1) // before the first iteration it waits where it will appear
      const value = curve.own[at] ?? null
      if (value !== null) setAttributes(head, {cx: x(at + 0.5), cy: y(value)})
      setAttributes(head, {visibility: done && value !== null ? "visible" : "hidden"})
    }
  })
  return {
    paint(done: number) {
      for (const paintCurve of drawn) paintCurve(done)
    },
  }
}

/** Where names with their samples begin that stand in one line, the last of them ending at a place. */
function besideTitle(names: string[], end: number) {
  const widths = names.map((name) => SAMPLE + 5 + LETTER * name.length + 2)
  return widths.map((_, i) => end - widths.slice(i).reduce((sum, width) => sum + width + 10, -10))
}

const log10 = (value: number | null) => (value !== null && value > 0 ? Math.log10(value) : null)

/** The scale that holds all of some values. */
function scaleOf(values: (number | null)[], top: number, height: number) {
  const known = values.filter((value) => value !== null)
  const [low, high] = [Math.min(...known), Math.max(...known)]
  const span = high - low || Math.abs(high) || 1
  const base = high === low ? low - span / 2 : low // a level line runs through the middle
  return {low, high, y: (value: number) => top + height - ((value - base) / span) * height}
}

/**
 * Where labels go that would like to be at some heights: within the row and apart from those before.
 * @param top  of the row
 * @param height  of the row
 */
export function labelPlaces(wanted: number[], top: number, height: number = ROWS.most) {
  const places: number[] = []
  for (const at of wanted) {
    let place = Math.min(top + height, Math.max(top + 4, at))
    for (const other of places)
      if (Math.abs(other - place) < NAME_HEIGHT) place = other + (place < other ? -NAME_HEIGHT : NAME_HEIGHT)
    places.push(place)
  }
  return places
}

/** Path of a curve through the middles of its iterations, or of a dot at each; unknown values are left out. */
export function pathOf(values: (number | null)[], dots: boolean, x: (iteration: number) => number, y: (value: number) => number) {
  const points = values.flatMap((value, t) => (value === null ? [] : `${x(t + 0.5).toFixed(1)} ${y(value).toFixed(1)}`))
  if (!points.length) return "M0 0"
  return dots ? points.map((point) => `M${point}h0`).join("") : `M${points.join("L")}`
}

/** A short piece of a curve, to tell by its name how it is drawn. */
const sampleOf = (dots: boolean, x: number, y: number) =>
  dots ? [3, 10].map((at) => `M${x + at} ${y}h0`).join("") : `M${x} ${y}h${SAMPLE}`

/** Whole exponents between two, three at most. */
export function powers(low: number, high: number) {
  const first = Math.ceil(low)
  const whole = Array.from({length: Math.max(0, Math.floor(high) - first + 1)}, (_, i) => first + i)
  return whole.length > 3 ? [whole[0], whole[whole.length >> 1], whole[whole.length - 1]] : whole
}
