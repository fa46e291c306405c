// A tile that blends its list: the transmittance of the chosen pixel in steps, one a Gaussian, and all pixels of the tile as small
// multiples, each with its colour so far and its own steps.
import {type Look, show} from "#web/drawing/look.ts"
import {listChoices} from "#web/drawing/choices.ts"
import {redrawn} from "#web/drawing/redrawn.ts"
import {canvas, classes, css, pointerIn, s, setAttributes} from "#web/drawing/svg.ts"
import {h} from "#web/runtime/dom.ts"
import {onArrows} from "#web/widgets/roving.ts"
import type {DrawingHost, Drawn} from "#web/drawing/types.ts"

export interface Facts {
  /** Size of the tile, in pixels. */
  size: [across: number, down: number]
  /** Number of Gaussians. */
  count: number
  /** R, g, b, T by thread and turn, 0 before the first. */
  states: number[][][]
  /** R, g, b, α by thread and turn. */
  layers: number[][][]
  /** Layers blended, by thread and turn, 0 before the first. */
  counts: number[][]
  /** Steps with which these stood. */
  ends: number[][]
  /** What the seed gives: of each Gaussian x, y, both sizes relative to that of all, angle, red, green, blue. */
  scene: {seed: number; gaussians: number[][]}
}

interface Options {
  /** Which is set when a turn is over. */
  variable: string
}

/** How many turns a thread has made; −1 before it began. */
type Turns = (thread: number) => number

const SWATCH = 76
const MOST_TALL = 132 // px: the chosen pixel's steps
const PIXEL_GAP = 6
const TITLE = 22 // px
const LIMIT = 1 / 255 // of T
const LOWEST = Math.log10(LIMIT / 100) // exponent at the bottom: T falls no further, as no α is above 0.99
const TICKS = [1, 0.1, 0.01, 0.001]
const APART = 13 // px between two numbers of the axis, at least

/** How far down a logarithmic scale a transmittance stands, from 0 for 1 to 1 at the bottom. */
export const depth = (T: number) => Math.min(1, Math.log10(Math.max(T, 1e-30)) / LOWEST)

const onWhite = ([r, g, b, T]: number[]) => css([r + T, g + T, b + T])

export const draw = (host: DrawingHost<Facts, Options>) =>
  redrawn(
    host,
    (facts) => facts.states,
    build,
    (now, built) => now.count === built.count && String(now.size) === String(built.size),
  )

type Host = DrawingHost<Facts, Options>

function build(host: Host, look: Look): Drawn {
  const {options} = host
  const {width, height} = host.room()
  const {variables} = look.recording
  const variable = variables.findIndex((one: {name: string}) => one.name === options.variable)
  let latest = look
  const turnsOf: Turns = (thread) => host.facts.ends[thread].indexOf(latest.state.set(thread, variable))

  const tall = Math.max(64, Math.min(MOST_TALL, height * 0.24))
  const chosen = chosenPixel(host, width, tall)
  const tile = pixelsOfTile(host, width, height - chosen.height - 2 * TITLE - 10, {
    chosen: () => latest.moment.thread,
    choose(thread) {
      if (latest.moment.thread !== thread || latest.moment.pinned !== thread) latest.moment.choose(thread)
    },
  })
  const paint = (now: Look) => {
    latest = now
    chosen.paint(now.thread, turnsOf(now.thread))
    tile.paint(now, turnsOf)
  }
  const describe = (now: Look) => sentence(host.facts, now, turnsOf)
  const news = (now: Look) => {
    const T = host.facts.states[now.thread][Math.max(0, turnsOf(now.thread))][3]
    return `T of the chosen pixel, of thread ${now.thread}: ${show(T, 3)}.`
  }
  const title = (words: string) => h("p", {class: "fine-words"}, words)
  const chosenTitle = title("The chosen pixel: how each Gaussian lowers T (log scale). ✕ comes too late.")
  const tileTitle = title("All 32 pixels: colour so far, falling T, Gaussians blended. Grey: iterations in vain.")
  return {
    el: h("div", {class: "fine-both"}, chosenTitle, chosen.el, tileTitle, tile.el),
    paint,
    describe,
    news,
  }
}

function sentence({states}: Facts, look: Look, turnsOf: Turns) {
  const {thread} = look
  const turn = Math.max(0, turnsOf(thread))
  const [r, g, b, T] = states[thread][turn].map((value) => show(value, 3))
  const now = `The chosen pixel, of thread ${thread}, has gathered ${r}, ${g}, ${b}, and ${T} of the light comes through.`
  const steps = states[thread].slice(1, turn + 1).map((state) => show(state[3], 3))
  return steps.length ? `${now} T after each Gaussian so far: ${steps.join(", ")}.` : now
}

