// A pixel's transmittance layer by layer, on a logarithmic scale, down to the limit and past it.
import {alongLine, alongPath, placeLabels} from "#web/drawing/labels.ts"
import {type Look, show} from "#web/drawing/look.ts"
import {redrawn} from "#web/drawing/redrawn.ts"
import {canvas, pointerIn, s, setAttributes} from "#web/drawing/svg.ts"
import {powerOfTen} from "#web/recording/values.ts"
import type {DrawingHost, DrawingView} from "#web/drawing/types.ts"

export interface Layer {
  /** T in front of it. */
  before: number
  /** T behind it. */
  after: number
  /** T with no layer left out. */
  open: number
  /** Light, in steps of 255. */
  adds: number
  blended: boolean
  /** The step at which it ends. */
  end: number
}

export interface Facts {
  layers: Layer[]
  finalCount: number
}

interface Options {
  /** Limit of T. */
  limit: number
}

const TOP = 22
const BELOW = 62 // squares, their numbers, finalCount
const CHART = {least: 150, most: 340}
const LOWEST = -4.12 // exponent at the bottom, the same for all α: what is dragged does not move the scale
const LEFT = 54
const RIGHT = 14
const SQUARE = 11
const LABEL = 14 // px, its height
const NAME = {text: "if none were left out", width: 128, height: 24} // of the dashed curve, with room around it

export type Values = {count: number; alpha: number}

export function draw(host: DrawingHost<Facts, Options, Values>): DrawingView {
  return redrawn(
    host,
    (facts) => facts.layers,
    (its) => build(its),
  )
}

function build({facts, options, step, room}: DrawingHost<Facts, Options, Values>) {
  const {layers} = facts
  const space = room()
  const chart = Math.max(CHART.least, Math.min(CHART.most, space.height - TOP - BELOW))
  const layout = layOut(facts, options, Math.max(280, space.width), chart)
  const {width, each, x, y, bottom} = layout
  const svg = canvas(width, bottom + BELOW, {class: "transmittance", role: "img", "aria-label": "T after each layer"})
  const over = s("rect", {class: "opaque", x: LEFT, y: y(options.limit), width: layout.room, height: bottom - y(options.limit)})
  svg.append(over)
  drawScale(svg, layout)
  const band = s("rect", {class: "band", y: TOP, height: chart + 22, width: Math.max(3, each)})
  svg.append(band)
  const stairs = drawCurves(svg, facts, options, layout)
  const point = s("circle", {class: "point awaits", r: 5})
  svg.append(point)
  const squares = drawSquares(svg, facts, layout)
  drawFinalCount(svg, facts, layout)
  const hit = s("rect", {x: LEFT, y: TOP, width: layout.room, height: chart + 24, class: "hit"})
  hit.onclick = (event) => {
    const layer = Math.floor((pointerIn(svg, event).x - LEFT) / each)
    step(layers[Math.min(layers.length - 1, Math.max(0, layer))].end)
  }
  svg.append(hit)
  const doneAt = (look: Look) => layers.filter((layer) => look.step >= layer.end).length

  return {
    el: svg,
    paint(look: Look) {
      const done = doneAt(look)
      const last = Math.max(0, done - 1)
      setAttributes(band, {x: x(last), visibility: done ? "visible" : "hidden"})
      setAttributes(point, {cx: x(done), cy: y(done ? layers[last].after : 1)})
      setAttributes(stairs, {d: pathOf("after", layers.slice(0, done), layout)})
      const after = done ? `, ${show(layers[last].after, 3)} after layer ${done}` : ""
      svg.setAttribute("aria-label", `T after each layer: 1 at first${after}`)
      squares.forEach((square, i) => square.classList.toggle("later", i >= done))
    },
    describe(look: Look) {
      const done = doneAt(look)
      const T = done ? layers[done - 1].after : 1
      const blended = layers.slice(0, done).filter((layer) => layer.blended).length
      return `${done} of ${layers.length} layers ${done === 1 ? "is" : "are"} done, ${blended} of them blended; T is ${show(T, 3)}.`
    },
    news: () => "", // each step says what is done with its layer, and what T becomes
  }
}

/** @param chart  its height */
function layOut({layers}: Facts, {limit}: Options, width: number, chart: number) {
  const room = width - LEFT - RIGHT
  const each = room / layers.length
  return {
    width,
    room,
    each,
    lowest: LOWEST,
    bottom: TOP + chart,
    limitY: TOP + chart * Math.min(1, Math.log10(limit) / LOWEST),
    x: (layer: number) => LEFT + layer * each,
    y: (T: number) => TOP + chart * Math.min(1, Math.log10(Math.max(T, 1e-30)) / LOWEST),
  }
}

type Layout = ReturnType<typeof layOut>

function drawScale(svg: SVGElement, {width, lowest, y}: Layout) {
  for (let power = 0; power >= lowest; power--) {
    const height = y(10 ** power)
    svg.append(s("path", {class: "grid", d: `M${LEFT} ${height}H${width - RIGHT}`}))
    svg.append(s("text", {x: LEFT - 8, y: height + 4, "text-anchor": "end"}, scaleLabel(power)))
  }
}

