// A workgroup: its threads wave by wave, the shared memory that they exchange, and what they did in the device's order.
import {redrawn} from "#web/drawing/redrawn.js"
import {canvas, classes, laneMark, s, setAttributes} from "#web/drawing/svg.js"
import {h} from "#web/shell/dom.js"
import {onArrows} from "#web/widgets/roving.js"

/** @import {Drawn, DrawingHost} from "#web/drawing/types.d.ts" */
/** @import {Look, MemoryLook} from "#web/drawing/look.js" */

/**
 * @typedef {"" | "write" | "read" | "arrive"} Kind
 *
 * @typedef {object} Facts
 * @property {[across: number, down: number]} size  of the workgroup
 * @property {number} wave  lanes of a wave
 * @property {number} away  distance of the cell that a thread reads
 * @property {number[]} threads  of each event
 * @property {Kind[]} kinds  of each event; "" for one that is not drawn
 * @property {number[]} stale  threads that read too early
 *
 * @typedef {{memory: string}} Options
 */

const TOP = 20
const LANE_ROW = 25
const CELL = 22
const CELL_ROW = CELL + 4
const ORDER_TOP = 16
const ORDER_ROW = 4

/** @param {DrawingHost<Facts, Options>} host */
export const draw = (host) => redrawn(host, (facts) => facts.kinds, build)

/**
 * @param {DrawingHost<Facts, Options>} host
 * @param {Look} look
 * @returns {Drawn}
 */
function build({root, facts, options, step}, look) {
  const [across, down] = facts.size
  const count = across * down
  const width = root.clientWidth
  let latest = look
  const choice = {
    chosen: () => latest.thread,
    choose: (/** @type {number} */ thread) => latest.moment.choose(Math.max(0, Math.min(count - 1, thread))),
  }
  const group = threadsAndMemory(facts, options, width, choice)
  const order = orderOfEvents(facts, width, (position) => step(latest.moment.eventAt(position) + 1))
  const words = h("p", {class: "reading num"})
  const paint = (/** @type {Look} */ now) => {
    latest = now
    const kind = now.step > 0 ? facts.kinds[now.step - 1] : ""
    order.paint(now)
    group.paint(now, kind)
    words.textContent = sentence(facts, kind, now, count)
  }
  return {el: h("div", {}, group.el, order.el, words), paint, width}
}

/**
 * @param {Facts} facts
 * @param {Kind} kind  of the event at the cursor
 * @param {Look} look
 * @param {number} count
 */
function sentence({stale}, kind, look, count) {
  const statuses = Array.from({length: count}, (_, thread) => look.status(thread))
  const many = (/** @type {string} */ status) => statuses.filter((one) => one === status).length
  const verb = {"": "", write: "writes", read: "reads", arrive: "comes to the barrier"}[kind]
  const event = verb ? `Thread ${look.recording.thread[look.moment.event]} ${verb}. ` : ""
  const early = stale.length ? ` ${stale.length} threads read too early in this run.` : ""
  const waiting = many("wait") + many("held")
  return `${event}${many("run")} threads run, ${waiting} wait, ${many("done")} are done.${early}`
}

/**
 * @param {Facts} facts
 * @param {number} width
 */
function layOut({size: [across, down]}, width) {
  const column = Math.min(58, (width - 8) / across)
  const left = (width - column * across) / 2
  const barrierY = TOP + down * LANE_ROW + 20
  const cellsY = barrierY + 34
  const row = (/** @type {number} */ i) => Math.floor(i / across)
  return {
    width,
    height: cellsY + down * CELL_ROW + 8,
    left,
    right: left + across * column,
    column,
    barrierY,
    cellsY,
    x: (/** @type {number} */ i) => left + ((i % across) + 0.5) * column,
    laneY: (/** @type {number} */ i) => TOP + (row(i) + 0.5) * LANE_ROW,
    cellY: (/** @type {number} */ i) => cellsY + row(i) * CELL_ROW,
  }
}

/** @typedef {ReturnType<typeof layOut>} Layout */

/**
 * The threads, the barrier below them, and the cells of shared memory.
 * @param {Facts} facts
 * @param {Options} options
 * @param {number} width
 * @param {{chosen(): number, choose(thread: number): void}} choice
 */
