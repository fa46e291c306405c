// A sum by tree reduction: what shared memory holds after each round, a row a round; each row adds the upper half of the one above onto
// its lower half.
import {redrawn} from "#web/drawing/redrawn.js"
import {canvas, classes, laneMark, s, setAttributes} from "#web/drawing/svg.js"
import {h} from "#web/shell/dom.js"
import {text} from "#web/stepper/model/values.js"
import {onArrows} from "#web/widgets/roving.js"

/** @import {Drawn, DrawingHost} from "#web/drawing/types.d.ts" */
/** @import {Look} from "#web/drawing/look.js" */

/**
 * @typedef {object} Round
 * @property {number} stride  threads that add, and the distance of what they add
 * @property {number} begin  step
 * @property {number} end  step
 * @property {number[]} stale  threads that read too early
 *
 * @typedef {object} Facts
 * @property {number} count  of threads
 * @property {number[]} gradients
 * @property {number} limit  to which they are clamped
 * @property {Round[]} rounds
 * @property {number[][]} rows  cells before the first round and after each
 *
 * @typedef {{memory: string}} Options
 */

const LEFT = 4
const TITLE = 17 // above a row
const GAP = 20 // below it

const short = (/** @type {number} */ value) =>
  text(Math.abs(value) >= 100 ? Math.round(value) : Number(value.toFixed(1)), "float", 4)

/** @param {DrawingHost<Facts, Options>} host */
export const draw = (host) => redrawn(host, (facts) => facts.rows, build)

/**
 * @param {Facts} facts
 * @param {number} width
 */
function layOut({count, rounds}, width) {
  const cell = (width - 2 * LEFT) / count
  const rowHeight = count > 32 ? 16 : 24
  const lanes = count <= 64 ? 18 : 0
  const x = (/** @type {number} */ i) => LEFT + i * cell
  const y = (/** @type {number} */ row) => lanes + TITLE + row * (rowHeight + TITLE + GAP)
  const middle = (/** @type {number} */ i) => x(i) + cell / 2
  return {width, height: y(rounds.length) + rowHeight + 6, cell, rowHeight, hasLanes: lanes > 0, x, y, middle}
}

/** @typedef {ReturnType<typeof layOut>} Layout */

/**
 * @param {DrawingHost<Facts, Options>} host
 * @param {Look} look
 * @returns {Drawn}
 */
function build({root, facts, options}, look) {
  const {count, rounds} = facts
  const layout = layOut(facts, root.clientWidth)
  const {width, height, cell, x, y, middle} = layout
  let latest = look

  const svg = canvas(width, height, {
    class: "sums",
    role: "slider",
    tabindex: 0,
    "aria-label": "Thread, chosen with the arrow keys left and right",
    "aria-valuemin": 0,
    "aria-valuemax": count - 1,
  })
  const laneCount = layout.hasLanes ? count : 0
  const lanes = Array.from({length: laneCount}, (_, i) => laneMark(middle(i), 9, Math.min(5, cell * 0.34)))
  svg.append(...lanes.map((lane) => lane.el))
  const rows = facts.rows.map((_, row) => drawRow(svg, facts, layout, row))
  const chosenMark = s("path", {class: "sums-mine"})
  svg.append(chosenMark)
  const words = h("p", {class: "reading num"})

  const choose = (/** @type {number} */ thread) => latest.moment.choose(Math.max(0, Math.min(count - 1, thread)))
  svg.onclick = (event) => choose(Math.floor((event.clientX - svg.getBoundingClientRect().left - LEFT) / cell))
  onArrows(svg, {ArrowLeft: -1, ArrowRight: 1}, (step) => choose(latest.thread + step))

  const paint = (/** @type {Look} */ now) => {
    latest = now
    const {moment, thread} = now
    const over = (/** @type {number} */ step) => moment.after(step - 1) <= moment.position
    // rounds that are over, −1 while the first row is being filled
    const done = over(rounds[0].begin) ? rounds.filter((round) => over(round.end)).length : -1
    for (const row of rows) row.paint(now, options, done)
    lanes.forEach((lane, i) => lane.show(now.status(i), i === thread))
    setAttributes(chosenMark, {d: `M${x(thread)} ${y(0) - 2}H${x(thread + 1)}`})
    setAttributes(svg, {"aria-valuenow": thread, "aria-valuetext": `thread ${thread}`})
    words.textContent = sentence(facts, done)
  }
  return {el: h("div", {}, svg, words), paint, width}
}

/**
 * Draw a row: its title, where it comes from, its cells.
 * @param {SVGElement} svg
 * @param {Facts} facts
 * @param {Layout} layout
 * @param {number} row  0 for the gradients
 */
