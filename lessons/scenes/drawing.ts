// A scene that a camera walks round: its picture with the recorded tile, the arrows and the outline of one Gaussian, and the list in
// which the tile blends, as columns that are as high as a Gaussian is far away.
import {h, zoomOf} from "#web/runtime/dom.ts"
import {listChoices} from "#web/drawing/choices.ts"
import {THINNEST} from "#web/drawing/live.ts"
import {paintPixels} from "#web/drawing/pixels.ts"
import {canvas, css, pointerIn, s, setAttributes} from "#web/drawing/svg.ts"
import {sender} from "#web/drawing/throttled_sender.ts"
import {ARROWS, onArrows} from "#web/widgets/roving.ts"
import type {Look} from "#web/drawing/look.ts"
import type {DrawingHost, DrawingView} from "#web/drawing/types.ts"

type Pair = [x: number, y: number]

export interface Facts {
  /** Of the picture, in pixels. */
  size: Pair
  /** Bytes, perhaps in base 64. */
  picture: string | Uint8Array<ArrayBuffer>
  pixel: Pair
  /** By Gaussian. */
  names: string[]
  /** The fourteen numbers, by row and Gaussian. */
  numbers: number[][]
  /** On the picture, by Gaussian. */
  centers: number[][]
  /** A Gaussian's three half axes on the picture. */
  arrows: number[][][]
  depths: number[]
  /** The list as it is blended. */
  order: number[]
  /** By thread and place in the list. */
  alphas: number[][]
  /** The steps that end the five stages of `project`, the sort, and each turn of the loop. */
  ends: number[]
}

export interface Values {
  turn: number
  tilt: number
  order: string
  pixel: Pair
}

type Host = DrawingHost<Facts, unknown, Values>

const TILE: Pair = [8, 4]
const ARROW = 2 // the number of stages before the arrows are known
const OUTLINED = 3 // … before the outline is
const SORTED = 5 // … before the list is sorted
const REACH = 2 // sizes from the centre to the outline
const WALK = {turn: 0.7, tilt: 0.5} // degrees for each px that is dragged
const TILTS: Pair = [-10, 80]
const CLICK = 4 // px: a shorter drag chooses a pixel
const LIST = {height: 84, gap: 2, least: 8, words: 18} // px
const COLOUR = 10 // row of red

export function draw(host: Host): DrawingView {
  let parts: {picture: ReturnType<typeof scenePicture>; list: ReturnType<typeof depthList>} | null = null
  let latest: Look
  const choose = (gaussian: number) => latest.moment.choose(gaussian)
  const layOut = () => {
    const {width, height} = host.room()
    const [across, down] = host.facts.size
    const most = Number.isFinite(height) ? Math.max(140, height - LIST.height - 2 * LIST.words - 24) : width
    const pictureWidth = Math.min(width, (most * across) / down)
    parts?.picture.resize(pictureWidth)
    parts?.list.resize(width)
  }
  const paint = (look: Look) => {
    latest = look
    const done = host.facts.ends.filter((end) => look.reached(end)).length
    const turn = done - SORTED - 2 // the place in the list that was blended last; below 0 before the loop
    const shown = turn >= 0 ? host.facts.order[turn] : look.thread
    parts?.picture.paint(shown, done, turn >= 0)
    parts?.list.paint(shown, done, turn, look)
  }
  return {
    open(look) {
      if (!host.facts.names) return
      latest = look
      if (!parts) {
        parts = {picture: scenePicture(host), list: depthList(host, choose, () => latest.thread)}
        host.root.replaceChildren(h("div", {class: "scene", "data-testid": "scene"}, parts.picture.el, parts.list.el))
      }
      parts.picture.show()
      layOut()
      paint(look)
    },
    paint(look) {
      if (parts) paint(look)
    },
    describe(look) {
      if (!parts) return ""
      const {names, depths} = host.facts
      const {turn, tilt} = host.values
      const from = `The camera is at ${turn} degrees round the scene and looks down by ${tilt}.`
      return `${from} Thread ${look.thread} has ${names[look.thread]}, ${depths[look.thread].toFixed(2)} units away.`
    },
    news: () => "",
    resized(look) {
      if (!parts) return
      layOut()
      paint(look)
    },
    changed() {},
  }
}

