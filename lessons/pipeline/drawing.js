// A tile's way through the stages: boxes with their tokens, the shared list as it stands, the pixels that have their colour.
//
// facts: stages [{title, token, begin, end}], count (ids in the list), padded, wide (pixels across), drawn [step of each thread]
import {h} from "#web/shell/dom.js"
import {lane, s} from "#web/drawing/svg.js"

const SMOOTH = 4 // the first stage through which a derivative goes
const PADDING = 0xffffffff

export function draw(host) {
  let parts = null

  const open = () => {
    const {stages, padded, wide, drawn} = host.facts
    if (!stages) {
      parts = null
      return host.root.replaceChildren()
    }
    const boxes = stages.map(({title, token}, i) => {
      const seats = s("svg", {viewBox: "0 0 52 26", width: 52, height: 26, "aria-hidden": "true"})
      const lanes = drawn.map((_, t) => lane(3.5 + (t % wide) * 6.4, 3.5 + Math.floor(t / wide) * 6.4, 2.4))
      seats.append(...lanes.map((one) => one.el))
      const el = h(
        "li",
        {class: `stg${i === SMOOTH ? " smooth" : ""}`},
        h("b", {}, title),
        seats,
        h("span", {class: "stg-token"}, token.replace("ShortList", "\u200bShortList")),
      )
      return {el, lanes}
    })
    const cells = Array.from({length: Math.max(8, padded)}, (_, i) =>
      h("button", {type: "button", class: "cell", title: `blobs[${i}]`}),
    )
    const counters = ["blobCountAT", "blobCount"].map((name) => [name, h("span", {class: "cell"})])
    const size = 22,
      tile = s("svg", {
        viewBox: `0 0 ${wide * size} ${(drawn.length / wide) * size}`,
        width: wide * size,
        height: (drawn.length / wide) * size,
        role: "img",
        "aria-label": "The pixels of the tile",
        class: "stg-tile",
      })
    const pixels = drawn.map((_, t) =>
      s("rect", {x: (t % wide) * size, y: Math.floor(t / wide) * size, width: size, height: size, class: "px"}),
    )
    tile.append(...pixels)
    host.root.replaceChildren(
      h("ol", {class: "stg-row"}, ...boxes.map((box) => box.el)),
      h("p", {class: "stg-note"}, "whole numbers, in jumps", h("span", {}, "smooth: gradients flow")),
      h(
        "div",
        {class: "stg-below"},
        h(
          "div",
          {},
          h("p", {class: "stg-name"}, "blobs"),
          h("div", {class: "stg-list"}, ...cells),
          h("div", {class: "stg-counters"}, ...counters.map(([name, cell]) => h("label", {}, h("code", {}, name), cell))),
        ),
        h("div", {}, h("p", {class: "stg-name"}, "picture"), tile),
      ),
    )
    parts = {boxes, cells, counters, pixels}
    cells.forEach((cell, i) => {
      cell.onclick = () => parts.look?.memory("blobs")?.follow(i)
    })
  }

  const paint = (look) => {
    if (!parts) return
    parts.look = look
    const {stages, drawn, count} = host.facts,
      list = look.memory("blobs")
    const within = drawn.map((_, t) => stageOf(look, t, stages))
    parts.boxes.forEach(({el, lanes}, i) => {
      const {begin, end} = stages[i],
        lit = within.includes(i)
      el.classList.toggle("stg-on", lit)
      el.classList.toggle("past", look.step >= end && !lit)
      el.setAttribute("aria-current", lit ? "step" : "false")
      lanes.forEach((one, t) => {
        one.el.setAttribute("visibility", within[t] === i ? "visible" : "hidden")
        if (within[t] === i) one.show(look.status(t), t === look.thread)
      })
      el.classList.toggle("ahead", look.step < begin)
    })
    parts.cells.forEach((cell, i) => {
      const id = list?.number(i) ?? null,
        touched = list?.touched(i) ?? ""
      cell.textContent = id === null ? "" : id === PADDING ? "∞" : id
      cell.className = `cell ${touched}${id === PADDING ? " pad" : ""}${i >= count && id !== null && id !== PADDING ? " beyond" : ""}`
      cell.setAttribute(
        "aria-label",
        `blobs[${i}]: ${id === null ? "not written yet" : id === PADDING ? "padding" : `Gaussian ${id}`}`,
      )
    })
    for (const [name, cell] of parts.counters) {
      const memory = look.memory(name)
      cell.textContent = memory?.number(0) ?? ""
      cell.className = `cell ${memory?.touched(0) ?? ""}`
    }
    const picture = look.memory("picture")
    parts.pixels.forEach((pixel, t) => {
      const byte = (part) => Math.round(Math.min(1, Math.max(0, picture?.number(t, part) ?? 0)) * 255)
      pixel.setAttribute("style", look.step >= drawn[t] ? `fill: rgb(${byte(0)} ${byte(1)} ${byte(2)})` : "")
    })
  }
  return {open, paint}
}

// The stage a thread is in: the last it entered; none before the first and after its pixel is written.
function stageOf(look, thread, stages) {
  const {recording} = look
  recording.entered ??= entries(recording, stages)
  const turns = recording.entered[thread],
    done = look.state.done(thread)
  let found = -1
  for (const [turn, stage] of turns) if (turn < done) found = stage
  return look.status(thread) === "done" ? -1 : found
}

// Of each thread: [its how manieth event, which stage it enters with it].
function entries(recording, stages) {
  const names = new Map(stages.map(({name}, i) => [name, i])),
    found = Array.from({length: recording.threads}, () => [])
  for (let e = 0; e < recording.length; e++) {
    const site = recording.about(e)
    if (site.kind === "call" && names.has(site.name)) found[recording.thread[e]].push([recording.turn[e], names.get(site.name)])
  }
  return found
}
