// A sorting network: the keys as bars, which places meet pass by pass, the pass at hand lit, wrong keys in red. Longer lists: rows of
// colours.
import {listPlaces} from "#web/drawing/choices.ts"
import {redrawn} from "#web/drawing/redrawn.ts"
import {speaker} from "#web/drawing/sound.ts"
import {classes, canvas, laneMark, s, setAttributes} from "#web/drawing/svg.ts"
import {PADDING, keyRows, keyText} from "./key_rows.ts"
import type {Look} from "#web/drawing/look.ts"
import type {DrawingHost, DrawingView, Drawn} from "#web/drawing/types.ts"

interface Pass {
  /** The bit that says which way a pair is sorted. */
  k: number
  /** Distance of the cells that are compared. */
  j: number
  /** Lower cells of the pairs that were swapped. */
  swapped: number[]
  /** The steps at which it begins and ends. */
  begin: number
  end: number
}

/** A read of a place before another thread had written it. */
type StaleRead = {step: number; thread: number; place: number; writer: number}

/** Where a pass has ended, for the threads from the first to the last. */
type Stop = [step: number, pass: number, first: number, last: number]

export interface Facts {
  count: number
  passes: Pass[]
  /** The keys after each pass. */
  after: number[][]
  /** At the start. */
  keys: number[]
  stops: Stop[]
  /** Whether a barrier stands after each pass. */
  orderly: boolean
  stale: StaleRead[]
  /** Places whose key is wrong in the end. */
  wrong: number[]
}

export interface Options {
  /** The array that is sorted. */
  memory: string
}

type Column = Pass & {x: number; width: number; lanes: number}

const LEFT = 34 // of the bars: cell numbers and lanes
const TOP = 34
const ROW = 27
const LEAST_ROW = 17
const THREADS = 32
const UNDER = 58 // below the last row: the names of the groups
const BAR = 100
const NARROW_BAR = 44
const NARROW = 520
const LETTER = 8 // px, of the names below
const MOST_IN_NETWORK = 16

export const draw = (host: DrawingHost<Facts, Options>): DrawingView => {
  const view = redrawn(
    host,
    (facts) => facts.count,
    (now) => (now.facts.count <= MOST_IN_NETWORK ? network(now) : keyRows(now)),
  )
  const sound = speaker("the sort")
  let playedStep = -1 // the step of the stop that was played last
  const withSpeaker = (look: Look, act: (look: Look) => void) => {
    act(look)
    host.root.append(sound.el)
  }
  return {
    ...view,
    open: (look) => withSpeaker(look, (now) => view.open?.(now)),
    resized: (look) => withSpeaker(look, (now) => view.resized?.(now)),
    paint(look) {
      view.paint(look)
      const stop = host.facts.stops?.find(([end]) => end === look.step)
      if (stop && stop[0] !== playedStep) sound.play(comparedKeys(host.facts, stop))
      playedStep = look.step
    },
  }
}

/** The keys that have met in a pass, pair by pair, as parts of the largest. */
function comparedKeys({count, passes, after, keys}: Facts, stop: Stop) {
  const most = Math.max(1, ...keys.filter((key) => key !== PADDING))
  const pairs = comparedPairs(count, passes[stop[1]]).filter(({low}) => within(stop, low))
  const met = pairs.slice(0, MOST_IN_NETWORK).flatMap(({low, high}) => [after[stop[1]][low], after[stop[1]][high]])
  return met.map((key) => Math.min(1, key / most))
}

