// Training of one tile: its four kernels, the picture, and every raw value with its gradient as they stand in memory.
import {redrawn} from "#web/drawing/redrawn.ts"
import {classes, css, s, setAttributes} from "#web/drawing/svg.ts"
import {h} from "#web/runtime/dom.ts"
import {floatFromBits} from "#web/recording/values.ts"
import {GRID_AND_ENDS, onArrows, setTabStop} from "#web/widgets/roving.ts"
import type {Look, MemoryLook} from "#web/drawing/look.ts"
import type {DrawingHost, Drawn} from "#web/drawing/types.ts"

/** Memories: blobsBuffer, derivBuffer (bits of floats), outputBuffer. */
interface Facts {
  /** Fields of a Gaussian. */
  fields: string[]
  /** How many Gaussians. */
  blobs: number
  kernels: string[]
  /** The kernel that is left out, −1 for none. */
  without: number
  /** Steps at which each kernel of each iteration ends. */
  ends: number[]
  /** Values at first and after each kernel. */
  kept: [raw: number[][], gradient: number[][]]
  /** Size of the picture. */
  size: [number, number]
  /** Bytes in base 64. */
  target: string
  /** dB of the picture that each iteration drew. */
  psnr: (number | null)[]
}

const KERNELS = 4
const [UPDATE, RENDER] = [2, 3] // their numbers among them
const THREADS = ["a thread for each value", "a thread for each pixel", "a thread for each value", "a thread for each pixel"]
const PADDING = 14
const GAP = 16
const NARROW = 500 // px: below, the table has a row for each field, where there is height for it
const TIGHT = 560 // px: below, its columns stand closer
const CAPTION = 22
const BOXES = {full: 60, low: 40} // height of the four kernels
const LOW = 420 // px: below, they say their names only
const TABLE = 176 // height of the wide table
const PIXEL = {least: 10, most: 40}

export const draw = (host: DrawingHost<Facts>) => {
  const view = redrawn(host, (facts) => facts.ends, build)
  const open = (look: Look) => {
    // a control makes another recording and another drawing: the focus stays where it was
    const buttons = () => [...host.root.querySelectorAll("button")]
    const focused = (host.root.getRootNode() as ShadowRoot).activeElement
    const index = (buttons() as (Element | null)[]).indexOf(focused)
    view.open?.(look)
    buttons()[index]?.focus()
  }
  return {...view, open}
}

function build({facts, step, room}: DrawingHost<Facts>, first: Look): Drawn {
  let latest = first
  let iteration = 0
  const space = room()
  const narrow = space.width < NARROW && space.height === Infinity
  const tight = space.width < TIGHT && !narrow
  const low = narrow || space.height < LOW
  const [across, down] = facts.size
  const inside = space.width - 2 * PADDING
  const most = narrow ? Infinity : (space.height - 2 * PADDING - (low ? BOXES.low : BOXES.full) - CAPTION - TABLE) / down
  const pixel = Math.floor(Math.max(PIXEL.least, Math.min(PIXEL.most, (inside - GAP) / 2 / across - 1, most)))
  const boxes = facts.kernels.map((_, i) => kernelBox(facts, i, () => step(facts.ends[KERNELS * iteration + i])))
  const target = pictureOf(facts.size, pixel)
  const picture = pictureOf(facts.size, pixel)
  const bytes = atob(facts.target)
  target.paint((i) => [0, 1, 2].map((c) => bytes.charCodeAt(3 * i + c) / 255))
  target.name("the target", "The picture to fit")
  const table = valueTable(facts, narrow, (index) => latest.moment.choose(index))
  const kernels = h("ol", {class: "loop-kernels", "data-mini": ""}, ...boxes.map((box) => h("li", {}, box.el)))
  oneTabStop(kernels, [boxes.map((box) => box.el)], {ArrowLeft: [-1, 0], ArrowRight: [1, 0]})
  const pictures = h("div", {class: "loop-pictures", "data-mini": ""}, target.el, picture.el)

  const paint = (look: Look) => {
    latest = look
    const now = kernelAt(facts.ends, look.step)
    iteration = Math.floor(now.index / KERNELS)
    const started = look.step > 0
    boxes.forEach((box, i) => box.show(started && i === now.index % KERNELS))
    table.paint(look, now.index)
    const draws = now.index % KERNELS === RENDER
    pictures.toggleAttribute("data-here", draws)
    table.el.toggleAttribute("data-here", !draws)
    const [output, last] = [look.memory("outputBuffer"), look.final.memory("outputBuffer")]
    let drawn = 0
    picture.paint((i) => {
      const memory = output?.written(i) ? output : last?.written(i) ? last : null
      const later = memory !== output
      if (!later) drawn++
      return memory && {colour: [0, 1, 2].map((c) => memory.number(i, c) ?? 0), later}
    })
    picture.mark(look.thread)
    picture.name(pictureText(facts, look.step, drawn))
  }
  return {
    el: h("div", {class: classes("loop", narrow && "slim", low && "low", tight && "tight")}, kernels, pictures, table.el),
    paint,
    describe: (look) => `${table.sentence(look, kernelAt(facts.ends, look.step).index)}.`,
    news: (look) => table.changes(look, kernelAt(facts.ends, look.step).index),
  }
}

