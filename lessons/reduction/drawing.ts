// A sum by tree reduction: what shared memory holds after each round, a row a round; each row adds the upper half of the one above onto
// its lower half.
import {doing, listChoices} from "#web/drawing/choices.ts"
import {redrawn} from "#web/drawing/redrawn.ts"
import {canvas, classes, laneMark, pointerIn, s, setAttributes} from "#web/drawing/svg.ts"
import {text} from "#web/recording/values.ts"
import {onArrows} from "#web/widgets/roving.ts"
import type {Look} from "#web/drawing/look.ts"
import type {DrawingHost, Drawn} from "#web/drawing/types.ts"

export interface Round {
  /** Threads that add, and the distance of what they add. */
  stride: number
  /** The step at which it ends. */
  end: number
  /** By place, the step that writes its sum. */
  written: number[]
  /** Who read too early, and when. */
  stale: [thread: number, step: number][]
  /** Places whose sum is not what it should be. */
  wrong: number[]
}

interface Facts {
  /** Number of threads. */
  count: number
  gradients: number[]
  /** To which they are clamped. */
  limit: number
  /** Step after which the first round begins. */
  begin: number
  /** By place, the step that writes its gradient. */
  written: number[]
  rounds: Round[]
  /** Cells before the first round and after each. */
  rows: number[][]
}

type Options = {memory: string}

const MOST_COLOUR = 45 // % of a cell's colour: ink is read on it in both themes
const LEAST_STRIPE = 0.3 // share of its colour that a cell without a number has at least: its sign is told by nothing else
const LEFT = 4
const LANES = 20 // height of the row of threads
const TITLE = 18 // above a row
const TICK = 8 // px between the first row and its title, for the ticks of cells without numbers
const GAP = {least: 4, most: 22} // below a row, for the fold
const CELL = {least: 14, most: 26} // height
const LYING = 30 // px of a cell's width from which its number lies in it; in narrower ones it is rounded, or stands on end
const STANDING = {width: 14, height: 40, gap: 10} // px of a cell, and below it, from which a number may stand in it
const DIGIT = 7.2 // px, of the figures' type
const CLOSE_DIGIT = 6 // px, where the figures stand closer
const LETTER = 7 // px, of the titles
const SPACED = 8 // px of a cell's width above which it stands by itself
const LEAST_WIDTH = 200

const short = (value: number) => text(Math.abs(value) >= 100 ? Math.round(value) : Number(value.toFixed(1)), "float", 4)

const rounded = (value: number) => text(Math.round(value) || 0, "int", 4) // never −0

export const draw = (host: DrawingHost<Facts, Options>) => redrawn(host, (facts) => facts.rows, build)

/** @param most  height, perhaps Infinity */
function layOut({count, gradients, rounds, rows}: Facts, width: number, most: number) {
  const cell = (width - 2 * LEFT) / count
  const lanes = count <= 64 ? LANES : 0
  const pitch = (most - lanes - TICK - 8 + GAP.least) / (rounds.length + 1)
  const lying = cell >= LYING
  const longest = (write: (value: number) => string) => Math.max(...rows.flat().map((value) => write(value).length))
  const telling = Math.max(...gradients.map(Math.abs)) >= 3 // rounded, too
  const whole = !lying && telling && cell - 2 >= longest(rounded) * CLOSE_DIGIT
  const standing = !lying && !whole && cell >= STANDING.width && pitch >= TITLE + STANDING.height + STANDING.gap
  const low = Math.max(CELL.least, Math.min(count > 32 ? 16 : CELL.most, Math.floor((pitch - TITLE) * 0.55)))
  const rowHeight = standing ? STANDING.height : low
  const gap = Math.max(GAP.least, Math.min(GAP.most, Math.floor(pitch - TITLE - rowHeight)))
  const x = (i: number) => LEFT + i * cell
  const numbered = lying || whole || standing
  const ticks = numbered ? 0 : TICK
  const y = (row: number) => lanes + ticks + TITLE + row * (rowHeight + TITLE + gap)
  const middle = (i: number) => x(i) + cell / 2
  const height = y(rounds.length) + rowHeight + 8
  // whether the figures have to stand closer, in all cells
  const close = (standing ? rowHeight : cell) - 3 < longest(whole ? rounded : short) * DIGIT
  return {width, height, cell, rowHeight, hasLanes: lanes > 0, ticks, numbered, whole, standing, close, x, y, middle}
}

type Layout = ReturnType<typeof layOut>