function layOut({count, passes}: Facts, {width: space, height: rootHeight}: {width: number; height: number}) {
  const most = count <= 8 ? ROW * 1.35 : ROW
  const row = Math.max(LEAST_ROW, Math.min(most, (rootHeight - TOP - UNDER - 6) / count))
  const y = (cell: number) => TOP + 14 + cell * row
  const height = y(count - 1) + 44
  const rootWidth = space * Math.max(1, height / rootHeight) // one that is too high is scaled down, and as wide as there is room
  const bar = space < NARROW ? NARROW_BAR : BAR
  const first = LEFT + bar + 52
  const room = Math.max(40, rootWidth - first - 12)
  // one lane for each arrow that would cross another of its pass; what is left lies between the passes
  const lanesOf = ({j}: Pass) => Math.min(j, count / 2)
  const lanes = passes.reduce((sum, pass) => sum + lanesOf(pass), 0)
  const gap = Math.max(6, Math.min(16, (room * 0.66) / lanes))
  const between = Math.max(4, (room - gap * lanes) / passes.length)
  let x = first
  const columns: Column[] = passes.map((pass) => {
    const column = {...pass, x, width: lanesOf(pass) * gap + between, lanes: lanesOf(pass)}
    x += column.width
    return column
  })
  return {bar, first, columns, row, y, width: x + 8, height}
}

type Layout = ReturnType<typeof layOut>

function network({facts, options, room}: DrawingHost<Facts, Options>): Drawn {
  const {count, passes, keys, stops, stale, wrong} = facts
  const layout = layOut(facts, room())
  const {width, height, columns, bar} = layout
  const most = Math.max(1, ...keys.filter((key) => key !== PADDING))
  const label = `A sorting network of ${count} places and ${passes.length} passes`
  const svg = canvas(width, height, {class: "net", "aria-label": label})
  const band = s("rect", {class: "band", y: TOP - 22, height: height - TOP - 4, rx: 4})
  const barrier = s("path", {class: "wallp"})
  svg.append(band, s("text", {x: layout.first - 12, y: TOP - 8, "text-anchor": "end", class: "m"}, "j ="))
  const heads = columns.map((c) => s("text", {x: c.x + c.width / 2, y: TOP - 8, "text-anchor": "middle", class: "m"}, String(c.j)))
  svg.append(...heads)
  const groups = drawGroups(svg, layout)
  const rows = Array.from({length: count}, (_, cell) => drawRow(svg, layout, cell))
  const arrows = columns.flatMap((column, pass) => drawArrows(svg, layout, column, pass, count))
  svg.append(barrier)

  const verdict = s("text", {class: "m bad", x: bar < BAR ? 0 : LEFT + 10, y: height - 10}) // ends before the first group's name
  svg.append(verdict)
  const boxes = rows.map((_, cell) => ({x: 0, y: layout.y(cell) - layout.row / 2, width: layout.first, height: layout.row}))
  const namePlaces = listPlaces(svg, boxes)
  /** The key at each place, as it is drawn. */
  const keysAt = (look: Look) => {
    const memory = look.memory(options.memory)
    return keys.map((key, cell) => (memory?.written(cell) ? (memory.number(cell) ?? key) : key))
  }

  const paintRows = (look: Look, compared: number[]) => {
    const memory = look.memory(options.memory)
    const over = look.step >= stops[stops.length - 1][0]
    const early = readTooEarly(facts, look.step)
    const seen = new Map<number, number>() // how often each key stands above
    rows.forEach(({disc, item, key, value, cut}, cell) => {
      if (cell < look.threads) disc.show(look.status(cell), cell === look.thread)
      else disc.el.setAttribute("visibility", "hidden")
      const known = memory?.written(cell) ? memory.number(cell) : null
      const number = known ?? keys[cell]
      const padding = number === PADDING
      const nth = seen.get(number) ?? 0
      seen.set(number, nth + 1)
      setAttributes(item, {"data-thing": `${number}-${nth}`}) // a key is one bar, which goes where it is swapped to
      const size = padding ? bar : Math.max(2, (number / most) * bar)
      const here = compared.includes(cell)
      const written = memory?.touched(cell) === "wr"
      const bad = over && wrong.includes(cell)
      const state = [here && "pair", written && "wr", padding && "pad", bad && "bad", known === null && "later"]
      setAttributes(key, {width: size, class: classes("bar", ...state)})
      setAttributes(value, {x: LEFT + 14 + size, class: classes("m", here && "now", bad && "bad", known === null && "later")})
      value.textContent = `${padding ? "∞" : number}${bad ? " ✕" : ""}`
      cut.setAttribute("visibility", early.has(cell) ? "visible" : "hidden")
    })
    verdict.textContent = over && wrong.length ? `✕ ${wrong.length} of ${keys.length} wrong` : ""
  }
  const paint = (look: Look) => {
    const at = stopAt(stops, passes[0].begin, look.step)
    const current = at < 0 ? -1 : stops[at][1]
    const begun = current >= 0
    const now = keysAt(look)
    const where = begun ? `pass ${current + 1} is at hand` : "before the first pass"
    svg.setAttribute("aria-label", `${label}: ${where}. The keys: ${listKeys(now)}`)
    const compared = comparedCells(look)
    paintRows(look, compared)
    const over = look.step >= stops[stops.length - 1][0]
    namePlaces((cell) => `Place ${cell}: ${keyText(now[cell])}${over && wrong.includes(cell) ? ", in the wrong place" : ""}`)
    const column = columns[Math.max(0, current)]
    const visibility = begun ? "visible" : "hidden"
    setAttributes(band, {x: column.x, width: column.width, visibility})
    setAttributes(barrier, {
      d: `M${column.x + column.width} ${TOP - 22}V${height - 26}`,
      visibility: facts.orderly ? visibility : "hidden",
    })
    heads.forEach((head, pass) => head.setAttribute("class", classes("m", pass === current && "now")))
    for (const {k, text} of groups) text.setAttribute("class", classes("m", k === column.k && begun && "now"))
    for (const arrow of arrows) {
      const end = stops.findIndex((stop) => stop[1] === arrow.pass && within(stop, arrow.low))
      const past = end >= 0 && look.step >= stops[end][0]
      const mine = arrow.pass === current && compared[0] === arrow.low && compared[1] === arrow.high
      const swapped = passes[arrow.pass].swapped.includes(arrow.low)
      const state = mine ? "mine" : end === at && begun ? "lit" : past ? "past" : "cmp"
      arrow.el.setAttribute("class", classes(state, past && (swapped ? "swap" : "stay")))
    }
  }
  const describe = (look: Look) => {
    const now = keysAt(look)
    const early = stale.filter(({step}) => step <= look.step).length
    const at = stopAt(stops, passes[0].begin, look.step)
    const meet = at < 0 ? "" : ` ${describePass(count, passes, stops[at], look.step)}`
    const reads = early ? ` ${early} ${early === 1 ? "read" : "reads"} came too early so far.` : ""
    return `The keys: ${listKeys(now)}.${meet}${reads}`
  }
  /**
   * Forty numbers are too many for each step: the keys are said before the first, and where a pass has ended, which of them it has
   * swapped.
   */
  const news = (look: Look) => {
    if (look.step < passes[0].begin) return describe(look)
    const ended = stops.find(([end]) => end === look.step)
    return ended ? swappedText(count, passes, ended) : ""
  }
  const chosen = (look: Look) => (look.thread < count ? `At place ${look.thread}: ${keyText(keysAt(look)[look.thread])}.` : "")
  return {el: svg, paint, describe, news, chosen}
}

