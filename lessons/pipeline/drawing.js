// A tile's way through the stages: boxes with their tokens, the shared list as it stands, the pixels that have their colour.
import {canvas, classes, css, laneMark, s} from "#web/drawing/svg.js"
import {h} from "#web/shell/dom.js"

/** @import {DrawingHost, DrawingView} from "#web/drawing/types.d.ts" */
/** @import {Look} from "#web/drawing/look.js" */
/** @import {Recording} from "#web/stepper/model/recording.js" */

/**
 * @typedef {object} Stage
 * @property {string} name  of its function
 * @property {string} title
 * @property {string} token  the type that it returns
 * @property {number} begin  step
 * @property {number} end  step
 *
 * @typedef {object} Facts
 * @property {Stage[]} stages
 * @property {number} count  ids in the list
 * @property {number} padded  cells of the list
 * @property {number} wide  pixels across
 * @property {number[]} drawn  step at which each thread's pixel is written
 */

const SMOOTH = 4 // the first stage through which a derivative goes
const PADDING = 0xffffffff
const PIXEL = 22

/**
 * @param {DrawingHost<Facts>} host
 * @returns {DrawingView}
 */
export function draw(host) {
  /** @type {ReturnType<typeof build> | null} */
  let drawn = null
  return {
    open(look) {
      drawn = host.facts.stages ? build(host.facts, stageEntries(look.recording, host.facts.stages)) : null
      host.root.replaceChildren(...(drawn?.el ?? []))
    },
    paint: (look) => drawn?.paint(look),
  }
}

/**
 * @param {Facts} facts
 * @param {StageEntry[][]} entries  by thread
 */
function build(facts, entries) {
  const boxes = facts.stages.map((_, i) => stageBox(facts, i))
  const list = sharedList(facts)
  const counters = ["blobCountAT", "blobCount"].map(counter)
  const picture = pictureOfTile(facts)
  const counts = h("div", {class: "stage-counters"}, ...counters.map((one) => one.el))
  const memory = h("div", {}, h("p", {class: "stage-name"}, "blobs"), list.el, counts)
  return {
    el: [
      h("ol", {class: "stage-row"}, ...boxes.map((box) => box.el)),
      h("p", {class: "stage-note"}, "whole numbers, in jumps", h("span", {}, "smooth: gradients flow")),
      h("div", {class: "stage-below"}, memory, h("div", {}, h("p", {class: "stage-name"}, "picture"), picture.el)),
    ],
    paint(/** @type {Look} */ look) {
      const within = entries.map((own, thread) => stageOf(look, thread, own))
      for (const box of boxes) box.paint(look, within)
      list.paint(look)
      for (const one of counters) one.paint(look)
      picture.paint(look)
    },
  }
}

/** @typedef {{turn: number, stage: number}} StageEntry  number of the thread's event that enters a stage, and which */

/**
 * The stages that each thread enters, with the number of its event that does.
 * @param {Recording} recording
 * @param {Stage[]} stages
 */
function stageEntries(recording, stages) {
  const numbers = new Map(stages.map(({name}, i) => [name, i]))
  /** @type {StageEntry[][]} */
  const entries = Array.from({length: recording.threads}, () => [])
  for (let event = 0; event < recording.length; event++) {
    const site = recording.about(event)
    const stage = site.kind === "call" ? numbers.get(site.name ?? "") : undefined
    if (stage !== undefined) entries[recording.thread[event]].push({turn: recording.turn[event], stage})
  }
  return entries
}

/**
 * The stage a thread is in, the last it entered; −1 before the first and once the thread is done.
 * @param {Look} look
 * @param {number} thread
 * @param {StageEntry[]} entries
 */
function stageOf(look, thread, entries) {
  if (look.status(thread) === "done") return -1
  const done = look.state.done(thread)
  return entries.findLast(({turn}) => turn < done)?.stage ?? -1
}

/**
 * A stage, with the threads that are in it.
 * @param {Facts} facts
 * @param {number} i
 */
