// Threads that want to write one value: a row a thread, a column for each value that it has had. A mark is an attempt, in the column of
// the value that it was based on: made, refused, or lost to a later write.
import {doing, listChoices} from "#web/drawing/choices.ts"
import {redrawn} from "#web/drawing/redrawn.ts"
import {canvas, classes, laneMark, pointerIn, s, setAttributes} from "#web/drawing/svg.ts"
import {floatFromBits, text} from "#web/recording/values.ts"
import {onArrows} from "#web/widgets/roving.ts"
import type {Look} from "#web/drawing/look.ts"
import type {DrawingHost, Drawn} from "#web/drawing/types.ts"

type Outcome = "made" | "refused" | "lost"

interface Facts {
  /** Number of threads. */
  count: number
  cells: number
  /** What each thread adds. */
  values: number[]
  rounds: number
  attempts: [thread: number, round: number, step: number, outcome: Outcome][]
  /** Per attempt. */
  sums: [was: string, made: string][]
  /** The sum of each cell; null for NaN. */
  exact: (number | null)[]
}

interface Options {
  /** Bits of floats. */
  memory: string
}

interface Mark {
  el: SVGElement
  thread: number
  round: number
  step: number
  outcome: Outcome
  words: string
}

const LEFT = 46
const TOP = 36
const BOTTOM = 30 // with the sum below the rows
const ROW = {least: 9, most: 20}
const LABEL = 12 // px: rows lower than that have every second number
const LEAST_WIDTH = 160
const MOST_COLUMN = 110 // a few columns fill the room

const format = (value: number | null) => (value === null || Number.isNaN(value) ? "NaN" : text(value, "float", 7))

export const draw = (host: DrawingHost<Facts, Options>) => redrawn(host, (facts) => facts.attempts, build)

function build({facts, options, room}: DrawingHost<Facts, Options>, look: Look): Drawn {
  const {count} = facts
  const width = Math.max(LEAST_WIDTH, room().width)
  const layout = layOut(facts, width, room().height)
  const {column, height, row, rowY} = layout
  let latest = look
  const sums = s("text", {x: 0, y: height - 8, class: "attempts-sum"})

  const svg = canvas(width, height, {
    class: "attempts",
  })
  const currentColumn = s("rect", {class: "attempts-now", y: TOP - 4, height: height - TOP - BOTTOM + 8, width: column, rx: 3})
  const chosenRow = s("rect", {class: "attempts-mine", x: 0, width, height: row, rx: 3})
  svg.append(currentColumn, chosenRow, sums)
  drawHeads(svg, facts, layout)
  const lanes = Array.from({length: count}, (_, thread) => drawLane(svg, facts, layout, thread))
  const marks = facts.attempts.map((attempt, i) => ({...drawMark(svg, layout, attempt), words: attemptText(facts, i)}))
  const rows = lanes.map((_, thread) => ({x: 0, y: rowY(thread) - row / 2, width, height: row}))
  const choose = (thread: number) => latest.moment.choose(Math.max(0, Math.min(count - 1, thread)))
  const paintChoices = listChoices(svg, "Thread", rows, choose)
  svg.onclick = (event) => choose(Math.floor((pointerIn(svg, event).y - TOP) / row))
  onArrows(svg, {ArrowUp: -1, ArrowDown: 1}, (step) => choose(latest.moment.thread + step))

  const paint = (now: Look) => {
    latest = now
    sums.textContent = sumsText(facts, options, now)
    const {moment, thread: chosen} = now
    const stepPosition = (mark: Mark) => moment.after(mark.step - 1)
    const over = (mark: Mark) => stepPosition(mark) <= moment.position
    const done = marks.filter(over).sort((a, b) => stepPosition(a) - stepPosition(b))
    const last = done.at(-1)
    for (const mark of marks) {
      const state = over(mark) ? classes(mark === last && "latest", mark.thread === chosen && "own") : "later"
      mark.el.setAttribute("class", classes("attempt", mark.outcome, state))
    }
    lanes.forEach((lane, thread) => lane.show(now.status(thread), thread === chosen))
    setAttributes(chosenRow, {y: rowY(chosen) - row / 2})
    setAttributes(currentColumn, {x: LEFT + (last?.round ?? 0) * column, visibility: last ? "visible" : "hidden"})
    paintChoices(chosen, (thread) => {
      const tried = done.filter((mark) => mark.thread === thread).map(({words}) => words)
      return `Thread ${thread} ${doing(now.status(thread))}; it has ${tried.length ? `tried: ${tried.join("; ")}` : "not tried yet"}`
    })
  }
  return {el: svg, paint, describe: (now) => sumsText(facts, options, now), news: () => ""} // each step says what is stored
}