function build({facts, options, room}: DrawingHost<Facts, Options>, look: Look): Drawn {
  const {count, rounds} = facts
  const layout = layOut(facts, Math.max(LEAST_WIDTH, room().width), room().height)
  const {width, height, cell, x, y, middle} = layout
  let latest = look

  const svg = canvas(width, height, {
    class: classes("sums", layout.close && "close"),
  })
  const laneCount = layout.hasLanes ? count : 0
  const lanes = Array.from({length: laneCount}, (_, i) => laneMark(middle(i), 9, Math.min(5, cell * 0.34)))
  svg.append(...lanes.map((lane) => lane.el))
  const rows = facts.rows.map((_, row) => drawRow(svg, facts, layout, row))
  const chosenMark = s("path", {class: "sums-mine"})
  svg.append(chosenMark)
  const columns = facts.gradients.map((_, i) => ({x: x(i), y: 0, width: cell, height}))
  const choose = (thread: number) => latest.moment.choose(Math.max(0, Math.min(count - 1, thread)))
  const paintChoices = listChoices(svg, "Thread", columns, choose)
  svg.onclick = (event) => choose(Math.floor((pointerIn(svg, event).x - LEFT) / cell))
  onArrows(svg, {ArrowLeft: -1, ArrowRight: 1}, (step) => choose(latest.moment.thread + step))

  const paint = (now: Look) => {
    latest = now
    const {moment, thread} = now
    const over = (step: number) => moment.after(step - 1) <= moment.position
    const newest = over(facts.begin) ? latestRow(facts, (step) => (over(step) ? moment.after(step - 1) : -1)) : -1
    rows.forEach((row, i) => row.paint(now, over, i === newest))
    lanes.forEach((lane, i) => lane.show(now.status(i), i === thread))
    setAttributes(chosenMark, {d: `M${x(thread)} ${y(rounds.length) + layout.rowHeight + 3}H${x(thread + 1)}`})
    const memory = now.memory(options.memory)
    paintChoices(thread, (i) => {
      const held = memory && memory.written(i) > 0 ? `holds ${short(memory.number(i) ?? 0)}` : "is not written yet"
      return `Thread ${i} ${doing(now.status(i))}; its cell ${held}`
    })
  }
  const describe = (now: Look) => cellText(facts, options, now)
  return {el: svg, paint, describe, news: (now) => (now.step && !now.thread ? "" : describe(now))} // each step says what thread 0 gets
}

/**
 * Draw a row: its title, where it comes from, its cells.
 * @param row  0 for the gradients
 */
function drawRow(svg: SVGElement, facts: Facts, layout: Layout, row: number) {
  const {count, rounds} = facts
  const {cell, width, rowHeight, ticks, x, y, middle} = layout
  const round = row ? rounds[row - 1] : null
  const live = round ? round.stride : count
  const [written, end] = round ? [round.written, round.end] : [facts.written, facts.begin]
  const before = row > 1 ? rounds[row - 2].end : facts.begin // the end of the row above
  const spaced = cell > SPACED
  // beside its fold, if it has room there whatever it says in the end; else at the right
  const longest = round ? titleOf(round, count, true).length * LETTER : 0
  const beside = !spaced && x(2 * live) + 8 + longest <= width
  const at = !round ? LEFT : beside ? x(2 * live) + 8 : width - LEFT
  const title = s("text", {x: at, y: y(row) - 6 - (round ? 0 : ticks), "text-anchor": round && !beside ? "end" : "start"})
  title.textContent = round ? titleOf(round, count, false) : layout.whole ? "the gradients, rounded" : "the gradients"
  svg.append(title)
  const above = y(row - 1) + rowHeight
  // from the row above: its upper half comes down onto the lower half
  const halves = `M${x(live)} ${above + 2}H${x(2 * live)}L${x(live)} ${y(row) - 2}H${x(0)}Z`
  const fold = round && s("path", {class: "sums-fold", d: halves})
  if (fold) svg.prepend(fold)
  const cells = Array.from({length: count}, (_, i) => drawCell(svg, facts, layout, row, i))
  // cells too narrow for frames of their own have one together
  if (!spaced) svg.append(s("rect", {class: "sums-row", x: x(0), y: y(row), width: x(live) - x(0), height: rowHeight}))
  const addends = s("path", {class: "sums-way"})
  if (round) svg.append(addends)
  return {
    /** @param latest  whether the last sum written is in this row */
    paint(look: Look, over: (step: number) => boolean, latest: boolean) {
      const {thread} = look
      const past = over(end)
      const current = !past && (over(before) || written.some(over))
      title.setAttribute("class", latest ? "now" : "")
      if (round) title.textContent = titleOf(round, count, past)
      fold?.setAttribute("class", classes("sums-fold", (past || current) && "lit"))
      setAttributes(addends, {
        class: classes("sums-way", thread < live && (past || current) && "on"),
        d: `M${middle(thread)} ${above}V${y(row)}M${middle(thread + live)} ${above}L${middle(thread)} ${y(row)}`,
      })
      cells.forEach((paintCell, i) => {
        const known = i < live ? over(written[i]) : past
        paintCell(known ? facts.rows[row][i] : null, facts.rows[row][i], i >= live, i === thread, over)
      })
    },
  }
}