/**
 * A negative power of ten as text: 0.001, 10⁻¹⁰.
 * @param power  at most 0
 */
export function scaleLabel(power: number) {
  if (power >= -4) return (10 ** power).toFixed(-power)
  return powerOfTen(power)
}

/** Draw both curves, pale; returns the solid one that is drawn over them as far as the steps have come. */
function drawCurves(svg: SVGElement, {layers, finalCount}: Facts, {limit}: Options, layout: Layout) {
  const {width, y} = layout
  const right = {x: width - RIGHT, "text-anchor": "end"}
  svg.append(s("text", {...right, class: "aside", y: TOP - 8}, "T, the share that still comes through"))
  svg.append(s("path", {class: "limit", d: `M${LEFT} ${y(limit)}H${width - RIGHT}`}))
  svg.append(s("text", {...right, class: "m now", y: y(limit) - 7}, "1/255"))
  if (finalCount < layers.length) {
    svg.append(s("path", {class: "open awaits", d: pathOf("open", layers, layout)}))
    const steps = layers.filter((layer) => Math.log10(layer.open) >= layout.lowest).length
    const place = steps > finalCount ? placeOfName(layers, layout) : null // else the dashed curve leaves the chart with the solid one
    if (place) svg.append(s("text", {class: "aside", x: place[0] + 3, y: place[1] + NAME.height / 2 + 4}, NAME.text))
  }
  svg.append(s("path", {class: "stairs later", d: pathOf("after", layers, layout)}))
  const stairs = s("path", {class: "stairs awaits"})
  svg.append(stairs)
  return stairs
}

/**
 * Where the name of the dashed curve stands, clear of all curves and lines: as near to the curve's end as it can. Null without room.
 */
function placeOfName(layers: Layer[], {width, bottom, lowest, limitY, x, y}: Layout) {
  const curve = (name: "open" | "after") => alongPath(layers.map((layer, i) => [x(i + 1), Math.min(bottom, y(layer[name]))]))
  const scale = Array.from({length: Math.ceil(-lowest)}, (_, power) => y(10 ** -power))
  const lines = [...scale, limitY, bottom].flatMap((height) => alongLine([LEFT, height], [width - RIGHT, height]))
  const out = layers.findIndex((layer) => y(layer.open) > bottom - 2)
  const end = out < 0 ? {x: width - RIGHT, y: y(layers[layers.length - 1].open)} : {x: x(out + 1), y: bottom}
  const places: [x: number, y: number][] = []
  for (let top = TOP; top < bottom; top += 4)
    for (let left = LEFT + 4; left < width - RIGHT - NAME.width; left += 6) places.push([left, top])
  const far = ([left, top]: [x: number, y: number]) =>
    Math.hypot(Math.max(0, Math.abs(left + NAME.width / 2 - end.x) - NAME.width / 2), top + NAME.height / 2 - end.y)
  places.sort((a, b) => far(a) - far(b))
  return placeLabels([{...NAME, places}], {width, height: bottom}, {points: [...curve("open"), ...curve("after"), ...lines]})[0]
}

/** A stair of T down to the bottom of the chart. */
function pathOf<Name extends "open" | "after">(name: Name, layers: Record<Name, number>[], {lowest, bottom, x, y}: Layout) {
  const out = layers.findIndex((layer) => Math.log10(layer[name]) < lowest) // the first below the chart
  const shown = out < 0 ? layers : layers.slice(0, out)
  const steps = shown.map((layer, i) => `H${x(i + 0.5)}V${y(layer[name])}H${x(i + 1)}`).join("")
  return `M${x(0)} ${y(1)}${steps}${out < 0 ? "" : `H${x(out + 0.5)}V${bottom}`}`
}

/** Draw the layers, a square each, with their numbers; returns the squares. */
function drawSquares(svg: SVGElement, {layers, finalCount}: Facts, {each, bottom, x}: Layout) {
  const side = Math.min(SQUARE, Math.max(1.5, each - 1.5))
  const squares = layers.map((layer, i) => {
    const box = {x: x(i + 0.5) - side / 2, y: bottom + 8, width: side, height: Math.max(6, side)}
    return s("rect", {class: layer.blended ? "sq" : "sq no", ...box})
  })
  svg.append(...squares)
  const every = [1, 2, 5, 10, 20, 50].find((n) => n * each > 26) ?? 100
  const free = (n: number) => Math.abs(x(n - 0.5) - x(finalCount)) > LABEL // of the line under the last that counts
  for (let n = every; n <= layers.length; n += every)
    if (free(n)) svg.append(s("text", {x: x(n - 0.5), y: bottom + 35, "text-anchor": "middle"}, String(n)))
  return squares
}

function drawFinalCount(svg: SVGElement, {finalCount}: Facts, {width, bottom, x}: Layout) {
  const end = x(finalCount)
  const right = end > width - 130
  const name = {class: "m now", x: end + (right ? -6 : 6), y: bottom + 56, "text-anchor": right ? "end" : "start"}
  svg.append(s("path", {class: "countline", d: `M${end} ${bottom + 4}V${bottom + 44}`}))
  svg.append(s("text", name, `finalCount = ${finalCount}`))
}
