// Training of one tile: its four kernels, the picture, and every raw value with its gradient as they stand in memory.
import {show} from "#web/drawing/look.js"
import {classes, css, s, setAttributes} from "#web/drawing/svg.js"
import {h} from "#web/shell/dom.js"

/** @import {DrawingHost, DrawingView} from "#web/drawing/types.d.ts" */
/** @import {Look, MemoryLook} from "#web/drawing/look.js" */

/**
 * Memories: blobsBuffer, derivBuffer (bits of floats), outputBuffer.
 * @typedef {object} Facts
 * @property {string[]} fields  of a Gaussian
 * @property {number} blobs  how many Gaussians
 * @property {string[]} kernels
 * @property {number} without  the kernel that is left out, −1 for none
 * @property {number[]} ends  steps at which each kernel of each iteration ends
 * @property {[raw: number[][], gradient: number[][]]} kept  values at first and after each kernel
 * @property {[number, number]} size  of the picture
 * @property {string} target  bytes in base 64
 */

const PIXEL = 22
const KERNELS = 4
const THREADS = ["a thread a value", "a thread a pixel", "a thread a value", "a thread a pixel"]

/**
 * @param {DrawingHost<Facts>} host
 * @returns {DrawingView}
 */
export function draw(host) {
  const {root} = host
  /** @type {ReturnType<typeof build> | null} */
  let drawn = null
  return {
    open() {
      drawn = null
      if (!host.facts.ends) return
      const buttons = () => [...root.querySelectorAll("button")]
      const focused = /** @type {ShadowRoot} */ (root.getRootNode()).activeElement
      const index = /** @type {(Element | null)[]} */ (buttons()).indexOf(focused)
      drawn = build(host)
      root.replaceChildren(drawn.el)
      buttons()[index]?.focus()
    },
    changed() {},
    paint: (look) => drawn?.paint(look),
  }
}

/** @param {DrawingHost<Facts>} host */
function build({facts, step}) {
  /** @type {Look} */
  let latest
  let iteration = 0
  const where = h("p", {class: "loop-where num"})
  const sentence = h("p", {class: "loop-said num"})
  const boxes = facts.kernels.map((_, i) => kernelBox(facts, i, () => step(facts.ends[KERNELS * iteration + i])))
  const target = pictureOf("target", "The picture to fit", facts.size)
  const picture = pictureOf("picture", "The picture as it was rendered last", facts.size)
  const bytes = atob(facts.target)
  target.paint((i) => [0, 1, 2].map((c) => bytes.charCodeAt(3 * i + c) / 255))
  const table = valueTable(facts, (index) => latest.moment.choose(index))
  const kernels = h("ol", {class: "loop-kernels"}, ...boxes.map((box) => h("li", {}, box.el)))
  const pictures = h("div", {class: "loop-pictures"}, target.el, picture.el)

  const paint = (/** @type {Look} */ look) => {
    latest = look
    const now = kernelAt(facts.ends, look.step)
    iteration = Math.floor(now.index / KERNELS)
    const started = look.step > 0
    where.textContent = started ? whereText(facts, now) : "before the first iteration"
    boxes.forEach((box, i) => box.show(started && i === now.index % KERNELS))
    sentence.textContent = table.paint(look, now.index)
    const output = look.memory("outputBuffer")
    picture.paint((i) => (output?.written(i) ? [0, 1, 2].map((c) => output.number(i, c) ?? 0) : null))
    picture.mark(look.thread)
  }
  return {el: h("div", {class: "loop"}, where, kernels, pictures, table.el, sentence), paint}
}

/**
 * The kernel at a step: the one that ends there, else the one that runs; the last once all are over.
 * @param {number[]} ends
 * @param {number} step
 */
export function kernelAt(ends, step) {
  const done = ends.filter((end) => end <= step).length
  const over = done === ends.length || (done > 0 && ends[done - 1] === step)
  return {index: Math.min(ends.length - 1, over ? done - 1 : done), over}
}

/**
 * @param {Facts} facts
 * @param {{index: number, over: boolean}} now
 */
function whereText({kernels, without, ends}, {index, over}) {
  const kernel = index % KERNELS
  const state = kernel === without ? "left out" : over ? "done" : "running"
  return `iteration ${Math.floor(index / KERNELS) + 1} of ${ends.length / KERNELS}, ${kernels[kernel]}: ${state}`
}

/**
 * @param {Facts} facts
 * @param {number} i
 * @param {() => void} go
 */
function kernelBox({kernels, without}, i, go) {
  const name = classes("loop-box", i === without && "gone")
  const words = i === without ? "left out" : THREADS[i]
  const el = h("button", {type: "button", class: name, onclick: go}, h("b", {}, kernels[i]), h("span", {}, words))
  return {
    el,
    show(/** @type {boolean} */ current) {
      el.classList.toggle("on", current)
      el.setAttribute("aria-current", current ? "step" : "false")
    },
  }
}

/**
 * Every raw value beside its gradient: a row a field, a pair of columns a Gaussian.
 * @param {Facts} facts
 * @param {(index: number) => void} choose
 */