function stageBox({stages, wide, drawn}, i) {
  const {title, token, begin, end} = stages[i]
  const map = canvas(52, 26, {"aria-hidden": "true"})
  const lanes = drawn.map((_, t) => laneMark(3.5 + (t % wide) * 6.4, 3.5 + Math.floor(t / wide) * 6.4, 2.4))
  map.append(...lanes.map((lane) => lane.el))
  const words = h("span", {class: "stage-token"}, token.replace("ShortList", "\u200bShortList"))
  const el = h("li", {class: classes("stage-box", i === SMOOTH && "smooth")}, h("b", {}, title), map, words)
  return {
    el,
    /**
     * @param {Look} look
     * @param {number[]} within  the stage of each thread
     */
    paint(look, within) {
      const current = within.includes(i)
      el.classList.toggle("stage-on", current)
      el.classList.toggle("past", look.step >= end && !current)
      el.classList.toggle("ahead", look.step < begin)
      el.setAttribute("aria-current", current ? "step" : "false")
      lanes.forEach((lane, thread) => {
        lane.el.setAttribute("visibility", within[thread] === i ? "visible" : "hidden")
        if (within[thread] === i) lane.show(look.status(thread), thread === look.thread)
      })
    },
  }
}

/**
 * The shared list: a cell an id. A click has the stepper follow it.
 * @param {Facts} facts
 */
function sharedList({padded, count}) {
  /** @type {Look | null} */
  let latest = null
  const cells = Array.from({length: Math.max(8, padded)}, (_, i) => {
    const onclick = () => latest?.memory("blobs")?.follow(i)
    return h("button", {type: "button", class: "cell", title: `blobs[${i}]`, onclick})
  })
  const paint = (/** @type {Look} */ look) => {
    latest = look
    const memory = look.memory("blobs")
    cells.forEach((cell, i) => {
      const id = memory?.number(i) ?? null
      const padding = id === PADDING
      const beyond = i >= count && id !== null && !padding
      cell.textContent = id === null ? "" : padding ? "∞" : String(id)
      cell.className = classes(`cell ${memory?.touched(i) ?? ""}`, padding && "pad", beyond && "beyond")
      cell.setAttribute("aria-label", `blobs[${i}]: ${nameOf(id)}`)
    })
  }
  return {el: h("div", {class: "stage-list"}, ...cells), paint}
}

/** @param {number | null} id */
function nameOf(id) {
  if (id === null) return "not written yet"
  return id === PADDING ? "padding" : `Gaussian ${id}`
}

/** @param {string} name */
function counter(name) {
  const cell = h("span", {class: "cell"})
  const paint = (/** @type {Look} */ look) => {
    const memory = look.memory(name)
    cell.textContent = String(memory?.number(0) ?? "")
    cell.className = `cell ${memory?.touched(0) ?? ""}`
  }
  return {el: h("label", {}, h("code", {}, name), cell), paint}
}

/**
 * The pixels of the tile, each once its thread has written it.
 * @param {Facts} facts
 */
function pictureOfTile({wide, drawn}) {
  const height = (drawn.length / wide) * PIXEL
  const pixels = drawn.map((_, t) =>
    s("rect", {x: (t % wide) * PIXEL, y: Math.floor(t / wide) * PIXEL, width: PIXEL, height: PIXEL, class: "px"}),
  )
  const attributes = {role: "img", "aria-label": "The pixels of the tile", class: "stage-tile"}
  const el = canvas(wide * PIXEL, height, attributes, ...pixels)
  const paint = (/** @type {Look} */ look) => {
    const memory = look.memory("picture")
    pixels.forEach((pixel, thread) => {
      const colour = [0, 1, 2].map((part) => memory?.number(thread, part) ?? 0)
      pixel.setAttribute("style", look.step >= drawn[thread] ? `fill: ${css(colour)}` : "")
    })
  }
  return {el, paint}
}
