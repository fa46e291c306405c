// A workgroup: its threads wave by wave, the shared memory that they exchange, and what they did in the device's order.
import {doing, listChoices} from "#web/drawing/choices.ts"
import {redrawn} from "#web/drawing/redrawn.ts"
import {canvas, classes, laneMark, s, setAttributes} from "#web/drawing/svg.ts"
import {h} from "#web/runtime/dom.ts"
import {onArrows} from "#web/widgets/roving.ts"
import type {Look, MemoryLook} from "#web/drawing/look.ts"
import type {DrawingHost, Drawn} from "#web/drawing/types.ts"

type Kind = "" | "write" | "read" | "arrive"

interface Facts {
  /** Size of the workgroup. */
  size: [across: number, down: number]
  /** Lanes of a wave. */
  wave: number
  /** Distance of the cell that a thread reads. */
  away: number
  /** The thread of each event. */
  threads: number[]
  /** The kind of each event; "" for one that is not drawn. */
  kinds: Kind[]
  /** The step with which the first barrier opens, all cells empty. */
  opened: number
  /** Threads that read too early. */
  stale: number[]
}

type Options = {memory: string}

const TOP = 20
const ROOMY = {laneRow: 25, cell: 22, orderRow: 4} // px
const ASIDE = 10 // px: a disc stands left of its column's middle, so that it and a number of two digits together are in it
const WIDEST = 112 // px: a column
const DISC = 7 // px: its radius
const INTO = 4 // px by which a line goes into its cell
const TIGHT = {laneRow: 20, cell: 19, orderRow: 3}
const ROOMY_HEIGHT = 470 // px: below, rows are drawn closer together
const ORDER_TOP = 16
const NAMES = 104 // px: the names of the waves, left of what they did
const NARROW = 520
const LETTER = 7.5 // px, of the bold words at the barrier

export const draw = (host: DrawingHost<Facts, Options>) => redrawn(host, (facts) => facts.kinds, build)

function build({facts, options, step, room}: DrawingHost<Facts, Options>, look: Look): Drawn {
  const [across, down] = facts.size
  const count = across * down
  const {width, height} = room()
  const rows = height < ROOMY_HEIGHT ? TIGHT : ROOMY
  let latest = look
  const choice = {
    chosen: () => latest.moment.thread,
    choose: (thread: number) => latest.moment.choose(Math.max(0, Math.min(count - 1, thread))),
  }
  const group = threadsAndMemory(facts, options, width, rows, choice)
  const order = orderOfEvents(facts, width, rows.orderRow, (position) => step(latest.moment.eventAt(position) + 1))
  const paint = (now: Look) => {
    latest = now
    const kind = now.step > 0 ? facts.kinds[now.step - 1] : ""
    order.paint(now)
    group.paint(now, kind)
  }
  const describe = (now: Look) => sentence(now, count)
  return {el: h("div", {}, group.el, order.el), paint, describe, news: () => ""} // each step says who waits
}

/** What is said of one thread, and of several. */
const COUNTED = {
  run: ["runs", "run"],
  wait: ["waits at the barrier", "wait at the barrier"],
  held: ["is released from the barrier", "are released from the barrier"],
  done: ["is done", "are done"],
}

export function sentence(look: Look, count: number) {
  const statuses = Array.from({length: count}, (_, thread) => look.status(thread))
  const many = (status: string) => statuses.filter((one) => one === status).length
  const kinds = (["run", "wait", "held", "done"] as const).filter(many)
  const counted = kinds.map((kind, i) => {
    const number = many(kind)
    const [one, several] = COUNTED[kind]
    return `${number}${i ? "" : number === 1 ? " thread" : " threads"} ${number === 1 ? one : several}`
  })
  return `${counted.join(", ")}.`
}

/** Heights. */
type Rows = typeof ROOMY

function layOut({size: [across, down]}: Facts, width: number, {laneRow, cell}: Rows) {
  const column = Math.max(8, Math.min(WIDEST, (width - 8) / across))
  const left = (width - column * across) / 2
  const barrierY = TOP + down * laneRow + 20
  const cellsY = barrierY + 14
  const row = (i: number) => Math.floor(i / across)
  return {
    width,
    height: cellsY + down * (cell + 4) + 18,
    laneRow,
    cell,
    left,
    right: left + across * column,
    column,
    barrierY,
    cellsY,
    x: (i: number) => left + ((i % across) + 0.5) * column,
    laneY: (i: number) => TOP + (row(i) + 0.5) * laneRow,
    cellY: (i: number) => cellsY + row(i) * (cell + 4),
  }
}