function valueTable(facts, choose) {
  const {fields, blobs} = facts
  const gaussians = Array.from({length: blobs}, (_, b) => b)
  const cell = (/** @type {string} */ name, /** @type {number} */ index) =>
    h("button", {type: "button", class: `loop-cell ${name} num`, onclick: () => choose(index)})
  const values = fields.flatMap((field, f) =>
    gaussians.map((b) => {
      const index = f * blobs + b
      return {index, name: `${field} of Gaussian ${b + 1}`, raw: cell("raw", index), gradient: cell("slope", index)}
    }),
  )
  const subtitles = ["raw", "gradient"]
  const head = [
    h("span"),
    ...gaussians.map((b) => h("span", {class: "loop-head"}, `Gaussian ${b + 1}`)),
    h("span"),
    ...gaussians.flatMap(() => subtitles.map((title) => h("span", {class: "loop-sub"}, title))),
  ]
  const rows = fields.flatMap((field, f) => [
    h("span", {class: "loop-field"}, field),
    ...values.slice(f * blobs, (f + 1) * blobs).flatMap(({raw, gradient}) => [raw, gradient]),
  ])
  const label = {class: "loop-table", role: "group", "aria-label": "Raw values and gradients"}

  /**
   * Paint all values; returns the sentence about the chosen one.
   * @param {Look} look
   * @param {number} kernel  whose changes are marked
   */
  const paint = (look, kernel) => {
    const started = look.step > 0
    const chosen = look.thread < values.length ? look.thread : -1
    const [rawBefore, gradientBefore] = facts.kept.map((all) => all[kernel])
    const raws = look.memory("blobsBuffer")
    const gradients = look.memory("derivBuffer")
    let sentence = `thread ${look.thread} has a pixel, and no value`
    for (const {index, name, raw, gradient} of values) {
      // a cell that no event has touched yet holds what it was given
      const value = raws?.number(index) ?? facts.kept[0][0][index]
      const slope = floatOf(gradients, index) ?? facts.kept[1][0][index]
      const own = index === chosen
      paintCell(raw, value, rawBefore[index], started, own, `${name}, raw value`)
      paintCell(gradient, slope, gradientBefore[index], started, own, `${name}, gradient`)
      if (own) sentence = `${name}: ${change(rawBefore[index], value)}; gradient ${change(gradientBefore[index], slope)}`
    }
    return sentence
  }
  return {el: h("div", label, ...head, ...rows), paint}
}

const FLOAT = new DataView(new ArrayBuffer(4))

/**
 * A float whose bits a cell holds.
 * @param {MemoryLook | null} memory
 * @param {number} index
 */
function floatOf(memory, index) {
  const bits = memory?.number(index) ?? null
  if (bits === null) return null
  FLOAT.setUint32(0, bits)
  return FLOAT.getFloat32(0)
}

/** @type {(a: number, b: number) => boolean} */
const near = (a, b) => Math.abs(a - b) <= 2e-7 * Math.max(1, Math.abs(a)) // facts are rounded

/** @param {number} value */
function short(value) {
  if (value === 0) return "0"
  return Math.abs(value) >= 0.01 ? value.toFixed(3).replace("-", "−") : show(Number(value.toPrecision(2)), 2)
}

/**
 * @param {number} from
 * @param {number} to
 */
export const change = (from, to) => (near(from, to) ? `stays ${short(to)}` : `${short(from)} → ${short(to)}`)

/**
 * @param {HTMLElement} el
 * @param {number} value
 * @param {number} before  the kernel
 * @param {boolean} started
 * @param {boolean} chosen
 * @param {string} name
 */
function paintCell(el, value, before, started, chosen, name) {
  const changed = started && !near(before, value)
  const text = short(value)
  if (el.textContent !== text) el.textContent = text
  el.classList.toggle("wr", changed)
  el.classList.toggle("me", chosen)
  el.setAttribute("aria-label", `${name}: ${text}${changed ? `, before ${short(before)}` : ""}`)
  el.title = changed ? `before: ${short(before)}` : ""
}

/**
 * A picture of a few pixels, each a square; one that is not written yet is empty.
 * @param {string} caption
 * @param {string} label
 * @param {[number, number]} size
 */
function pictureOf(caption, label, [width, height]) {
  const at = (/** @type {number} */ i) => ({x: (i % width) * PIXEL, y: Math.floor(i / width) * PIXEL})
  const [fullWidth, fullHeight] = [width * PIXEL + 4, height * PIXEL + 4]
  const attributes = {width: fullWidth, height: fullHeight, role: "img", "aria-label": label}
  const svg = s("svg", {viewBox: `-2 -2 ${fullWidth} ${fullHeight}`, ...attributes})
  const pixels = Array.from({length: width * height}, (_, i) => s("rect", {...at(i), width: PIXEL, height: PIXEL}))
  const mark = s("rect", {class: "mark", width: PIXEL, height: PIXEL, visibility: "hidden"})
  svg.append(...pixels, mark)
  return {
    el: h("figure", {}, svg, h("figcaption", {}, caption)),
    paint(/** @type {(i: number) => number[] | null} */ colourOf) {
      pixels.forEach((pixel, i) => {
        const colour = colourOf(i)
        setAttributes(pixel, {fill: colour ? css(colour) : "none"})
      })
    },
    mark: (/** @type {number} */ i) => setAttributes(mark, {...at(i), visibility: i >= 0 ? "visible" : "hidden"}),
  }
}
