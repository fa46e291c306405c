// A derivative link by link: a small picture whose pixels are threads, what each asks for, and the chain of the chosen one.
//
// facts: size [across, down], most (the largest gradient of a pixel), sum (of all), blob (the chosen Gaussian),
// ellipses [[x, y, σ1, σ2, angle, r, g, b]], links from the loss down to p:
// [{name, by (what made it), parts: [{name, value, moves, gradient: expressions, once: what has to be there first}]}]
// Variables: color.p (a pixel's), difference. Buffer: gradient (of each pixel).
import {h} from "#web/shell/dom.js"
import {show} from "#web/drawing/look.js"
import {onArrows} from "#web/drawing/arrows.js"
import {s, set} from "#web/drawing/svg.js"

const GAP = 14,
  PAD = 32,
  NARROW = 520
const rgb = (c) => `rgb(${c.map((x) => Math.round(255 * Math.min(1, Math.max(0, x)))).join(" ")})`
const digits = (value) => (value === 0 ? "0" : show(Number(value.toPrecision(3)), 3))

export function draw(host) {
  let drawn = null,
    latest = null
  const choose = (thread) => latest?.moment.choose(thread)
  const build = (look) => {
    if (!host.facts.links) return
    latest = look
    drawn = {maps: maps(host, choose, () => latest.thread), links: links(host.facts.links), width: host.root.clientWidth}
    host.root.replaceChildren(h("div", {class: "chn"}, drawn.maps.el, drawn.links.el))
  }
  const paint = (look) => {
    if (!drawn) return
    latest = look
    drawn.maps.paint(look)
    drawn.links.paint(look)
  }
  return {
    open: build,
    paint,
    resized(look) {
      if (drawn && host.root.clientWidth !== drawn.width) {
        build(look)
        paint(look)
      }
    },
  }
}

// The picture with its Gaussians, and each pixel's gradient.
function maps({root, facts, set: tell}, choose, chosen) {
  const [across, down] = facts.size,
    count = across * down,
    room = root.clientWidth - PAD,
    narrow = room < NARROW
  const cell = Math.floor((narrow ? room : (room - GAP) / 2) / across)
  const sheet = (attributes, ...inside) => {
    const at = (i) => ({x: (i % across) * cell, y: Math.floor(i / across) * cell, width: cell, height: cell})
    const cells = Array.from({length: count}, (_, i) => s("rect", {...at(i), class: "chn-px"})),
      mark = s("rect", {class: "chn-mark"})
    const svg = s(
      "svg",
      {width: cell * across, height: cell * down, viewBox: `0 0 ${cell * across} ${cell * down}`, ...attributes},
      ...cells,
      ...inside,
      mark,
    )
    svg.onclick = (event) => {
      const box = svg.getBoundingClientRect(),
        x = Math.floor((event.clientX - box.left) / cell),
        y = Math.floor((event.clientY - box.top) / cell)
      if (x >= 0 && y >= 0 && x < across && y < down) choose(y * across + x)
    }
    return {svg, cells, mark: (i) => set(mark, at(i))}
  }
  const shapes = facts.ellipses.flatMap(([x, y, a, b, angle], i) =>
    ["halo", "line"].map((kind) =>
      s("ellipse", {
        rx: 2 * a * cell,
        ry: 2 * b * cell,
        class: `chn-e ${kind}${i === facts.blob ? " own" : ""}`,
        transform: `translate(${(x + 0.5) * cell} ${(y + 0.5) * cell}) rotate(${(angle * 180) / Math.PI})`,
      }),
    ),
  )
  const names = facts.ellipses.map(([x, y], i) =>
    h(
      "button",
      {
        type: "button",
        class: "chn-no",
        "aria-pressed": String(i === facts.blob),
        "aria-label": `Gaussian ${i}`,
        style: `left: ${(x + 0.5) * cell}px; top: ${(y + 0.5) * cell}px`,
        onclick: () => tell("blob", i),
      },
      String(i),
    ),
  )
  const picture = sheet(
    {
      role: "slider",
      tabindex: "0",
      "aria-label": "Pixel, moved with the arrow keys",
      "aria-valuemin": "0",
      "aria-valuemax": String(count - 1),
    },
    ...shapes,
  )
  const pull = sheet({role: "img", "aria-label": "The gradient by p of each pixel"})
  onArrows(picture.svg, {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across}, (way) => {
    const next = chosen() + way
    if (next >= 0 && next < count) choose(next)
  })
  const own = h("span"),
    all = h("span", {class: "num"})
  const el = h(
    "div",
    {class: narrow ? "chn-maps narrow" : "chn-maps"},
    h("figure", {}, h("div", {class: "chn-sheet"}, picture.svg, ...names), h("figcaption", {}, own)),
    h("figure", {}, h("div", {class: "chn-sheet"}, pull.svg), h("figcaption", {}, all)),
  )

  const paint = (look) => {
    const gradient = look.memory("gradient"),
      me = look.thread
    let written = 0
    for (let i = 0; i < count; i++) {
      const colour = ["r", "g", "b"].map((part) => look.value(`color.p.${part}`, i))
      set(picture.cells[i], {style: colour[0] === null ? "" : `fill: ${rgb(colour)}`})
      const value = gradient.written(i) ? gradient.number(i) : null,
        share = Math.round(100 * Math.sqrt(Math.abs(value ?? 0) / facts.most))
      written += value !== null
      set(pull.cells[i], {
        style:
          value === null ? "" : `fill: color-mix(in oklab, var(${value > 0 ? "--c-verm" : "--c-blue"}) ${share}%, var(--surface))`,
      })
    }
    picture.mark(me)
    pull.mark(me)
    own.textContent = `pixel ${me % across}, ${Math.floor(me / across)}`
    all.textContent = written < count ? "∂L/∂p of each pixel" : `∂L/∂p: red > 0 > blue, sum ${digits(facts.sum)}`
    set(picture.svg, {"aria-valuenow": me, "aria-valuetext": `column ${me % across}, row ${Math.floor(me / across)}`})
  }
  return {el, paint}
}