function threadsAndMemory(facts, options, width, {chosen, choose}) {
  const {size, wave, away} = facts
  const [across, down] = size
  const count = across * down
  const layout = layOut(facts, width)
  const {left, right, column, barrierY, cellsY, x, laneY, cellY} = layout
  const svg = canvas(width, layout.height, {
    class: "group",
    role: "slider",
    tabindex: 0,
    "aria-label": "Thread, chosen with the arrow keys",
    "aria-valuemin": 0,
    "aria-valuemax": count - 1,
  })
  svg.append(s("text", {x: left, y: 12}, `${count} threads, waves of ${wave}`), ...waveFrames(facts, layout))
  const writeLine = s("path", {class: "group-way write"})
  const readLine = s("path", {class: "group-way read"})
  svg.append(writeLine, readLine)
  const cells = Array.from({length: count}, (_, i) => drawCell(svg, layout, i))
  const lanes = Array.from({length: count}, (_, i) => laneMark(x(i), laneY(i), 7))
  const barrier = s("path", {class: "group-wall", d: `M${left} ${barrierY}H${right}`})
  const barrierWords = s("text", {class: "now", x: right, y: barrierY - 6, "text-anchor": "end"})
  const memoryName = s("text", {x: left, y: cellsY - 8, class: "group-label"}, "shared memory")
  svg.append(...lanes.map((lane) => lane.el), barrier, barrierWords, memoryName)

  svg.onclick = (event) => {
    const box = svg.getBoundingClientRect()
    const c = Math.floor((event.clientX - box.left - left) / column)
    const y = event.clientY - box.top
    const r = y < barrierY ? Math.floor((y - TOP) / LANE_ROW) : Math.floor((y - cellsY) / CELL_ROW)
    if (c >= 0 && c < across && r >= 0 && r < down) choose(r * across + c)
  }
  onArrows(svg, {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across}, (step) => choose(chosen() + step))

  const paintBarrier = (/** @type {Look} */ look) => {
    const {arrived, open, count: barriers} = barrierState(facts, look)
    const number = Math.min(barriers, open + 1)
    barrierWords.textContent =
      open >= barriers ? "all barriers are behind them" : `barrier ${number} of ${barriers}: ${arrived} of ${count} have come`
    barrier.setAttribute("class", classes("group-wall", arrived > 0 && "on"))
  }
  /**
   * @param {Look} look
   * @param {Kind} kind
   */
  const paint = (look, kind) => {
    const {thread} = look
    const from = (thread + away) % count
    const memory = look.memory(options.memory)
    lanes.forEach((lane, i) => lane.show(look.status(i), i === thread))
    paintBarrier(look)
    const tooEarly = readTooEarly(facts, look)
    cells.forEach((paintCell, i) => {
      const states = [i === from && "from", i === thread && "own", kind === "read" && i === from && "rd"]
      paintCell(memory, states, tooEarly.has((i - away + count) % count))
    })
    setAttributes(writeLine, {d: `M${x(thread)} ${laneY(thread) + 8}L${x(thread)} ${cellY(thread)}`})
    setAttributes(readLine, {d: `M${x(thread)} ${laneY(thread) + 8}L${x(from)} ${cellY(from)}`})
    setAttributes(svg, {"aria-valuenow": thread, "aria-valuetext": `thread ${thread}`})
  }
  return {el: svg, paint}
}

/**
 * A frame around each wave that is whole rows of threads; where it is not, none.
 * @param {Facts} facts
 * @param {Layout} layout
 */
function waveFrames({size: [across, down], wave}, {left, column}) {
  if (wave % across) return []
  const rows = wave / across
  return Array.from({length: Math.ceil(down / rows)}, (_, i) => {
    const box = {x: left + 1, y: TOP + i * rows * LANE_ROW + 2, width: across * column - 2, height: rows * LANE_ROW - 4}
    return s("rect", {class: "group-wave", ...box, rx: 8})
  })
}

/**
 * Draw a cell of shared memory; returns what paints it.
 * @param {SVGElement} svg
 * @param {Layout} layout
 * @param {number} i
 */
function drawCell(svg, {column, x, cellY}, i) {
  const frame = s("rect", {x: x(i) - column / 2 + 2, y: cellY(i), width: column - 4, height: CELL, rx: 3})
  const value = s("text", {class: "m", x: x(i), y: cellY(i) + 15, "text-anchor": "middle"})
  const stale = s("path", {class: "group-cut", d: `M${x(i) + column / 2 - 2} ${cellY(i)}h-9l9 9z`})
  svg.append(frame, value, stale)
  /**
   * @param {MemoryLook | null} memory
   * @param {(string | false)[]} states
   * @param {boolean} tooEarly
   */
  return (memory, states, tooEarly) => {
    const number = memory?.written(i) ? memory.number(i) : null
    value.textContent = memory?.written(i) ? String(number) : ""
    frame.setAttribute("class", classes("group-cell", number ? "wr" : "", ...states))
    stale.setAttribute("visibility", tooEarly ? "visible" : "hidden")
  }
}