/** Which places meet in a pass, and once it has ended which of them have swapped, in words. */
function describePass(count: number, passes: Pass[], stop: Stop, step: number) {
  const [end, number] = stop
  const pairs = comparedPairs(count, passes[number])
  const swapped = step >= end ? ` ${swappedText(count, passes, stop)}` : ""
  return `In pass ${number + 1} these places are compared, and the first of each two gets the smaller key: ${listPairs(pairs)}.${swapped}`
}

const listKeys = (keys: number[]) => keys.map((key) => (key === PADDING ? "padding" : key)).join(", ")

/** Pairs of places, of each first the one that gets the smaller key. */
const listPairs = (pairs: ReturnType<typeof comparedPairs>) =>
  pairs.map(({low, high, ascending}) => (ascending ? `${low} and ${high}` : `${high} and ${low}`)).join(", ")

function swappedText(count: number, passes: Pass[], stop: Stop) {
  const pass = passes[stop[1]]
  const pairs = comparedPairs(count, pass).filter(({low}) => within(stop, low))
  const swapped = pairs.filter(({low}) => pass.swapped.includes(low))
  return `Swapped in pass ${stop[1] + 1}: ${swapped.length === pairs.length ? "all" : listPairs(swapped) || "none"}.`
}

/** The places that were read too early since the stop before a step. */
function readTooEarly({stops, stale}: Facts, step: number) {
  const before = stops.findLast(([end]) => end < step)?.[0] ?? 0
  return new Set(stale.filter((read) => read.step > before && read.step <= step).map(({place}) => place))
}

