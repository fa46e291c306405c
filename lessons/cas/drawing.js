// Threads that want to write one value: a row a thread, a column for each value that it has had. A mark is an attempt, in the column of
// the value that it was based on: made, refused, or lost to a later write.
import {redrawn} from "#web/drawing/redrawn.js"
import {canvas, classes, laneMark, s, setAttributes} from "#web/drawing/svg.js"
import {h} from "#web/shell/dom.js"
import {text} from "#web/stepper/model/values.js"
import {onArrows} from "#web/widgets/roving.js"

/** @import {Drawn, DrawingHost} from "#web/drawing/types.d.ts" */
/** @import {Look} from "#web/drawing/look.js" */

/**
 * @typedef {"made" | "refused" | "lost"} Outcome
 *
 * @typedef {object} Facts
 * @property {number} count  of threads
 * @property {number} cells
 * @property {number[]} values  what each thread adds
 * @property {number} rounds
 * @property {[thread: number, round: number, step: number, outcome: Outcome][]} attempts
 * @property {(number | null)[]} exact  the sum of each cell; null for NaN
 *
 * @typedef {object} Options
 * @property {string} memory  bits of floats
 *
 * @typedef {object} Mark
 * @property {SVGElement} el
 * @property {number} thread
 * @property {number} round
 * @property {number} step
 * @property {Outcome} outcome
 */

const LEFT = 46
const TOP = 26
const ROW = 12.5

const FLOAT = new DataView(new ArrayBuffer(4))
const asFloat = (/** @type {number} */ bits) => {
  FLOAT.setUint32(0, bits)
  return FLOAT.getFloat32(0)
}
const format = (/** @type {number | null} */ value) => (value === null || Number.isNaN(value) ? "NaN" : text(value, "float", 7))

/** @param {DrawingHost<Facts, Options>} host */
export const draw = (host) => redrawn(host, (facts) => facts.attempts, build)

/**
 * @param {DrawingHost<Facts, Options>} host
 * @param {Look} look
 * @returns {Drawn}
 */
function build({root, facts, options}, look) {
  const {count} = facts
  const width = root.clientWidth
  const layout = layOut(facts, width)
  const {column, height, rowY} = layout
  let latest = look

  const svg = canvas(width, height, {
    class: "attempts",
    role: "slider",
    tabindex: 0,
    "aria-label": "Thread, chosen with the arrow keys up and down",
    "aria-valuemin": 0,
    "aria-valuemax": count - 1,
  })
  const currentColumn = s("rect", {class: "attempts-now", y: TOP - 6, height: height - TOP - 2, width: column, rx: 3})
  const chosenRow = s("rect", {class: "attempts-mine", x: 0, width, height: ROW, rx: 3})
  svg.append(currentColumn, chosenRow)
  drawHeads(svg, facts, layout)
  const lanes = Array.from({length: count}, (_, thread) => drawLane(svg, facts, layout, thread))
  const marks = facts.attempts.map((attempt) => drawMark(svg, layout, attempt))
  const words = h("p", {class: "reading num"})

  const choose = (/** @type {number} */ thread) => latest.moment.choose(Math.max(0, Math.min(count - 1, thread)))
  svg.onclick = (event) => choose(Math.floor((event.clientY - svg.getBoundingClientRect().top - TOP - 6) / ROW))
  onArrows(svg, {ArrowUp: -1, ArrowDown: 1}, (step) => choose(latest.thread + step))

  const paint = (/** @type {Look} */ now) => {
    latest = now
    const {moment, thread: chosen} = now
    const stepPosition = (/** @type {Mark} */ mark) => moment.after(mark.step - 1)
    const over = (/** @type {Mark} */ mark) => stepPosition(mark) <= moment.position
    const done = marks.filter(over).sort((a, b) => stepPosition(a) - stepPosition(b))
    const last = done.at(-1)
    for (const mark of marks) {
      const state = over(mark) && classes(mark.outcome, mark === last && "latest", mark.thread === chosen && "own")
      mark.el.setAttribute("class", classes("attempt", state))
    }
    lanes.forEach((lane, thread) => lane.show(now.status(thread), thread === chosen))
    setAttributes(chosenRow, {y: rowY(chosen) - 2.5})
    setAttributes(currentColumn, {x: LEFT + (last?.round ?? 0) * column, visibility: last ? "visible" : "hidden"})
    setAttributes(svg, {"aria-valuenow": chosen, "aria-valuetext": `thread ${chosen}`})
    words.textContent = last ? sentence(facts, options, now, done, last) : "→ makes the first write."
  }
  return {el: h("div", {}, svg, words), paint, width}
}