/** @param most  height, perhaps Infinity */
function layOut({count, rounds}: Facts, width: number, most: number) {
  const column = Math.min(MOST_COLUMN, (width - LEFT - 8) / rounds)
  const row = Math.max(ROW.least, Math.min(count > 16 ? 13 : ROW.most, (most - TOP - BOTTOM) / count))
  return {
    column,
    row,
    side: Math.max(4, Math.min(11, column - 2.5, row - 2.5)),
    rowY: (thread: number) => TOP + (thread + 0.5) * row,
    columnX: (round: number) => LEFT + (round + 0.5) * column,
    height: TOP + count * row + BOTTOM,
  }
}

type Layout = ReturnType<typeof layOut>

function drawHeads(svg: SVGElement, {rounds}: Facts, {column, columnX}: Layout) {
  const titles = ["a column for each value that the sum has had, from the first to the last", "the sum's values in turn", "values"]
  const title = titles.find((text) => text.length * 6.2 < column * rounds) ?? ""
  svg.append(s("text", {x: 0, y: 12}, "thread"), s("text", {x: LEFT + 4, y: 12}, title))
  const every = Math.ceil(22 / column)
  for (let i = 0; i < rounds; i++)
    if (i % every === 0) svg.append(s("text", {class: "m", x: columnX(i), y: TOP - 8, "text-anchor": "middle"}, String(i + 1)))
}

function drawLane(svg: SVGElement, {rounds}: Facts, {column, row, rowY}: Layout, thread: number) {
  const lane = laneMark(10, rowY(thread), 4.2)
  const number = row >= LABEL || thread % 2 === 0 ? String(thread) : ""
  svg.append(
    s("path", {class: "attempts-line", d: `M${LEFT} ${rowY(thread)}H${LEFT + rounds * column}`}),
    lane.el,
    s("text", {class: "m", x: 38, y: rowY(thread) + 4, "text-anchor": "end"}, number),
  )
  return lane
}

function drawMark(svg: SVGElement, {side, rowY, columnX}: Layout, [thread, round, step, outcome]: Facts["attempts"][number]) {
  const [left, top] = [columnX(round) - side / 2, rowY(thread) - side / 2]
  const cross = `M${left} ${top}l${side} ${side}M${left} ${top + side}l${side} ${-side}`
  const el = s(
    "g",
    {},
    s("rect", {x: left, y: top, width: side, height: side, rx: 2}),
    outcome === "lost" ? s("path", {class: "attempts-cross", d: cross}) : null,
  )
  svg.append(el)
  return {el, step, outcome, thread, round}
}

/** An attempt in words: "from 1.8 to 2.2, refused, thread 0 came first". */
function attemptText({attempts, cells, sums}: Facts, i: number) {
  const [thread, round, , outcome] = attempts[i]
  const winner = attempts.find(([other, at, , how]) => how === "made" && at === round && other % cells === thread % cells)
  const first = winner ? `, thread ${winner[0]} came first` : ""
  const result = {made: "stored", refused: `refused${first}`, lost: "stored, but lost to a later write"}[outcome]
  return `from ${sums[i][0]} to ${sums[i][1]}, ${result}`
}

/** What the chosen thread's sum is now, and what it would be with every number in it. */
function sumsText({cells, exact}: Facts, options: Options, look: Look) {
  const cell = look.thread % cells
  const bits = look.memory(options.memory)?.number(cell) ?? null
  const sum = bits === null ? "not known yet" : format(floatFromBits(bits))
  return `${cells > 1 ? `Sum ${cell}` : "The sum"} is ${sum}; with every number in it, it is ${format(exact[cell])}.`
}