type Layout = ReturnType<typeof layOut>

/** The threads, the barrier below them, and the cells of shared memory. */
function threadsAndMemory(
  facts: Facts,
  options: Options,
  width: number,
  rows: Rows,
  {chosen, choose}: {chosen(): number; choose(thread: number): void},
) {
  const {size, wave, away} = facts
  const [across, down] = size
  const count = across * down
  const layout = layOut(facts, width, rows)
  const {left, right, column, barrierY, cellsY, laneRow, cell: cellHeight, x, laneY} = layout
  const cellRow = cellHeight + 4
  const svg = canvas(width, layout.height, {
    class: "group",
  })
  svg.append(
    s("text", {x: left, y: 12}, `${count} threads, in frames of ${wave}; beside each what it received`),
    ...waveFrames(facts, layout),
  )
  const cells = Array.from({length: count}, (_, i) => drawCell(facts, layout, i))
  const writeLine = s("path", {class: "group-way write"})
  const readLine = s("path", {class: "group-way read"})
  svg.append(...cells.map((cell) => cell.ground), writeLine, readLine, ...cells.map((cell) => cell.value))
  const lanes = Array.from({length: count}, (_, i) => laneMark(x(i) - ASIDE, laneY(i), DISC))
  const received = lanes.map((_, i) => s("text", {class: "group-received", x: x(i) - ASIDE + 10, y: laneY(i) + 4}))
  const barrier = s("path", {class: "group-wall", d: `M${left} ${barrierY}H${right}`})
  const barrierWords = s("text", {class: "now", x: left, y: barrierY - 6})
  const plate = s("rect", {class: "group-plate", x: left, y: barrierY - 18, height: 15}) // no line goes through words
  const memoryName = s("text", {x: left, y: cellsY + down * cellRow + 12}, "shared memory: a cell for each thread")
  svg.append(...lanes.map((lane) => lane.el), ...received, barrier, s("g", {}, plate, barrierWords), memoryName)
  const seats = lanes.map((_, i) => ({x: x(i) - column / 2, y: laneY(i) - laneRow / 2, width: column, height: laneRow}))
  const paintChoices = listChoices(svg, "Thread", seats, choose)

  svg.onclick = (event) => {
    const box = svg.getBoundingClientRect()
    const c = Math.floor((event.clientX - box.left - left) / column)
    const y = event.clientY - box.top
    const r = y < barrierY ? Math.floor((y - TOP) / laneRow) : Math.floor((y - cellsY) / cellRow)
    if (c >= 0 && c < across && r >= 0 && r < down) choose(r * across + c)
  }
  onArrows(svg, {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across}, (step) => choose(chosen() + step))

  const paintBarrier = (look: Look) => {
    const {arrived, open, count: barriers} = barrierState(facts, look)
    barrierWords.textContent =
      barriers === 0
        ? "no barrier between write and read"
        : open >= barriers
          ? "the barrier is behind them"
          : `barrier: ${arrived} of ${count} have come`
    setAttributes(plate, {width: LETTER * (barrierWords.textContent ?? "").length})
    barrier.setAttribute("class", classes("group-wall", arrived > 0 && "on"))
    barrier.setAttribute("visibility", barriers ? "visible" : "hidden")
  }
  const paint = (look: Look, kind: Kind) => {
    const {thread} = look
    const from = (thread + away) % count
    const memory = look.memory(options.memory)
    lanes.forEach((lane, i) => lane.show(look.status(i), i === thread))
    paintBarrier(look)
    const readers = readersSoFar(facts, look)
    const tooEarly = new Set(facts.stale.filter((reader) => readers.has(reader)))
    lanes.forEach(({el}, i) => {
      if (readers.has(i)) setAttributes(el, {"data-thing": `read-${i}`, "data-made-of": `cell-${(i + away) % count}`})
      else setAttributes(el, {"data-thing": `lane-${i}`, "data-made-of": ""})
    })
    const numbers = look.final.memory("received")
    received.forEach((text, i) => {
      text.textContent = readers.has(i) ? String(numbers?.number(i) ?? "") : ""
      text.setAttribute("class", classes("group-received", tooEarly.has(i) && "wrong"))
    })
    cells.forEach((cell, i) => {
      const acted = memory !== null && memory.written(i) > facts.opened
      const states = [i === from && "from", i === thread && acted && "own", kind === "read" && i === from && "rd"]
      cell.paint(memory, states, tooEarly.has((i - away + count) % count))
    })
    setAttributes(writeLine, {d: wayToOwn(layout, thread)})
    setAttributes(readLine, {d: wayToOther(layout, thread, from, across)})
    paintChoices(thread, (i) => {
      const held = memory?.number(i) ?? null
      const cell = held === null ? "is not written yet" : `holds ${held}`
      return `Thread ${i} ${doing(look.status(i))}; its cell ${cell}${tooEarly.has(i) ? "; it read too early" : ""}`
    })
  }
  return {el: svg, paint}
}

