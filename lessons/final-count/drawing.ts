// A pixel's way through its list and back: to the right the place in the list, upward finalCount. Below, the layers and T. What has not
// come yet is pale.
import {redrawn} from "#web/drawing/redrawn.ts"
import {canvas, classes, s, setAttributes} from "#web/drawing/svg.ts"
import type {Look, MemoryLook} from "#web/drawing/look.ts"
import type {DrawingHost, Drawn} from "#web/drawing/types.ts"

/** Memories: there and back hold (C, T) after each layer, thereCount and backCount finalCount. */
export interface Facts {
  /** Number of layers. */
  count: number
  blended: number
  /** Whether finalCount stops at 0. */
  guarded: boolean
}

type Point = [x: number, y: number]

const NAME = "finalCount on a walk through the list and back"
const LEFT = 54
const RIGHT = 20
const TOP = 46
const LAYERS = 70 // px of the layers and their places, below the plane
const BARS = 60 // px of T
const PLANE = {least: 120, most: 320}
const OPAQUE = 1 / 255
const LEAST_T = 1e-4
const LONG = 220 // px: a count below 0, with how it is stored

export const draw = (host: DrawingHost<Facts>) => redrawn(host, (facts) => facts.count !== undefined, build)

function build({facts, room}: DrawingHost<Facts>, look: Look): Drawn {
  const {count} = facts
  const space = room()
  const layout = layOut(facts, Math.max(280, space.width), space.height)
  const {width, height, ground, x, y} = layout
  const svg = canvas(width, height, {class: "counts", role: "img", "aria-label": NAME})
  const band = s("rect", {class: "band", y: TOP - 8, height: ground - TOP + 8, rx: 4})
  drawPlane(svg, facts, layout, band)
  const layers = Array.from({length: count}, (_, i) => drawLayer(svg, layout, i))
  const end = pathsAt(look.final, count, layout)
  svg.append(s("path", {class: "there later", d: pathOf(end.went)}), s("path", {class: "back later", d: pathOf(end.came)}))
  const [forward, backward] = [s("path", {class: "there"}), s("path", {class: "back"})]
  const ring = s("circle", {class: "place", r: 7})
  const number = s("text", {class: "m now"})
  const act = s("text", {class: "m act", "text-anchor": "middle"})
  svg.append(forward, backward, ring, number, act)

  return {
    el: svg,
    paint(now) {
      const {went, came} = pathsAt(now, count, layout)
      const {turned, layer, value, done} = momentOf(now, count)
      setAttributes(forward, {d: pathOf(went)})
      setAttributes(backward, {d: pathOf(came)})
      const [px, py] = (turned ? came : went).at(-1) ?? [x(0), y(0)]
      setAttributes(ring, {cx: px, cy: py})
      number.textContent = value < 0 ? `−${-value}, stored as ${(value >>> 0).toLocaleString("en")}` : String(value)
      setAttributes(number, numberPlace(px, py, turned, value < 0, layout))
      setAttributes(band, {
        x: x(Math.max(0, layer - 1)),
        width: layout.cell,
        visibility: layer ? "visible" : "hidden",
      })
      act.textContent = done
      setAttributes(act, {x: Math.max(118, Math.min(width - 34, x(Math.max(0, layer - 0.5)))), y: TOP - 14})
      layers.forEach((one, i) => one.paint(now, i + 1 === layer))
      svg.setAttribute(
        "aria-label",
        `${NAME}: from 0 ${turned ? `up to ${forwardCounts(now.ownMemory("thereCount"), count).at(-1)} and back to` : "to"} ${value}`,
      )
    },
    news: () => "", // each step says what is done with its layer, and what the count becomes
    describe(now) {
      const {turned, layer, value, done} = momentOf(now, count)
      if (!layer) return "Before the first layer."
      return `On the way ${turned ? "back" : "there"}, layer ${layer}: ${done}. The count is ${value}.`
    },
  }
}