/**
 * How many barriers there are, how many are open, and how many threads have come to the next.
 * @param {Facts} facts
 * @param {Look} look
 */
function barrierState({size: [across, down], kinds, threads}, {moment}) {
  const reached = Array(across * down).fill(0)
  let count = 0
  kinds.forEach((kind, event) => {
    if (kind !== "arrive") return
    if (threads[event] === 0) count++
    if (moment.after(event) <= moment.position) reached[threads[event]]++
  })
  const open = Math.min(...reached)
  return {count, open, arrived: reached.filter((many) => many > open).length}
}

/**
 * The threads that have read too early by now.
 * @param {Facts} facts
 * @param {Look} look
 */
function readTooEarly({kinds, threads, stale}, {moment}) {
  /** @type {Set<number>} */
  const readers = new Set()
  if (!stale.length) return readers
  kinds.forEach((kind, event) => {
    if (kind === "read" && stale.includes(threads[event]) && moment.after(event) <= moment.position) readers.add(threads[event])
  })
  return readers
}

/**
 * The order of events: an event a column, a thread a row.
 * @param {Facts} facts
 * @param {number} width
 * @param {(position: number) => void} go
 */
function orderOfEvents({size: [across, down], wave, kinds, threads}, width, go) {
  const count = across * down
  const tall = count * ORDER_ROW
  const label = "What each thread did, in the order in which it happened"
  const svg = canvas(width, tall + 22, {class: "group group-order", role: "img", "aria-label": label})
  const bands = Array.from({length: Math.ceil(count / wave)}, (_, i) => {
    const box = {x: 0, y: ORDER_TOP + i * wave * ORDER_ROW, width, height: Math.min(wave, count) * ORDER_ROW}
    return s("rect", {class: i % 2 ? "group-band odd" : "group-band", ...box})
  })
  const name = s("text", {x: 0, y: 11})
  const ticks = kinds.map((kind, event) => {
    const inset = kind === "arrive" ? 0 : 0.5
    const box = {y: ORDER_TOP + threads[event] * ORDER_ROW + inset, height: ORDER_ROW - 2 * inset}
    return kind ? s("rect", {class: `group-tick ${kind}`, ...box}) : null
  })
  const chosenRow = s("rect", {class: "group-mine", x: 0, width, height: ORDER_ROW})
  const cursor = s("path", {class: "group-cursor"})
  svg.append(...bands, ...legend(width), chosenRow, ...ticks.filter((tick) => tick !== null), cursor, name)

  let [first, eventWidth] = [0, 1]
  svg.onclick = (event) => {
    const at = Math.floor((event.clientX - svg.getBoundingClientRect().left) / eventWidth) + first
    go(Math.max(0, Math.min(kinds.length - 1, at)))
  }
  const layOutTicks = (/** @type {Look} */ {moment}) => {
    const positions = kinds.map((kind, event) => (kind ? moment.after(event) - 1 : Infinity))
    first = Math.max(0, Math.min(...positions) - 4) // what comes before has nothing to do with the others
    eventWidth = width / (kinds.length - first)
    ticks.forEach((tick, event) => {
      if (tick) setAttributes(tick, {x: (positions[event] - first) * eventWidth, width: Math.max(1.8, eventWidth)})
    })
  }
  /** @type {boolean | null} */
  let lockstep = null
  const paint = (/** @type {Look} */ look) => {
    const {moment} = look
    if (lockstep !== moment.lockstep) {
      lockstep = moment.lockstep
      name.textContent = lockstep ? "in lockstep" : "in the order of the device"
      layOutTicks(look)
    }
    setAttributes(chosenRow, {y: ORDER_TOP + look.thread * ORDER_ROW})
    setAttributes(cursor, {d: `M${Math.max(0, moment.position - first) * eventWidth} 14V${tall + 18}`})
  }
  return {el: svg, paint}
}

/**
 * What the ticks mean, at the right end.
 * @param {number} width
 */
function legend(width) {
  const names = {read: "reads", arrive: "barrier", write: "writes"}
  return Object.entries(names).map(([kind, word], i) => {
    const mark = s("rect", {class: `group-tick ${kind}`, x: 0, y: 3, width: 8, height: 8})
    return s("g", {transform: `translate(${width - 58 - i * 66} 0)`}, mark, s("text", {x: 13, y: 11}, word))
  })
}