/** The way from a thread to its own cell: down the gap at the left of its column, so that it goes through no number. */
function wayToOwn({x, laneY, cellY, cell, column}: Layout, thread: number) {
  const gap = x(thread) - column / 2
  return `M${x(thread) - ASIDE - DISC} ${laneY(thread)}H${gap}V${cellY(thread) + cell / 2}h${INTO}`
}

/**
 * The way from a thread to another's cell: between two rows of threads, then down a gap beside the cell's column, the nearer one that is
 * not that of the thread's own way.
 * @param from  whose cell it is
 */
function wayToOther({x, laneY, laneRow, cellY, cell, column}: Layout, thread: number, from: number, across: number) {
  const further = (from % across) - (thread % across)
  const side = further < -1 || further === 0 ? 1 : -1
  const gap = x(from) + (side * column) / 2
  const start = `M${x(thread) - ASIDE} ${laneY(thread) + DISC}V${laneY(thread) + laneRow / 2}`
  return `${start}H${gap}V${cellY(from) + cell / 2}h${-side * INTO}`
}

/** A frame around each wave that is whole rows of threads; where it is not, none. */
function waveFrames({size: [across, down], wave}: Facts, {left, column, laneRow}: Layout) {
  if (wave % across) return []
  const rows = wave / across
  return Array.from({length: Math.ceil(down / rows)}, (_, i) => {
    const box = {x: left + 1, y: TOP + i * rows * laneRow + 2, width: across * column - 2, height: rows * laneRow - 4}
    return s("rect", {class: "group-wave", ...box, rx: 8})
  })
}

/** A cell of shared memory: its ground, and its value. Until its thread has filled it, it is dashed and shows what it holds. */
function drawCell(facts: Facts, {column, cell, x, cellY}: Layout, i: number) {
  const frame = s("rect", {x: x(i) - column / 2 + 2, y: cellY(i), width: Math.max(0, column - 4), height: cell, rx: 3})
  const value = s("text", {class: "m", x: x(i), y: cellY(i) + cell / 2 + 4, "text-anchor": "middle"})
  const item = s("g", {}, value)
  const stale = s("path", {class: "group-cut", d: `M${x(i) + column / 2 - 2} ${cellY(i)}h-9l9 9z`})
  const paint = (memory: MemoryLook | null, states: (string | false)[], tooEarly: boolean) => {
    const filled = Boolean(memory && memory.written(i) > facts.opened)
    value.textContent = String(memory?.number(i) ?? "")
    value.setAttribute("class", classes("m", !filled && "hollow"))
    if (filled) setAttributes(item, {"data-thing": `cell-${i}`, "data-made-of": `lane-${i}`})
    else item.removeAttribute("data-thing")
    frame.setAttribute("class", classes("group-cell", filled ? "wr" : "empty", ...states))
    stale.setAttribute("visibility", tooEarly ? "visible" : "hidden")
  }
  return {ground: s("g", {}, frame, stale), value: item, paint}
}

