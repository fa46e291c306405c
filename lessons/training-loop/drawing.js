// Training of one tile: its four kernels, the picture, and every raw value with its gradient as they stand in memory.
//
// facts: fields, blobs, kernels [names], without (the one left out, -1), ends [step of each kernel's end], size, target (bytes, base 64),
//   kept [raw, gradient][at first and after each kernel][value]
// Memories: blobsBuffer, derivBuffer (bits of floats), outputBuffer.
import {h} from "#web/shell/dom.js"
import {show} from "#web/drawing/look.js"
import {s, set} from "#web/drawing/svg.js"

const CELL = 22
const THREADS = ["a thread a value", "a thread a pixel", "a thread a value", "a thread a pixel"]

export function draw(host) {
  const {root} = host
  let look = null,
    parts = null

  const build = () => {
    const {fields, blobs, kernels, without, size} = host.facts
    const boxes = kernels.map((name, i) => {
      const el = h(
        "button",
        {type: "button", class: `lop-box${i === without ? " gone" : ""}`},
        h("b", {}, name),
        h("span", {}, i === without ? "left out" : THREADS[i]),
      )
      el.onclick = () => host.step(host.facts.ends[4 * parts.turn + i])
      return h("li", {}, el)
    })
    const [target, picture] = ["target", "picture"].map((name) => sheet(name, size))
    target.paint((i) => [0, 1, 2].map((c) => atob(host.facts.target).charCodeAt(3 * i + c) / 255))
    const cells = fields.map((field, f) =>
      Array.from({length: blobs}, (_, b) => {
        const index = f * blobs + b,
          name = `${field} of Gaussian ${b + 1}`
        const raw = h("button", {type: "button", class: "lop-cell raw num"}),
          slope = h("button", {type: "button", class: "lop-cell slope num"})
        for (const el of [raw, slope]) el.onclick = () => look.moment.choose(index)
        return {index, name, raw, slope}
      }),
    )
    const head = [
      h("span"),
      ...Array.from({length: blobs}, (_, b) => h("span", {class: "lop-head"}, `Gaussian ${b + 1}`)),
      h("span"),
      ...Array.from({length: blobs}, () => [
        h("span", {class: "lop-sub"}, "raw"),
        h("span", {class: "lop-sub"}, "gradient"),
      ]).flat(),
    ]
    const rows = cells.flatMap((row, f) => [
      h("span", {class: "lop-field"}, fields[f]),
      ...row.flatMap((one) => [one.raw, one.slope]),
    ])
    const where = h("p", {class: "lop-where num"}),
      said = h("p", {class: "lop-said num"})
    root.replaceChildren(
      h(
        "div",
        {class: "lop"},
        where,
        h("ol", {class: "lop-kernels"}, ...boxes),
        h("div", {class: "lop-sheets"}, target.el, picture.el),
        h("div", {class: "lop-table", role: "group", "aria-label": "Raw values and gradients"}, ...head, ...rows),
        said,
      ),
    )
    parts = {boxes, picture, cells: cells.flat(), where, said, turn: 0}
  }

  const paint = () => {
    const {ends, kept, kernels, blobs, fields, without} = host.facts
    const done = ends.filter((step) => step <= look.step).length,
      ended = done > 0 && ends[done - 1] === look.step
    const now = Math.min(ends.length - 1, ended || done === ends.length ? done - 1 : done),
      started = look.step > 0
    const turn = (parts.turn = Math.floor(now / 4)),
      before = kept.map((all) => all[now])
    parts.where.textContent = started
      ? `iteration ${turn + 1} of ${ends.length / 4}, ${kernels[now % 4]}: ${now % 4 === without ? "left out" : ended || done === ends.length ? "done" : "running"}`
      : "before the first iteration"
    parts.boxes.forEach((li, i) => {
      const on = started && i === now % 4
      li.firstChild.classList.toggle("on", on)
      li.firstChild.setAttribute("aria-current", on ? "step" : "false")
    })
    const raw = look.memory("blobsBuffer"),
      slope = look.memory("derivBuffer"),
      chosen = look.thread < fields.length * blobs ? look.thread : -1
    for (const one of parts.cells) {
      // a cell that no event has touched yet holds what it was given
      const value = raw?.number(one.index) ?? kept[0][0][one.index],
        gradient = slope && slope.number(one.index) !== null ? float(slope.number(one.index)) : kept[1][0][one.index]
      put(one.raw, value, before[0][one.index], started, one.index === chosen, `${one.name}, raw value`)
      put(one.slope, gradient, before[1][one.index], started, one.index === chosen, `${one.name}, gradient`)
      if (one.index === chosen)
        parts.said.textContent = `${one.name}: ${change(before[0][one.index], value)}; gradient ${change(before[1][one.index], gradient)}`
    }
    if (chosen < 0) parts.said.textContent = `thread ${look.thread} has a pixel, and no value`
    const pixels = look.memory("outputBuffer")
    parts.picture.paint((i) => (pixels?.written(i) ? [0, 1, 2].map((c) => pixels.number(i, c)) : null))
    parts.picture.mark(look.thread)
  }

  return {
    open(now) {
      look = now
      parts = null
      if (!host.facts.ends) return
      const all = () => [...root.querySelectorAll("button")],
        at = all().indexOf(root.getRootNode().activeElement)
      build()
      all()[at]?.focus()
    },
    changed() {},
    paint(now) {
      look = now
      if (parts) paint()
    },
  }
}