function drawRow(svg, facts, layout, row) {
  const {count, rounds} = facts
  const {width, rowHeight, x, y, middle} = layout
  const round = row ? rounds[row - 1] : null
  const live = round ? round.stride : count
  const title = s("text", {x: round ? width - LEFT : LEFT, y: y(row) - 5, "text-anchor": round ? "end" : "start"})
  title.textContent = round ? `stride ${live}: ${live} of ${count} threads add` : "the gradients"
  svg.append(title)
  const above = y(row - 1) + rowHeight
  // from the row above: its upper half comes down onto the lower half
  const halves = `M${x(live)} ${above + 2}H${x(2 * live)}L${x(live)} ${y(row) - 2}H${x(0)}Z`
  const fold = round && s("path", {class: "sums-fold", d: halves})
  if (fold) svg.prepend(fold)
  const cells = Array.from({length: count}, (_, i) => drawCell(svg, facts, layout, row, i))
  const addends = s("path", {class: "sums-way"})
  if (round) svg.append(addends)
  return {
    /**
     * @param {Look} look
     * @param {Options} options
     * @param {number} done  rounds that are over
     */
    paint(look, options, done) {
      const {thread} = look
      const current = row === done + 1
      const past = row <= done
      title.setAttribute("class", row === done ? "now" : "")
      fold?.setAttribute("class", classes("sums-fold", (past || current) && "lit"))
      setAttributes(addends, {
        class: classes("sums-way", thread < live && (past || current) && "on"),
        d: `M${middle(thread)} ${above}V${y(row)}M${middle(thread + live)} ${above}L${middle(thread)} ${y(row)}`,
      })
      const numbers = past ? facts.rows[row] : current ? numbersSoFar(look, options, count, round) : []
      cells.forEach((paintCell, i) => paintCell(numbers[i] ?? null, i >= live, i === thread, past))
    },
  }
}

/**
 * What the current round has written so far.
 * @param {Look} look
 * @param {Options} options
 * @param {number} count
 * @param {Round | null} round  null for the gradients
 */
function numbersSoFar(look, options, count, round) {
  const {moment} = look
  const memory = look.memory(options.memory)
  return Array.from({length: count}, (_, i) => {
    const written = memory?.written(i)
    if (!memory || !written) return null
    return !round || moment.after(written - 1) > moment.after(round.begin - 1) ? memory.number(i) : null
  })
}

/**
 * Draw a cell; returns what paints it.
 * @param {SVGElement} svg
 * @param {Facts} facts
 * @param {Layout} layout
 * @param {number} row
 * @param {number} i
 */
function drawCell(svg, {gradients, limit, rounds, rows}, {cell, rowHeight, x, y, middle}, row, i) {
  const most = Math.max(...rows.flat().map(Math.abs), 1e-9)
  const spaced = cell > 8
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
  const middleY = y(row) + rowHeight / 2 + 4
  const value = cell >= 30 ? s("text", {class: "m", x: middle(i), y: middleY, "text-anchor": "middle"}) : null
  const corner = Math.min(8, cell)
  const staleMark = `M${x(i + 1) - pad / 2} ${y(row)}h${-corner}l${corner} ${corner}z`
  const stale = row && rounds[row - 1].stale.includes(i) ? s("path", {class: "sums-cut", d: staleMark}) : null
  svg.append(box)
  if (value) svg.append(value)
  if (stale) svg.append(stale)
  const clamped = row === 0 && Math.abs(gradients[i]) > limit
  /**
   * @param {number | null} number
   * @param {boolean} upper  beyond the threads that add
   * @param {boolean} chosen
   * @param {boolean} past
   */
  return (number, upper, chosen, past) => {
    const gone = upper && row > 0
    const sign = number !== null && (number < 0 ? "minus" : "plus")
    const share = number === null ? 0 : Math.sqrt(Math.min(1, Math.abs(number) / most))
    box.setAttribute("class", classes("sums-cell", sign, gone && "gone", clamped && "clamped", chosen && "me"))
    box.style.setProperty("--share", `${Math.round(100 * share)}%`)
    if (value) {
      value.textContent = number === null || gone ? "" : short(number)
      value.setAttribute("class", classes("m", share > 0.5 && "strong"))
    }
    stale?.setAttribute("visibility", past ? "visible" : "hidden")
  }
}

/**
 * @param {Facts} facts
 * @param {number} done  rounds that are over, −1 while the first row is being filled
 */
function sentence({count, gradients, limit, rounds, rows}, done) {
  if (done < 0) return "→ puts the gradients into shared memory."
  const clamped = gradients.filter((value) => Math.abs(value) > limit).length
  if (done === 0) return `${count} gradients, ${clamped} of them clamped to ±${limit}. Thread 0 holds ${short(rows[0][0])}.`
  const {stride} = rounds[done - 1]
  const stale = rounds.slice(0, done).reduce((total, round) => total + round.stale.length, 0)
  const added = addedCells(count, stride)
  const worked = `After round ${done}: ${stride} of ${count} threads added, ${count - stride} waited.`
  const holds = `Thread 0 holds ${text(rows[done][0], "float", 5)}`
  if (!stale) return `${worked} ${holds}, the sum of ${added}.`
  const late = `${stale} ${stale > 1 ? "places were" : "place was"} read too early.`
  return `${worked} ${holds}. It should be the sum of ${added}. ${late}`
}

/**
 * The cells that thread 0 has added up, in words.
 * @param {number} count
 * @param {number} stride
 */
export function addedCells(count, stride) {
  const cells = Array.from({length: count / stride}, (_, i) => i * stride)
  return cells.length > 8 ? `${cells.length} places` : `places ${cells.slice(0, -1).join(", ")} and ${cells.at(-1)}`
}