/**
 * Which iteration drew the picture in view, and how close it is.
 * @param drawn  how many of its pixels are
 */
function pictureText({ends, psnr}: Facts, step: number, drawn: number) {
  const last = Math.floor(ends.filter((end) => end <= step).length / KERNELS) - 1
  if (!drawn || last < 0)
    return psnr.some((fit) => fit !== null) ? "the picture, as it will be drawn" : "the picture is never drawn"
  return `the picture after iteration ${last + 1}: ${(psnr[last] ?? 0).toFixed(1)} dB`
}

/** The kernel at a step: the one that ends there, else the one that runs; the last once all are over. */
export function kernelAt(ends: number[], step: number) {
  const done = ends.filter((end) => end <= step).length
  const over = done === ends.length || (done > 0 && ends[done - 1] === step)
  return {index: Math.min(ends.length - 1, over ? done - 1 : done), over}
}

function kernelBox({kernels, without}: Facts, i: number, go: () => void) {
  const name = classes("loop-box", i === without && "gone")
  const words = i === without ? "left out" : THREADS[i]
  const el = h("button", {type: "button", class: name, onclick: go}, h("b", {}, kernels[i]), h("span", {}, words))
  return {
    el,
    show(current: boolean) {
      el.classList.toggle("on", current)
      el.setAttribute("aria-current", current ? "step" : "false")
    },
  }
}

/**
 * Make rows of buttons one tab stop, the one that had the focus last; arrow keys go from one to the next. One that was clicked does not
 * keep the focus, so that the arrow keys step as before.
 */
function oneTabStop(root: HTMLElement, rows: HTMLElement[][], keys: typeof GRID_AND_ENDS) {
  const all = rows.flat()
  setTabStop(all, 0)
  root.addEventListener("focusin", ({target}) => setTabStop(all, all.indexOf(target as HTMLElement)))
  root.addEventListener("click", ({detail, target}) => {
    if (detail && target instanceof Element) target.closest("button")?.blur()
  })
  onArrows(root, keys, ([across, down], {target}) => {
    const at = all.indexOf(target as HTMLElement)
    const columns = rows[0].length
    const column = Math.max(0, Math.min(columns - 1, (at % columns) + across))
    const row = Math.max(0, Math.min(rows.length - 1, Math.floor(at / columns) + down))
    rows[row][column].focus()
  })
}

/**
 * Every raw value with its gradient. A row for each of both, and a column for each field; in a narrow room a row for each field.
 */