const bits = new DataView(new ArrayBuffer(4))
const float = (word) => {
  bits.setUint32(0, word)
  return bits.getFloat32(0)
}
const near = (a, b) => Math.abs(a - b) <= 2e-7 * Math.max(1, Math.abs(a)) // facts are rounded
const short = (value) =>
  value === 0 ? "0" : Math.abs(value) >= 0.01 ? value.toFixed(3).replace("-", "−") : show(Number(value.toPrecision(2)), 2)
const change = (from, to) => (near(from, to) ? `stays ${short(to)}` : `${short(from)} → ${short(to)}`)

function put(el, value, before, started, chosen, name) {
  const changed = started && !near(before, value),
    text = short(value)
  if (el.textContent !== text) el.textContent = text
  el.classList.toggle("wr", changed)
  el.classList.toggle("me", chosen)
  el.setAttribute("aria-label", `${name}: ${text}${changed ? `, before ${short(before)}` : ""}`)
  el.title = changed ? `before: ${short(before)}` : ""
}

// A picture of a few pixels, each a square; one that is not written yet is empty.
function sheet(name, [width, height]) {
  const svg = s("svg", {
    viewBox: `-2 -2 ${width * CELL + 4} ${height * CELL + 4}`,
    width: width * CELL + 4,
    height: height * CELL + 4,
    role: "img",
    "aria-label": name === "target" ? "The picture to fit" : "The picture as it was rendered last",
  })
  const rects = Array.from({length: width * height}, (_, i) =>
    s("rect", {x: (i % width) * CELL, y: Math.floor(i / width) * CELL, width: CELL, height: CELL}),
  )
  const mark = s("rect", {class: "mark", width: CELL, height: CELL, visibility: "hidden"})
  svg.append(...rects, mark)
  return {
    el: h("figure", {}, svg, h("figcaption", {}, name)),
    paint(colour) {
      rects.forEach((rect, i) => {
        const rgb = colour(i)
        set(rect, {fill: rgb ? `rgb(${rgb.map((value) => Math.round(255 * Math.min(1, Math.max(0, value)))).join(" ")})` : "none"})
      })
    },
    mark(i) {
      set(mark, {x: (i % width) * CELL, y: Math.floor(i / width) * CELL, visibility: i >= 0 ? "visible" : "hidden"})
    },
  }
}