/** Where the walk is: the layer done last, what was done with it, and the count, below 0 where it is not guarded. */
function momentOf(look: Look, count: number) {
  const [up, down] = [look.ownMemory("thereCount"), look.ownMemory("backCount")]
  const [went, came] = [forwardCounts(up, count), backwardCounts(down, count)]
  const turned = came.length > 1
  const at = turned ? count + 1 - came.length : Math.max(0, went.length - 1)
  const value = (turned ? came : went).at(-1) ?? 0
  const layer = turned ? at + 1 : at
  if (!layer) return {turned, layer, value, done: ""}
  const moved = turned ? down.number(at) !== down.number(at + 1) : up.number(layer) !== up.number(layer - 1)
  return {turned, layer, value, done: turned ? (moved ? "undo" : "skip") : moved ? "blend" : "leave out"}
}

/**
 * Where the count stands beside its point, between two lines of the grid and clear of the way there and back: over it on the left, or
 * under it on the right; at the corner where both begin and end, right over it.
 * @param turned  on the way back
 * @param long  whether it says how it is stored
 */
export function numberPlace(
  px: number,
  py: number,
  turned: boolean,
  long: boolean,
  {x, width, gap}: Pick<Layout, "x" | "width" | "gap">,
) {
  const between = (n: number) => py - (n + 0.5) * gap + 4
  if (px < x(0.5) && !long) return {x: px + 2, y: between(py - between(0) < 14 ? 1 : 0), "text-anchor": "start"}
  if (!turned || px > width - (long ? LONG : 110)) return {x: px - 11, y: between(0), "text-anchor": "end"}
  return {x: px + 13, y: between(-1), "text-anchor": "start"}
}

/** The points of both ways, as far as they have gone. */
function pathsAt(look: Look, count: number, {x, y}: Layout) {
  const went = forwardCounts(look.ownMemory("thereCount"), count)
  const came = backwardCounts(look.ownMemory("backCount"), count)
  return {
    went: went.map((n, i) => [x(i), y(n)] as Point),
    came: came.map((n, i) => [x(count - i), y(n)] as Point),
  }
}

const pathOf = (points: Point[]) => (points.length ? `M${points.map((point) => point.join(" ")).join("L")}` : "")

/** finalCount at each place that was reached on the way forward. */
function forwardCounts(memory: MemoryLook, count: number) {
  const counts = []
  for (let i = 0; i <= count && memory.written(i); i++) counts.push(memory.number(i) ?? 0)
  return counts
}

/** finalCount at each place that was reached on the way back, from the last; below 0 where it is not guarded. */
function backwardCounts(memory: MemoryLook, count: number) {
  const counts = []
  for (let i = count; i >= 0 && memory.written(i); i--) counts.push((memory.number(i) ?? 0) | 0)
  return counts
}

/** @param room  the height there is */
function layOut({count, blended, guarded}: Facts, width: number, room: number) {
  const lowest = guarded ? 0 : Math.min(0, blended - count)
  const cell = (width - LEFT - RIGHT) / count
  const plane = Math.max(PLANE.least, Math.min(PLANE.most, room - TOP - LAYERS - BARS - (guarded ? 28 : 46)))
  const tall = Math.min(cell, plane / (count - lowest))
  const every = [1, 2, 4, 8].find((n) => n * tall >= 18) ?? 8 // numbers, a line of the grid
  const y = (n: number) => TOP + (count - n) * tall
  const foot = y(lowest) + (guarded ? 28 : 46) // a count below 0 stands between
  const ground = foot + LAYERS - 28 + BARS
  return {
    width,
    height: ground + 14,
    count,
    lowest,
    cell,
    every,
    gap: every * tall,
    x: (i: number) => LEFT + i * cell,
    y,
    foot,
    ground,
    /** T on a logarithmic scale, from 1 at the top to 1e-4 at the bottom. */
    level: (T: number) => ground - BARS + BARS * Math.min(1, Math.max(0, Math.log(T) / Math.log(LEAST_T))),
  }
}

type Layout = ReturnType<typeof layOut>

/**
 * Draw what does not change: the plane of place and finalCount, its diagonal, the names of the rows below, and where T is below 1/255.
 */