function valueTable(facts: Facts, narrow: boolean, choose: (index: number) => void) {
  const {fields, blobs} = facts
  const gaussians = Array.from({length: blobs}, (_, b) => b)
  const cell = (name: string, index: number) =>
    h("button", {type: "button", class: `loop-cell ${name} num`, onclick: () => choose(index)})
  const values = fields.flatMap((field, f) =>
    gaussians.map((b) => {
      const index = f * blobs + b
      return {index, name: `${field} of Gaussian ${b}`, raw: cell("raw", index), gradient: cell("slope", index)}
    }),
  )
  const word = (name: string, text: string) => h("span", {class: name}, text)
  const of = (b: number) => fields.map((_, f) => values[f * blobs + b])
  const parts = narrow
    ? [
        h("span"),
        ...gaussians.map((b) => word("loop-head", `Gaussian ${b}`)),
        h("span"),
        ...gaussians.flatMap(() => ["raw", "gradient"].map((title) => word("loop-sub", title))),
        ...fields.flatMap((field, f) => [
          word("loop-field", field),
          ...values.slice(f * blobs, (f + 1) * blobs).flatMap(({raw, gradient}) => [raw, gradient]),
        ]),
      ]
    : [
        h("span"),
        ...fields.map((field) => word("loop-sub", field.replace(" of opacity", "").replace(/ (?=\d)/, "\u00a0"))),
        ...gaussians.flatMap((b) => [
          word("loop-field", `Gaussian ${b}`),
          ...of(b).map(({raw}) => raw),
          word("loop-field quiet", "gradient"),
          ...of(b).map(({gradient}) => gradient),
        ]),
      ]
  const rows = narrow
    ? fields.map((_, f) => values.slice(f * blobs, (f + 1) * blobs).flatMap(({raw, gradient}) => [raw, gradient]))
    : gaussians.flatMap((b) => [of(b).map(({raw}) => raw), of(b).map(({gradient}) => gradient)])
  const largest = largestOf(facts)
  const label = {class: "loop-table", role: "group", "aria-label": "Raw values and gradients"}
  const el = h("div", label, ...parts)
  oneTabStop(el, rows, GRID_AND_ENDS)

  const now = (look: Look) => {
    const [raws, gradients] = [look.memory("blobsBuffer"), look.memory("derivBuffer")]
    return (index: number) => ({
      // a cell that no event has touched yet holds what it was given
      value: raws?.number(index) ?? facts.kept[0][0][index],
      slope: floatOf(gradients, index) ?? facts.kept[1][0][index],
    })
  }
  return {
    el,
    /**
     * Paint all values.
     * @param kernel  whose changes are marked
     */
    paint(look: Look, kernel: number) {
      const started = look.step > 0
      const steps = lastSteps(facts, look.step)
      const [rawBefore, gradientBefore] = facts.kept.map((all) => all[kernel])
      const at = now(look)
      for (const {index, name, raw, gradient} of values) {
        const {value, slope} = at(index)
        const own = index === look.thread
        paintCell(raw, value, rawBefore[index], started, own, `${name}, raw value`)
        paintCell(gradient, slope, gradientBefore[index], started, own, `${name}, gradient`)
        const field = Math.floor(index / blobs)
        drawBar(raw, Math.abs(steps[index]) / largest[0][field])
        drawBar(gradient, Math.abs(slope) / largest[1][field])
      }
    },
    /** What a kernel has made of the chosen value, in words. */
    sentence(look: Look, kernel: number) {
      const own = values[look.thread]
      if (!own) return `Thread ${look.thread} has a pixel, but no value`
      const [rawBefore, gradientBefore] = facts.kept.map((all) => all[kernel])
      const {value, slope} = now(look)(own.index)
      if (!look.step) return `${own.name}: ${short(value)}; gradient ${short(slope)}; no kernel has run yet`
      return `${own.name}: ${change(rawBefore[own.index], value)}; gradient ${change(gradientBefore[own.index], slope)}`
    },
    /** The same, without what stays as it was, and without the steps of the first value, which the lesson's sentences name. */
    changes(look: Look, kernel: number) {
      const own = values[look.thread]
      if (!own || !look.step) return `${this.sentence(look, kernel)}.`
      const [rawBefore, gradientBefore] = facts.kept.map((all) => all[kernel])
      const {value, slope} = now(look)(own.index)
      const moved = own.index > 0 && !near(rawBefore[own.index], value)
      const turned = !near(gradientBefore[own.index], slope)
      return [
        moved ? `${own.name} goes from ${short(rawBefore[own.index])} to ${short(value)}.` : "",
        turned ? `The gradient of ${own.name} goes from ${short(gradientBefore[own.index])} to ${short(slope)}.` : "",
      ]
        .filter(Boolean)
        .join(" ")
    },
  }
}

/** The step that the last update up to now took with each value; 0 before the first. */
function lastSteps({ends, kept: [raws]}: Facts, step: number) {
  const done = ends.filter((end) => end <= step).length
  const update = Math.floor((done - UPDATE - 1) / KERNELS) * KERNELS + UPDATE // as a number among all kernels
  return raws[0].map((_, i) => (update < 0 ? 0 : raws[update + 1][i] - raws[update][i]))
}