// The links from the loss down to p, each with its parts.
function links(all) {
  const rows = all.map((link) => {
    const parts = link.parts.map((part) => {
      const value = h("b"),
        moves = h("span"),
        gradient = h("span")
      return {
        ...part,
        into: {value, moves, gradient},
        el: h("li", {}, h("span", {class: "of"}, h("i", {}, part.name), value), moves, gradient),
      }
    })
    const sum = h("b", {class: "chn-sum num"})
    const el = h(
      "li",
      {class: "chn-link"},
      h("span", {class: "chn-name"}, h("b", {}, link.name), link.by ? h("small", {}, link.by) : null),
      h("ul", {class: `chn-parts num${parts.length === 1 ? " one" : ""}`}, ...parts.map((part) => part.el)),
      sum,
    )
    return {el, parts, sum}
  })
  const tried = h("b", {class: "chn-sum num"}),
    apart = h("span", {class: "num"})
  const judge = h("li", {class: "chn-link chn-judge"}, h("span", {class: "chn-name"}, h("b", {}, "tried out")), apart, tried)
  const el = h(
    "div",
    {},
    h("p", {class: "chn-key"}, h("span", {}, "link"), h("span", {}, "↑ speed with p, ↓ gradient of L"), h("span", {}, "Σ ↑·↓")),
    h("ol", {class: "chn-links"}, ...rows.map((row) => row.el), judge),
  )

  const paint = (look) => {
    const known = rows.map(({parts, sum}) => {
      let total = 0,
        up = true,
        down = true
      for (const {value, moves, gradient, once, into} of parts) {
        const v = look.value(value),
          m = v === null ? null : look.value(moves),
          ready = !once || look.value(once) !== null,
          g = ready ? look.value(gradient) : null
        into.value.textContent = v === null ? "" : digits(v)
        into.moves.textContent = m === null ? "↑" : `↑ ${digits(m)}`
        into.gradient.textContent = g === null ? "↓" : `↓ ${digits(g)}`
        into.moves.className = m ? "" : "none"
        into.gradient.className = g ? "" : "none"
        up &&= m !== null
        down &&= g !== null
        total += (m ?? 0) * (g ?? 0)
      }
      sum.textContent = up && down ? digits(total) : ""
      return {up, down}
    })
    const difference = look.value("difference"),
      dp = look.value("dp")
    tried.textContent = difference === null ? "" : digits(difference)
    apart.textContent = difference === null ? "(L(p + h) − L(p − h)) / 2h" : `apart by ${digits(Math.abs(difference - dp))}`
    const lowest = known.findLastIndex(({down}) => down),
      now = lowest >= 0 ? lowest : known.findIndex(({up}) => up)
    rows.forEach((row, i) => row.el.classList.toggle("here", difference === null && i === now))
    judge.classList.toggle("here", difference !== null)
  }
  return {el, paint}
}