/** The picture, which is dragged to walk round. */
function scenePicture(host: Host) {
  const pixels = h("canvas", {class: "pixels", role: "img", "aria-label": "The scene as the camera sees it"})
  const tile = s("rect", {class: "tile", width: TILE[0], height: TILE[1]})
  const marks = [s("rect", {class: "chosen-pixel out"}), s("rect", {class: "chosen-pixel"})]
  const outlines = [s("ellipse", {class: "outline halo"}), s("ellipse", {class: "outline"})]
  const arrows = [0, 1, 2].flatMap(() => [s("path", {class: "arrow halo"}), s("path", {class: "arrow"})])
  const over = s("svg", {"aria-hidden": "true", preserveAspectRatio: "none"}, tile, ...marks, ...outlines, ...arrows)
  const hint = h("p", {class: "hint"}, "drag to walk round")
  const el = h("div", {class: "scene-picture framed"}, pixels, over, hint)
  let from: {x: number; y: number; turn: number; tilt: number} | null = null
  let inHand = {turn: 0, tilt: 0}
  const send = sender(() => {
    for (const name of ["turn", "tilt"] as const) if (inHand[name] !== host.values[name]) host.set(name, inHand[name])
  })
  el.onpointerdown = (event) => {
    if (event.button) return
    from = {x: event.clientX, y: event.clientY, turn: host.values.turn, tilt: host.values.tilt}
    inHand = {turn: from.turn, tilt: from.tilt}
    el.setPointerCapture(event.pointerId)
    el.classList.add("held")
  }
  el.onpointermove = (event) => {
    if (!from) return
    const zoom = zoomOf(el)
    const [dx, dy] = [(event.clientX - from.x) / zoom, (event.clientY - from.y) / zoom]
    if (!el.classList.contains("walks") && Math.hypot(dx, dy) < CLICK) return
    el.classList.add("walks")
    hint.hidden = true
    const turn = Math.round(from.turn - WALK.turn * dx)
    const tilt = Math.round(Math.min(TILTS[1], Math.max(TILTS[0], from.tilt + WALK.tilt * dy)))
    inHand = {turn: turn - 360 * Math.round(turn / 360), tilt}
    if (!host.follow({...host.values, ...inHand})) send.soon()
  }
  el.onpointerup = el.onpointercancel = (event) => {
    if (!from) return
    const walks = el.classList.contains("walks")
    from = null
    el.classList.remove("held", "walks")
    if (walks) return send.now()
    if (event.type !== "pointerup") return
    const {x, y} = pointerIn(over, event)
    const pixel = [x, y].map((at, axis) => Math.min(host.facts.size[axis] - 1, Math.max(0, Math.floor(at)))) as Pair
    host.follow({...host.values, pixel})
    host.set("pixel", pixel)
  }
  return {
    el,
    show() {
      const {size, picture, pixel} = host.facts
      const [width, height] = size
      pixels.width = width
      pixels.height = height
      paintPixels(pixels, picture)
      setAttributes(over, {viewBox: `0 0 ${width} ${height}`})
      setAttributes(tile, {x: pixel[0] - (pixel[0] % TILE[0]), y: pixel[1] - (pixel[1] % TILE[1])})
      for (const mark of marks) setAttributes(mark, {x: pixel[0], y: pixel[1], width: 1, height: 1})
      if (!host.following) send.answered()
    },
    /** @param done  the number of stages that have ended */
    paint(gaussian: number, done: number, blends: boolean) {
      const {centers, arrows: all} = host.facts
      const [x, y] = centers[gaussian].map((at) => at + 0.5) // a pixel's number is that of its middle
      const own = all[gaussian]
      own.forEach(([dx, dy], axis) => {
        for (const arrow of arrows.slice(2 * axis, 2 * axis + 2)) setAttributes(arrow, {d: arrowTo(x, y, dx, dy)})
      })
      const {sizes, angle} = ellipseOf(own)
      for (const outline of outlines)
        setAttributes(outline, {rx: REACH * sizes[0], ry: REACH * sizes[1], transform: `translate(${x} ${y}) rotate(${angle})`})
      for (const arrow of arrows) arrow.classList.toggle("gone", done <= ARROW || blends)
      for (const outline of outlines) outline.classList.toggle("gone", done <= OUTLINED)
    },
    resize(width: number) {
      const [across, down] = host.facts.size
      Object.assign(el.style, {width: `${width}px`, height: `${(width * down) / across}px`})
    },
  }
}

/** A line with a tip, in pixels of the picture. */
function arrowTo(x: number, y: number, dx: number, dy: number) {
  const length = Math.hypot(dx, dy)
  const tip = Math.min(1.6, 0.5 * length)
  const [ux, uy] = length ? [dx / length, dy / length] : [0, 0]
  const [endX, endY] = [x + dx, y + dy]
  const wing = (side: number) => `${endX - tip * (ux + 0.5 * side * uy)} ${endY - tip * (uy - 0.5 * side * ux)}`
  return `M${x} ${y}L${endX} ${endY}M${wing(1)}L${endX} ${endY}L${wing(-1)}`
}