/**
 * The chosen pixel: what each Gaussian takes of its light, its T as a level, its colour so far.
 * @param tall  height of the steps
 */
function chosenPixel(host: Host, width: number, tall: number) {
  const {count} = host.facts
  const [left, top] = [46, 24] // above, the axis's name
  const room = Math.max(1, width - left - SWATCH - 16)
  const height = top + tall + 26
  const y = (T: number) => top + depth(T) * tall
  const label = `Transmittance of the chosen pixel through ${count} Gaussians`
  const svg = canvas(width, height, {class: "fine-pass", role: "img", "aria-label": label})
  const axisText = (at: number, text: string, name = "") =>
    s("text", {x: left - 8, y: at, "text-anchor": "end", class: name || null}, text)
  svg.append(s("path", {class: "fine-axis", d: `M${left} ${y(1)}H${left + room}M${left} ${y(0)}H${left + room}`}))
  const free = TICKS.filter((T) => Math.abs(y(T) - y(LIMIT)) >= APART)
  svg.append(axisText(10, "T", "m"), ...free.map((T) => axisText(y(T) + 4, String(T))), axisText(y(LIMIT) + 4, "1/255", "now"))
  const columns = Array.from({length: count}, (_, i) => drawColumn(svg, i, left, room / count, y(0)))
  const limit = s("path", {class: "fine-limit", d: `M${left} ${y(LIMIT)}H${left + room}`})
  const level = s("path", {class: "fine-level"})
  const swatchHeight = Math.max(0, tall - 40)
  const swatch = s("rect", {class: "fine-swatch", x: width - SWATCH, y: top, width: SWATCH, height: swatchHeight, rx: 3})
  const [T, absorbed, blended] = [16, 33, 50]
    .map((below) => below + swatchHeight)
    .map((below, i) => s("text", {x: width - SWATCH, y: top + below, class: i ? "num" : "now num"}))
  svg.append(limit, level, swatch, T, absorbed, blended)

  const paint = (thread: number, turn: number) => {
    const {states, layers, counts} = host.facts
    const history = states[thread]
    const state = history[Math.max(0, turn)]
    svg.setAttribute(
      "aria-label",
      `${label}: ${turn > 0 ? `1 at first, ${show(state[3], 3)} after Gaussian ${turn - 1}` : "1, before the first"}`,
    )
    columns.forEach(({before, taken, name, skip}, i) => {
      const [from, to] = [history[i][3], history[i + 1][3]]
      const done = i < turn
      const skipped = counts[thread][i + 1] === counts[thread][i]
      setAttributes(before, {y: y(from), height: y(0) - y(from), class: classes("fine-light", done && "done")})
      setAttributes(taken, {
        y: y(from),
        height: Math.max(0, y(to) - y(from)),
        class: classes("fine-taken", done ? "done" : "later"),
      })
      taken.style.fill = css(layers[thread][i].slice(0, 3))
      skip.setAttribute("visibility", skipped ? "visible" : "hidden")
      skip.setAttribute("class", classes("fine-skip", !done && "later"))
      name.setAttribute("class", i === turn - 1 ? "m mine" : "m")
    })
    setAttributes(level, {d: `M${left} ${y(state[3])}H${left + room}`})
    swatch.style.fill = onWhite(state)
    T.textContent = `T ${show(state[3], 3)}`
    absorbed.textContent = `1 − T ${show(1 - state[3], 3)}`
    blended.textContent = `${counts[thread][Math.max(0, turn)]} blended`
  }
  return {el: svg, paint, height}
}

/**
 * Draw the column of a Gaussian: the light that reaches it, and what it takes of it.
 * @param step  width of a column
 */
function drawColumn(svg: SVGElement, i: number, left: number, step: number, bottom: number) {
  const x = left + i * step
  const gap = Math.min(4, step * 0.15)
  const label = i % Math.ceil(18 / step) ? "" : String(i)
  const before = s("rect", {class: "fine-light", x: x + gap / 2, width: Math.max(0, step - gap)})
  const taken = s("rect", {class: "fine-taken", x: x + gap / 2, width: Math.max(0, step - gap), rx: 1})
  const name = s("text", {x: x + step / 2, y: bottom + 18, "text-anchor": "middle", class: "m"}, label)
  const skip = s("text", {x: x + step / 2, y: bottom - 6, "text-anchor": "middle", class: "fine-skip"}, "✕")
  svg.append(before, taken, skip, name)
  return {before, taken, name, skip}
}

/**
 * All pixels of the tile, each with its colour above and its steps below.
 * @param room  height that is left
 */