/** A round in words; once it is past, also what went wrong in it. */
export function titleOf({stride, stale, wrong}: Round, count: number, past: boolean) {
  const adds = `stride ${stride}: ${stride} of ${count} threads add`
  if (!past || (!stale.length && !wrong.length)) return adds
  return `${adds}, ${stale.length} too early, ${wrong.length} wrong`
}

/**
 * The row of the sum that was written last: without barriers, rounds overlap.
 * @param when  the position after a step; −1 for one still to come
 */
function latestRow({written, rounds}: Facts, when: (step: number) => number) {
  const latest = [written, ...rounds.map((round) => round.written)].map((steps) => Math.max(...steps.map(when)))
  return latest.indexOf(Math.max(...latest))
}

/** Draw a cell; returns what paints it. */
function drawCell(
  svg: SVGElement,
  {gradients, limit, rounds, rows}: Facts,
  {cell, rowHeight, numbered, whole, standing, x, y, middle}: Layout,
  row: number,
  i: number,
) {
  const most = Math.max(...rows.flat().map(Math.abs), 1e-9)
  const spaced = cell > SPACED
  const pad = spaced ? 1.5 : 0
  const width = Math.max(1, cell - pad)
  const box = s("rect", {
    x: x(i) + pad / 2,
    y: y(row),
    width,
    height: rowHeight,
    rx: spaced ? 2 : 0,
    "stroke-width": spaced ? 1 : 0,
  })
  const value = numbered ? s("text", {y: 4, "text-anchor": "middle"}) : null
  const place = `translate(${middle(i)} ${y(row) + rowHeight / 2})`
  const corner = Math.min(8, cell)
  const staleMark = `M${x(i + 1) - pad / 2} ${y(row)}h${-corner}l${corner} ${corner}z`
  const early = row ? rounds[row - 1].stale.find(([thread]) => thread === i) : undefined
  const stale = early ? s("path", {class: "sums-cut", d: staleMark}) : null
  const sum = s("g", {}, box, value)
  svg.append(sum)
  if (stale) svg.append(stale)
  const name = (ofRow: number, at: number) => `${ofRow}-${at}`
  const addends = row ? `${name(row - 1, i)} ${name(row - 1, i + rounds[row - 1].stride)}` : ""
  const clamped = row === 0 && Math.abs(gradients[i]) > limit
  // a frame would hide what is in a narrow cell
  if (clamped && !numbered) svg.append(s("path", {class: "sums-tick", d: `M${middle(i)} ${y(0) - 5}v4`}))
  const wrong = row > 0 && rounds[row - 1].wrong.includes(i)
  /**
   * @param last  what it will be, pale until it is known
   * @param upper  beyond the threads that add
   */
  return (known: number | null, last: number, upper: boolean, chosen: boolean, over: (step: number) => boolean) => {
    const gone = upper && row > 0
    const number = known ?? last
    const later = known === null
    if (later || gone) sum.removeAttribute("data-thing")
    else setAttributes(sum, {"data-thing": name(row, i), "data-made-of": addends})
    const secret = later && row > 0 // a sum is what the reader is to find: its place is drawn, and not its number
    const sign = number < 0 ? "minus" : "plus"
    const size = Math.sqrt(Math.min(1, Math.abs(number) / most))
    const told = numbered || !number ? size : LEAST_STRIPE + (1 - LEAST_STRIPE) * size
    const share = secret ? 0 : told * (later ? 0.35 : 1)
    box.setAttribute(
      "class",
      classes("sums-cell", sign, gone && "gone", clamped && numbered && "clamped", chosen && "me", wrong && !later && "wrong"),
    )
    box.style.setProperty("--share", `${Math.round((numbered ? MOST_COLOUR : 100) * share)}%`)
    if (value) {
      value.textContent = gone ? "" : secret ? "?" : whole ? rounded(number) : short(number)
      setAttributes(value, {
        class: classes("m", later && "later"),
        transform: standing && !secret ? `${place} rotate(-90)` : place,
      })
    }
    stale?.setAttribute("visibility", early && over(early[1]) ? "visible" : "hidden")
  }
}

/** What the chosen thread's place holds, in words. */
function cellText({count, gradients}: Facts, options: Options, look: Look) {
  const thread = Math.max(0, Math.min(count - 1, look.thread))
  const number = look.memory(options.memory)?.written(thread) ? look.memory(options.memory)?.number(thread) : null
  const holds = number === null || number === undefined ? "nothing yet" : text(number, "float", 5)
  return `Thread ${thread} came with the gradient ${short(gradients[thread])}. Its place holds ${holds}.`
}