function drawPlane(
  svg: SVGElement,
  {count, blended, guarded}: Facts,
  {lowest, cell, every, x, y, foot, ground, level}: Layout,
  band: SVGElement,
) {
  const text = (tx: number, ty: number, words: string, attributes = {}) => s("text", {x: tx, y: ty, ...attributes}, words)
  const hatch = {id: "beyond", width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)"}
  svg.append(s("defs", {}, s("pattern", hatch, s("path", {class: "beyond-line", d: "M0 0V7"}))))
  if (blended < count) {
    const box = {x: x(blended), y: TOP - 8, width: (count - blended) * cell, height: ground - TOP + 8}
    svg.append(s("rect", {class: "opaque", ...box}))
    const name = {"text-anchor": "end", class: "m now"}
    svg.append(text(x(count), 14, "T < 1/255", name))
  }
  // where index > finalCount
  svg.append(band, s("path", {class: "beyond", d: `M${x(0)} ${y(0)}L${x(count)} ${y(count)}V${y(lowest)}H${x(0)}Z`}))
  for (let n = lowest; n <= count; n++) {
    if (n % every) continue
    svg.append(s("path", {class: "grid", d: `M${x(0)} ${y(n)}H${x(count)}`}))
    const number = n < 0 ? `−${-n}` : String(n)
    svg.append(text(LEFT - 10, y(n) + 4, number, {"text-anchor": "end", class: "m"}))
  }
  svg.append(text(8, 16, "finalCount ↑", {class: "m"}))
  svg.append(s("path", {class: "diagonal", d: `M${x(0)} ${y(0)}L${x(count)} ${y(count)}`}))
  if (cell * count > 400) {
    const aside = {"text-anchor": "end", class: "aside"}
    const between = (n: number) => y(every * (n + 0.5)) + 4 // two lines
    const skip = between(Math.ceil(lowest / every))
    svg.append(text(x(count) - 10, skip, guarded ? "index > finalCount: skip" : "index > finalCount", aside))
    const along = Math.max(1, Math.round((0.5 * count) / every)) // as many lines up
    const place = x(every * along) - 28 // left of where the count stands
    if (place > x(0) + 160)
      svg.append(text(place, between(along), guarded ? "index = finalCount: undo" : "index = finalCount", aside))
  }
  svg.append(text(8, foot + 4, "layer", {class: "m"}), text(8, foot + 26, cell < 48 ? "[ ]" : "layers[ ]", {class: "m small"}))
  const threshold = level(OPAQUE)
  svg.append(text(8, ground - BARS + 8, "T"), s("path", {class: "limit", d: `M${x(0)} ${threshold}H${x(count)}`}))
  svg.append(text(LEFT - 6, threshold + 4, "1/255", {"text-anchor": "end"}))
}

/** Draw a layer below the plane: its number, its place in the array, T after it on both ways. */
function drawLayer(svg: SVGElement, {cell, x, foot, level}: Layout, i: number) {
  const middle = (x(i) + x(i + 1)) / 2
  const named = cell >= 22 || i % 2 === 1
  const disc = s("circle", {cx: middle, cy: foot, r: Math.min(10, cell * 0.42)})
  const number = s("text", {x: middle, y: foot + 4, "text-anchor": "middle", class: "no"}, named ? String(i + 1) : "")
  const place = s("text", {x: middle, y: foot + 26, "text-anchor": "middle"}, named ? String(i) : "")
  const [bar, tick] = [s("path"), s("path")]
  svg.append(disc, number, place, bar, tick)
  const at = (look: Look, name: string, part = 0) => look.ownMemory(name).number(i + 1, part)
  return {
    paint(look: Look, current: boolean) {
      const {final} = look
      const known = look.ownMemory("thereCount").written(i + 1) > 0
      const undone = look.ownMemory("backCount").written(i) > 0
      const leftOut = final.ownMemory("thereCount").number(i) === at(final, "thereCount")
      disc.setAttribute("class", classes("ld", leftOut && "out", !known && "later", current && "now"))
      place.setAttribute("class", classes("m small", current && "now"))
      const [after, back] = [level(at(final, "there", 3) ?? 0), level(at(final, "back", 3) ?? 0)]
      setAttributes(bar, {d: `M${x(i) + cell * 0.2} ${after}h${cell * 0.6}`, class: classes("tb", !known && "later")})
      setAttributes(tick, {d: `M${x(i) + cell * 0.1} ${back}h${cell * 0.8}`, class: classes("tt", !undone && "later")})
    },
  }
}
