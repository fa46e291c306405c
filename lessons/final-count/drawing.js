// A pixel's walk through its list and back: to the right the place in the list, upward finalCount. Below, the layers and T.
//
// facts: count, blended, guarded. Memories: there, back (C, T), thereCount, backCount.
import {h} from "#web/shell/dom.js"
import {show} from "#web/drawing/look.js"
import {s, set} from "#web/drawing/svg.js"

const LEFT = 54,
  RIGHT = 20,
  TOP = 30,
  BARS = 64,
  OPAQUE = 1 / 255,
  LEAST = 1e-4

export function draw(host) {
  let drawn = null
  return {
    open() {
      drawn = host.facts.count === undefined ? null : make(host)
      host.root.replaceChildren(...(drawn ? [drawn.el] : []))
    },
    paint(look) {
      drawn?.paint(look)
    },
    resized(look) {
      if (drawn) {
        this.open()
        drawn.paint(look)
      }
    },
  }
}

function make({root, facts}) {
  const {count, blended, guarded} = facts,
    lowest = guarded ? 0 : Math.min(0, blended - count)
  const width = Math.max(280, root.clientWidth),
    cell = (width - LEFT - RIGHT) / count
  const tall = Math.min(cell, Math.max(14, 300 / (count - lowest))),
    x = (i) => LEFT + i * cell,
    y = (n) => TOP + (count - n) * tall
  const foot = y(lowest) + 42,
    ground = foot + 58 + BARS,
    height = ground + 20
  const svg = s("svg", {
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    class: "stair",
    role: "img",
    "aria-label": `finalCount on a walk through ${count} layers and back`,
  })
  const text = (px, py, words, attributes = {}) => {
    const el = s("text", {x: px, y: py, ...attributes}, words)
    svg.append(el)
    return el
  }

  // where index > finalCount
  svg.append(
    s(
      "defs",
      {},
      s(
        "pattern",
        {id: "beyond", width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)"},
        s("path", {class: "beyond-line", d: "M0 0V7"}),
      ),
    ),
  )
  svg.append(s("path", {class: "beyond", d: `M${x(0)} ${y(0)}L${x(count)} ${y(count)}V${y(lowest)}H${x(0)}Z`}))
  const ticks = count - lowest > 12 ? 2 : 1
  for (let n = lowest; n <= count; n++) {
    svg.append(s("path", {class: "grid", d: `M${x(0)} ${y(n)}H${x(count)}`}))
    if (n % ticks === 0) text(LEFT - 10, y(n) + 4, n < 0 ? `−${-n}` : String(n), {"text-anchor": "end", class: "m"})
  }
  text(8, 16, "finalCount", {class: "m"})
  svg.append(s("path", {class: "diagonal", d: `M${x(0)} ${y(0)}L${x(count)} ${y(count)}`}))
  if (cell * count > 400) {
    text(x(count) - 10, y(lowest) - 12, "here index > finalCount: skip", {"text-anchor": "end", class: "aside"})
    text(x(count * 0.36), y(count * 0.36) - 14, "here they are equal: undo", {"text-anchor": "end", class: "aside"})
  }
  const band = s("rect", {class: "band", y: TOP - 8, height: ground - TOP + 8, rx: 4}),
    there = s("path", {class: "there"}),
    back = s("path", {class: "back"})
  const ring = s("circle", {class: "place", r: 7}),
    label = s("text", {class: "m now"}),
    act = s("text", {class: "m act", "text-anchor": "middle"})

  // the layers: number above, place in the array below; T from 1 at the top, 1e-4 at the bottom
  const level = (T) => ground - BARS + BARS * Math.min(1, Math.max(0, Math.log(T) / Math.log(LEAST)))
  text(8, foot + 4, "layer", {class: "m"})
  text(8, foot + 27, "layers[ ]", {class: "m small"})
  text(8, ground - BARS + 8, "T")
  svg.insertBefore(band, svg.children[1])
  const crowded = cell < 22
  const layers = Array.from({length: count}, (_, i) => {
    const middle = (x(i) + x(i + 1)) / 2,
      disc = s("circle", {cx: middle, cy: foot, r: Math.min(10, cell * 0.42), class: "ld"}),
      number = s(
        "text",
        {x: middle, y: foot + 4, "text-anchor": "middle", class: "no"},
        crowded && i % 2 === 0 ? "" : String(i + 1),
      )
    const bar = s("path", {class: "tb"}),
      tick = s("path", {class: "tt"}),
      place = s(
        "text",
        {x: middle, y: foot + 27, "text-anchor": "middle", class: "m small"},
        crowded && i % 2 === 0 ? "" : String(i),
      )
    svg.append(disc, number, place, bar, tick)
    return {disc, bar, tick, place}
  })
  const threshold = level(OPAQUE)
  svg.append(s("path", {class: "limit", d: `M${x(0)} ${threshold}H${x(count)}`}), there, back, ring, label, act)
  text(LEFT - 6, threshold + 4, "1/255", {"text-anchor": "end"})
  const words = h("p", {class: "vh", role: "status"})

  const paint = (look) => {
    const up = look.memory("thereCount"),
      down = look.memory("backCount"),
      T = look.memory("there"),
      U = look.memory("back")
    const signed = (value) => (value > 0x7fffffff ? value - 0x100000000 : value)
    const went = [],
      came = []
    for (let i = 0; i <= count && up.written(i); i++) went.push([x(i), y(up.number(i))])
    for (let i = count; i >= 0 && down.written(i); i--) came.push([x(i), y(signed(down.number(i)))])
    const path = (points) => (points.length ? `M${points.map((point) => point.join(" ")).join("L")}` : "")
    set(there, {d: path(went)})
    set(back, {d: path(came)})
    const turned = came.length > 1,
      at = turned ? count + 1 - came.length : Math.max(0, went.length - 1),
      known = went.length > 0
    const [px, py] = (turned ? came : went).at(-1) ?? [x(0), y(0)],
      value = turned ? down.number(at) : known ? up.number(at) : 0
    set(ring, {cx: px, cy: py, visibility: known ? "visible" : "hidden"})
    const right = px > width - 110
    set(label, {
      x: px + (right ? -13 : 13),
      y: py + (turned ? 19 : -10),
      "text-anchor": right ? "end" : "start",
      visibility: known ? "visible" : "hidden",
    })
    label.textContent = show(value)
    const layer = turned ? at + 1 : at // the one just walked, 0 before the first
    set(band, {x: x(Math.max(0, layer - 1)), width: cell, visibility: layer > 0 ? "visible" : "hidden"})
    const moved = layer > 0 && (turned ? down.number(at) !== down.number(layer) : up.number(layer) !== up.number(layer - 1))
    const done = layer === 0 ? "" : turned ? (moved ? "undo" : "skip") : moved ? "blend" : "leave out"
    act.textContent = done
    set(act, {x: Math.max(118, Math.min(width - 34, x(Math.max(0, layer - 0.5)))), y: TOP - 14})
    layers.forEach(({disc, bar, tick, place}, i) => {
      const written = up.written(i + 1),
        before = U.written(i) ? U.number(i, 3) : null
      disc.setAttribute("class", `ld${written && up.number(i + 1) === up.number(i) ? " out" : ""}${i + 1 === layer ? " now" : ""}`)
      place.setAttribute("class", `m small${i + 1 === layer ? " now" : ""}`)
      set(bar, {d: written ? `M${x(i) + cell * 0.2} ${level(T.number(i + 1, 3))}h${cell * 0.6}` : ""})
      const after = U.written(i + 1) ? level(U.number(i + 1, 3)) : null
      set(tick, {
        d: after === null || (i + 1 === count && before === null && !turned) ? "" : `M${x(i) + cell * 0.1} ${after}h${cell * 0.8}`,
      })
    })
    words.textContent = done ? `Layer ${layer}: ${done}. finalCount is ${value}.` : ""
  }
  return {el: h("div", {}, svg, words), paint}
}