/** The standard deviations and the angle, in degrees, of the ellipse that the squares of arrows add up to. */
function ellipseOf(arrows: number[][]) {
  const sum = (of: (arrow: number[]) => number) => arrows.reduce((total, arrow) => total + of(arrow), 0)
  const [xx, xy, yy] = [sum(([x]) => x * x) + THINNEST ** 2, sum(([x, y]) => x * y), sum(([, y]) => y * y) + THINNEST ** 2]
  const [mean, spread] = [(xx + yy) / 2, Math.hypot((xx - yy) / 2, xy)]
  const sizes = [mean + spread, mean - spread].map((variance) => Math.sqrt(Math.max(0, variance)))
  return {sizes, angle: (90 / Math.PI) * Math.atan2(2 * xy, xx - yy)}
}

/** The list: a column for each Gaussian, at its place. */
function depthList(host: Host, choose: (gaussian: number) => void, chosen: () => number) {
  const count = host.facts.names.length
  const columns = host.facts.names.map((_, i) => {
    const [r, g, b] = [0, 1, 2].map((part) => host.facts.numbers[COLOUR + part][i])
    return s("rect", {class: "column", fill: css([r, g, b])})
  })
  const height = LIST.height + LIST.words
  const boxes = columns.map((_, i) => ({x: i, y: 0, width: 1, height: LIST.height}))
  const svg = canvas(count, height, {class: "scene-list"}, ...columns) as SVGSVGElement
  const mark = s("path", {class: "mark"})
  const ends = [s("text", {class: "end"}, "blended first"), s("text", {class: "end", "text-anchor": "end"}, "last")]
  svg.append(mark, ...ends)
  const title = h("p", {class: "scene-words"})
  const paintChoices = listChoices(svg, "Gaussian of a thread", boxes, choose)
  let places: number[] = []
  let width = 1
  const at = (place: number) => (place * width) / count
  svg.onclick = (event) => {
    const place = Math.floor((pointerIn(svg, event).x * count) / width)
    const gaussian = places.indexOf(Math.min(count - 1, Math.max(0, place)))
    if (gaussian >= 0) choose(gaussian)
  }
  onArrows(svg, ARROWS, (step) => {
    const next = places.indexOf(places[chosen()] + step)
    if (next >= 0) choose(next)
  })
  return {
    el: h("div", {class: "scene-below"}, title, svg),
    /**
     * @param shown  the Gaussian that the picture outlines
     * @param turn  the place in the list that was blended last; below 0 before the loop
     */
    paint(shown: number, done: number, turn: number, look: Look) {
      const {names, depths, order, alphas} = host.facts
      const isSorted = done > SORTED
      places = names.map((_, gaussian) => (isSorted ? order.indexOf(gaussian) : gaussian))
      const [least, most] = [Math.min(...depths), Math.max(...depths)]
      columns.forEach((column, gaussian) => {
        const share = (depths[gaussian] - least) / (most - least || 1)
        const tall = done > 0 ? LIST.least + share * (LIST.height - LIST.least) : LIST.least
        const x = at(places[gaussian]) + LIST.gap / 2
        column.style.transform = `translateX(${x}px)` // this alone takes its time: at each moment all heights are of one camera
        setAttributes(column, {y: LIST.height - tall, width: Math.max(1, width / count - LIST.gap), height: tall})
        column.classList.toggle("ahead", turn >= 0 && places[gaussian] > turn)
        column.classList.toggle("none", turn >= 0 && places[gaussian] <= turn && alphas[look.thread][places[gaussian]] < 1 / 255)
      })
      for (const end of ends) end.classList.toggle("gone", !isSorted)
      const x = at(places[shown]) + width / count / 2
      setAttributes(mark, {d: `M${x - 5} ${LIST.height + 9}L${x} ${LIST.height + 2}L${x + 5} ${LIST.height + 9}Z`})
      const alpha = turn >= 0 ? `, α = ${alphas[look.thread][turn].toFixed(3)} at the chosen pixel` : ""
      const state = isSorted ? "The list" : "Before the sort"
      title.textContent = `${state}: ${names[shown]}, ${depths[shown].toFixed(2)} units away${alpha}`
      paintChoices(look.thread, (gaussian) => `Thread ${gaussian}: ${names[gaussian]}, ${depths[gaussian].toFixed(2)} units away`)
    },
    resize(to: number) {
      width = to
      setAttributes(svg, {width, height, viewBox: `0 0 ${width} ${height}`})
      setAttributes(ends[0], {x: 0, y: height - 3})
      setAttributes(ends[1], {x: width, y: height - 3})
    },
  }
}