/** How many barriers there are, how many are open, and how many threads have come to the next. */
function barrierState({size: [across, down], kinds, threads}: Facts, {moment}: Look) {
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

/** The threads that have read another's cell by now. */
function readersSoFar({kinds, threads}: Pick<Facts, "kinds" | "threads">, {moment}: Pick<Look, "moment">) {
  const readers = new Set<number>()
  kinds.forEach((kind, event) => {
    if (kind === "read" && moment.after(event) <= moment.position) readers.add(threads[event])
  })
  return readers
}

/**
 * The order of events: an event a column, a thread a row.
 * @param row  height of a thread's
 */
function orderOfEvents(
  {size: [across, down], wave, kinds, threads}: Facts,
  width: number,
  row: number,
  go: (position: number) => void,
) {
  const count = across * down
  const tall = count * row
  const left = width < NARROW ? 52 : NAMES
  const room = Math.max(1, width - left)
  const label = "What each thread did, in the order in which it happened: a row for each thread"
  const svg = canvas(width, tall + 34, {class: "group group-order", role: "img", "aria-label": label})
  const bands = Array.from({length: Math.ceil(count / wave)}, (_, i) => {
    const [first, last] = [i * wave, Math.min(count, (i + 1) * wave) - 1]
    const box = {x: left, y: ORDER_TOP + first * row, width: room, height: (last + 1 - first) * row}
    const names = width < NARROW ? `${first}–${last}` : `threads ${first}–${last}`
    const y = box.y + box.height / 2 + 4
    return s(
      "g",
      {},
      s("rect", {class: i % 2 ? "group-band odd" : "group-band", ...box}),
      s("text", {x: left - 8, y, "text-anchor": "end"}, names),
    )
  })
  const name = s("text", {x: left, y: 11})
  const time = s("text", {x: left, y: tall + ORDER_TOP + 14}, "time →")
  const ticks = kinds.map((kind, event) => {
    const inset = kind === "arrive" ? 0 : 0.5
    const box = {y: ORDER_TOP + threads[event] * row + inset, height: row - 2 * inset}
    return kind ? s("rect", {class: `group-tick ${kind}`, ...box}) : null
  })
  const chosenRow = s("rect", {class: "group-mine", x: left, width: room, height: row})
  const cursor = s("path", {class: "group-cursor"})
  svg.append(...bands, time, ...legend(kinds, width), chosenRow, ...ticks.filter((tick) => tick !== null), cursor, name)

  let [first, eventWidth] = [0, 1]
  svg.onclick = (event) => {
    const at = Math.floor((event.clientX - svg.getBoundingClientRect().left - left) / eventWidth) + first
    go(Math.max(0, Math.min(kinds.length - 1, at)))
  }
  const layOutTicks = ({moment}: Look) => {
    const positions = kinds.map((kind, event) => (kind ? moment.after(event) - 1 : Infinity))
    first = Math.max(0, Math.min(...positions) - 4) // what comes before has nothing to do with the others
    eventWidth = room / (kinds.length - first)
    ticks.forEach((tick, event) => {
      if (tick) setAttributes(tick, {x: left + (positions[event] - first) * eventWidth, width: Math.max(1.8, eventWidth)})
    })
  }
  let lockstep: boolean | null = null
  const paint = (look: Look) => {
    const {moment} = look
    if (lockstep !== moment.lockstep) {
      lockstep = moment.lockstep
      name.textContent = lockstep ? "in lockstep" : width < NARROW ? "as it ran" : "as the device ran it"
      layOutTicks(look)
    }
    svg.setAttribute("aria-label", `${label}. ${actsText(kinds, moment)}`)
    setAttributes(chosenRow, {y: ORDER_TOP + look.thread * row})
    setAttributes(cursor, {d: `M${left + Math.max(0, moment.position - first) * eventWidth} 14V${tall + 18}`})
  }
  return {el: svg, paint}
}

/** How much was done so far of each kind, in words: "So far: 32 of 32 writes, 8 of 64 arrivals at a barrier, 0 of 32 reads." */
export function actsText(kinds: Kind[], moment: Pick<Look["moment"], "after" | "position">) {
  const names = {write: "writes", arrive: "arrivals at a barrier", read: "reads"} as const
  const counted = Object.entries(names).flatMap(([kind, word]) => {
    const events = kinds.flatMap((one, event) => (one === kind ? event : []))
    const done = events.filter((event) => moment.after(event) <= moment.position).length
    return events.length ? `${done} of ${events.length} ${word}` : []
  })
  return `So far: ${counted.join(", ")}.`
}

/** What the ticks mean, at the right end. */
function legend(kinds: Kind[], width: number) {
  const names = {read: "reads", arrive: "barrier", write: "writes"}
  const drawn = Object.entries(names).filter(([kind]) => kinds.some((one) => one === kind))
  return drawn.map(([kind, word], i) => {
    const mark = s("rect", {class: `group-tick ${kind}`, x: 0, y: 3, width: 8, height: 8})
    return s("g", {transform: `translate(${width - 58 - i * 66} 0)`}, mark, s("text", {x: 13, y: 11}, word))
  })
}