/**
 * @param {Facts} facts
 * @param {number} width
 */
function layOut({count, rounds}, width) {
  const column = Math.min(34, (width - LEFT - 8) / rounds)
  return {
    column,
    side: Math.max(4, Math.min(9, column - 2.5)),
    rowY: (/** @type {number} */ thread) => TOP + 8 + thread * ROW,
    columnX: (/** @type {number} */ round) => LEFT + (round + 0.5) * column,
    height: TOP + 16 + count * ROW + 8,
  }
}

/** @typedef {ReturnType<typeof layOut>} Layout */

/**
 * @param {SVGElement} svg
 * @param {Facts} facts
 * @param {Layout} layout
 */
function drawHeads(svg, {rounds}, {column, columnX}) {
  const title = column * rounds > 150 ? "based on value number …" : "on value …"
  svg.append(s("text", {x: 4, y: 14}, "thread"), s("text", {x: LEFT + 4, y: 14}, title))
  if (column * rounds <= 60) return
  const every = Math.ceil(22 / column)
  for (let i = 0; i < rounds; i++)
    svg.append(s("text", {class: "m", x: columnX(i), y: TOP + 2, "text-anchor": "middle"}, i % every ? "" : String(i)))
}

/**
 * @param {SVGElement} svg
 * @param {Facts} facts
 * @param {Layout} layout
 * @param {number} thread
 */
function drawLane(svg, {rounds}, {column, rowY}, thread) {
  const lane = laneMark(10, rowY(thread) + 4, 4.2)
  svg.append(
    s("path", {class: "attempts-line", d: `M${LEFT} ${rowY(thread) + 4}H${LEFT + rounds * column}`}),
    lane.el,
    s("text", {class: "m", x: 38, y: rowY(thread) + 8, "text-anchor": "end"}, String(thread)),
  )
  return lane
}

/**
 * @param {SVGElement} svg
 * @param {Layout} layout
 * @param {Facts["attempts"][number]} attempt
 * @returns {Mark}
 */
function drawMark(svg, {side, rowY, columnX}, [thread, round, step, outcome]) {
  const [left, top] = [columnX(round) - side / 2, rowY(thread) + 4 - side / 2]
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

/**
 * @param {Facts} facts
 * @param {Options} options
 * @param {Look} look
 * @param {Mark[]} done  attempts that are over
 * @param {Mark} last
 */
function sentence({cells, values, attempts, exact}, options, look, done, last) {
  const cell = last.thread % cells
  const bits = look.memory(options.memory)?.number(cell) ?? null
  const sum = bits === null ? "not known yet" : format(asFloat(bits))
  const count = (/** @type {Outcome} */ outcome) => done.filter((mark) => mark.outcome === outcome).length
  const [refused, lost] = [count("refused"), count("lost")]
  const inVain = last.outcome === "lost" ? ", in vain" : ""
  const what =
    last.outcome === "refused"
      ? `Thread ${last.thread} came too late and tries again.`
      : `Thread ${last.thread} added ${format(values[last.thread])}${inVain}.`
  const counts = `${done.length} of ${attempts.length} attempts made, ${refused} refused${lost ? `, ${lost} lost` : ""}.`
  const name = cells > 1 ? `Sum ${cell} is` : "The sum is"
  return `${what} ${counts} ${name} ${sum}; with every number in it: ${format(exact[cell])}.`
}