/** For each field the largest step of the run, and the largest gradient: what bars are measured by. */
function largestOf({fields, blobs, ends, kept: [raws, gradients]}: Facts) {
  const most = (all: number[]) => Math.max(...all.map(Math.abs), Number.MIN_VALUE)
  const updates = ends.flatMap((_, kernel) => (kernel % KERNELS === UPDATE ? [kernel] : []))
  const own = (f: number) => Array.from({length: blobs}, (_, b) => f * blobs + b)
  return [
    fields.map((_, f) => most(updates.flatMap((kernel) => own(f).map((i) => raws[kernel + 1][i] - raws[kernel][i])))),
    fields.map((_, f) => most(gradients.flatMap((at) => own(f).map((i) => at[i])))),
  ]
}

/** @param share  of its width */
const drawBar = (el: HTMLElement, share: number) => el.style.setProperty("--share", Math.min(1, share).toFixed(3))

/** A float whose bits a cell holds. */
function floatOf(memory: MemoryLook | null, index: number) {
  const bits = memory?.number(index) ?? null
  return bits === null ? null : floatFromBits(bits)
}

const near = (a: number, b: number): boolean => Math.abs(a - b) <= 2e-7 * Math.max(1, Math.abs(a)) // facts are rounded

const DECIMALS = 3 // in all cells, so that those of a column are in line

/** A value in its cell; 0 alone is a zero in memory, with decimals it is what a small value is rounded to. */
export function cellText(value: number) {
  if (value === 0) return "0"
  const text = value.toFixed(DECIMALS)
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−")
}

function short(value: number) {
  if (value === 0) return "0"
  if (Math.abs(value) < 5e-7) return "0.000" // all that is left of it is a rounding error
  return value.toFixed(Math.abs(value) >= 0.001 ? 3 : 4).replace("-", "−")
}

export const change = (from: number, to: number) => (near(from, to) ? `stays ${short(to)}` : `${short(from)} → ${short(to)}`)

/** @param before  the kernel */
function paintCell(el: HTMLElement, value: number, before: number, started: boolean, chosen: boolean, name: string) {
  const changed = started && !near(before, value)
  const text = cellText(value)
  if (el.textContent !== text) el.textContent = text
  el.classList.toggle("wr", changed)
  el.classList.toggle("me", chosen)
  el.setAttribute("aria-label", `${name}: ${text}${changed ? `, before ${short(before)}` : ""}`) // what is seen; the title is exact
  el.title = changed ? `${short(value)}, before: ${short(before)}` : short(value)
}

/** A picture of a few pixels, each a square; one that is not written yet is pale. */
function pictureOf([width, height]: [number, number], pixel: number) {
  const at = (i: number) => ({x: (i % width) * pixel, y: Math.floor(i / width) * pixel})
  const [fullWidth, fullHeight] = [width * pixel, height * pixel]
  const attributes = {width: fullWidth + 4, height: fullHeight + 4, role: "img"}
  const svg = s("svg", {viewBox: `-2 -2 ${fullWidth + 4} ${fullHeight + 4}`, ...attributes})
  const pixels = Array.from({length: width * height}, (_, i) => s("rect", {...at(i), width: pixel, height: pixel, fill: "none"}))
  const frame = s("rect", {class: "frame", width: fullWidth, height: fullHeight, fill: "none"})
  const mark = s("rect", {class: "mark", width: pixel, height: pixel, visibility: "hidden"})
  const ground = s("rect", {class: "ground", width: fullWidth, height: fullHeight}) // pale is light, in the dark theme, too
  svg.append(ground, ...pixels, frame, mark)
  const words = h("div", {class: "under-it", "aria-hidden": "true"}) // the picture's name
  return {
    el: h("figure", {role: "none"}, svg, words),
    name: (text: string, spoken = text) => {
      words.textContent = text
      svg.setAttribute("aria-label", spoken)
    },
    paint(colourOf: (i: number) => number[] | {colour: number[]; later: boolean} | null) {
      pixels.forEach((rect, i) => {
        const found = colourOf(i)
        const {colour, later} = Array.isArray(found) ? {colour: found, later: false} : (found ?? {colour: null, later: true})
        setAttributes(rect, {fill: colour ? css(colour) : "none", class: later ? "later" : ""})
      })
    },
    mark: (i: number) => setAttributes(mark, {...at(i), visibility: i >= 0 ? "visible" : "hidden"}),
  }
}