function pixelsOfTile(host: Host, width: number, room: number, {chosen, choose}: {chosen(): number; choose(thread: number): void}) {
  const [across, down] = host.facts.size
  const gap = PIXEL_GAP
  const wide = Math.max(4, (width - gap * (across - 1)) / across)
  const high = Math.max(34, Math.min(66, wide * 0.86, room / down - gap))
  const height = down * (high + gap)
  const svg = canvas(width, height, {
    class: "fine-pass fine-tile",
  })
  const pixels = host.facts.states.map((_, thread) => {
    const [x, y] = [(thread % across) * (wide + gap), Math.floor(thread / across) * (high + gap)]
    return drawPixel(svg, host, thread, {x, y, width: wide, height: high})
  })
  const boxes = host.facts.states.map((_, thread) => {
    const [column, row] = [thread % across, Math.floor(thread / across)]
    return {x: column * (wide + gap), y: row * (high + gap), width: wide, height: high}
  })
  const paintChoices = listChoices(svg, "Pixel of the tile", boxes, choose)
  svg.onclick = (event) => {
    const point = pointerIn(svg, event)
    const [column, row] = [Math.floor(point.x / (wide + gap)), Math.floor(point.y / (high + gap))]
    choose(Math.min(down - 1, Math.max(0, row)) * across + Math.min(across - 1, Math.max(0, column)))
  }
  onArrows(svg, {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across}, (step) => {
    const next = chosen() + step
    if (next >= 0 && next < across * down) choose(next)
  })
  const paint = (look: Look, turnsOf: Turns) => {
    const {thread} = look
    const written = look.memory("maxCount")
    pixels.forEach((pixel, other) => pixel.paint(turnsOf(other), written?.number(other) ?? null, other === thread))
    paintChoices(thread, (other) => {
      const place = `Pixel (${other % across}, ${Math.floor(other / across)}), thread ${other}`
      const turn = turnsOf(other)
      const blended = host.facts.counts[other][Math.max(0, turn)]
      return turn < 0 ? `${place}: nothing blended yet` : `${place}: ${blended} ${blended === 1 ? "layer" : "layers"} blended`
    })
  }
  return {el: svg, paint}
}

/** Draw a pixel of the tile. */
function drawPixel(
  svg: SVGElement,
  host: Host,
  thread: number,
  {x, y, width, height}: {x: number; y: number; width: number; height: number},
) {
  const {count} = host.facts
  const colourHeight = height * 0.5
  const stepsTop = y + colourHeight + 2
  const stepsHeight = Math.max(0, height - colourHeight - 3)
  const yOf = (T: number) => stepsTop + depth(T) * stepsHeight
  const xOf = (turn: number) => x + (width * turn) / count
  const stepsTo = (turn: number) =>
    host.facts.states[thread]
      .slice(1, turn + 1)
      .map((state, i) => `H${xOf(i + 1)}V${yOf(state[3])}`)
      .join("")
  const colour = s("rect", {class: "fine-swatch", x, y, width, height: colourHeight, rx: 2})
  const past = s("path", {class: "fine-past"})
  const inVain = s("rect", {class: "fine-off", y: stepsTop, height: stepsHeight})
  const ahead = s("path", {class: "fine-line later"})
  const line = s("path", {class: "fine-line"})
  const limit = s("path", {class: "fine-limit", d: `M${x} ${yOf(LIMIT)}h${width}`})
  const number = {x: x + width - 3, y: y + height - 2, "text-anchor": "end", class: "fine-count m"} // below the limit
  const blended = s("text", number)
  const outline = {x: x - 1.5, y: y - 1.5, width: width + 3, height: height + 2, rx: 3}
  const frame = s("rect", {class: "fine-frame", ...outline})
  svg.append(colour, past, inVain, limit, ahead, line, blended, frame)
  return {
    /** @param written  layers blended, once the kernel wrote them */
    paint(turn: number, written: number | null, chosen: boolean) {
      const made = Math.max(0, turn)
      const {states, counts} = host.facts
      const history = states[thread]
      colour.style.fill = onWhite(history[turn < 0 ? count : made])
      colour.setAttribute("class", classes("fine-swatch", turn < 0 && "later"))
      setAttributes(past, {d: `M${x} ${yOf(0)}V${yOf(1)}${stepsTo(made)}V${yOf(0)}Z`})
      const last = counts[thread].at(-1) ?? 0
      setAttributes(inVain, {x: xOf(last), width: turn > last ? (width * (turn - last)) / count : 0})
      setAttributes(ahead, {d: `M${x} ${yOf(history[0][3])}${stepsTo(count)}`})
      setAttributes(line, {d: `M${x} ${yOf(history[0][3])}${stepsTo(made)}`})
      blended.textContent = String(counts[thread][made])
      blended.setAttribute("class", classes("fine-count m", written !== null && "written", turn < 0 && "later"))
      frame.setAttribute("class", classes("fine-frame", chosen && "me"))
    },
  }
}