/** Whether the thread of a place is one of those that a stop is about. */
const within = ([, , first, last]: Stop, place: number) => place % THREADS >= first && place % THREADS <= last

/** Draw which k the passes have, below them. */
function drawGroups(svg: SVGElement, {columns, height}: Layout) {
  return [...new Set(columns.map(({k}) => k))].map((k) => {
    const own = columns.filter((column) => column.k === k)
    const last = own[own.length - 1]
    const [from, to] = [own[0].x + 4, last.x + last.width - 4]
    const attributes = {x: (from + to) / 2, y: height - 10, "text-anchor": "middle", class: "m"}
    const name = `k = ${k}`
    const text = s("text", attributes, to - from > LETTER * name.length ? name : String(k))
    svg.append(s("path", {class: "wire", d: `M${from} ${height - 26}H${to}`}), text)
    return {k, text}
  })
}

/** Draw a cell: its thread, its number, its key as a bar, its wire. */
function drawRow(svg: SVGElement, {first, row, width, y}: Layout, cell: number) {
  const disc = laneMark(8, y(cell))
  const key = s("rect", {class: "bar", x: LEFT + 10, y: y(cell) - row * 0.26, height: row * 0.52, rx: 2})
  const value = s("text", {class: "m", y: y(cell) + 4})
  const item = s("g", {}, key, value)
  const corner = y(cell) - row * 0.26
  const cut = s("path", {class: "cut", d: `M${LEFT + 10} ${corner}h9l-9 9z`, visibility: "hidden"})
  svg.append(
    s("path", {class: "wire", d: `M${first - 6} ${y(cell)}H${width - 4}`}),
    disc.el,
    s("text", {class: "m", x: LEFT, y: y(cell) + 4, "text-anchor": "end"}, String(cell)),
    item,
    cut,
  )
  return {disc, item, key, value, cut}
}

/** Draw the pairs of one pass: each an arrow to where the larger key goes. */
function drawArrows(svg: SVGElement, {y}: Layout, column: Column, pass: number, count: number) {
  return comparedPairs(count, column).map(({low, high, ascending}) => {
    const x = column.x + (column.width * ((low % column.j) + 0.5)) / column.lanes
    const [from, to] = ascending ? [y(low), y(high)] : [y(high), y(low)]
    const back = ascending ? -1 : 1
    const el = s(
      "g",
      {},
      s("path", {d: `M${x} ${from}V${to + back * 4}`, fill: "none"}),
      s("circle", {cx: x, cy: from, r: 2}),
      s("path", {d: `M${x - 3.5} ${to + back * 6}h7l-3.5 ${-back * 6}z`, class: "tip"}),
    )
    svg.append(el)
    return {el, pass, low, high}
  })
}

/** The pairs of cells that a pass compares. */
export function comparedPairs(count: number, {k, j}: {k: number; j: number}) {
  const cells = Array.from({length: count}, (_, i) => i)
  return cells.filter((i) => (i ^ j) > i).map((i) => ({low: i, high: i ^ j, ascending: (i & k) === 0}))
}

/**
 * The stop at a step: the first that is not behind it; −1 before the first pass.
 * @param begin  step at which the first pass begins
 */
export function stopAt(stops: Stop[], begin: number, step: number) {
  if (step < begin) return -1
  const open = stops.findIndex(([end]) => step <= end)
  return open < 0 ? stops.length - 1 : open
}

/** The two cells that the chosen thread compares, the lower first; none before it does. */
function comparedCells(look: Look) {
  const [i, l] = [look.value("i"), look.value("l")]
  return i === null || l === null || look.moment.event < 0 ? [] : [Math.min(i, l), Math.max(i, l)]
}
