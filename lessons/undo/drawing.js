// A pixel that goes down through its layers at the left and comes back up at the right, each state beside the one it should equal.
//
// facts: count, blended [how many layers it took], alphas [as the kernel used them], colours [of the layers, CSS]
// values: alphas [as set]. Memories: forward, backward (C, T), apart (how far apart: C in 2⁻²⁴, T in units in the last place).
import {h} from "#web/shell/dom.js"
import {show} from "#web/drawing/look.js"

export function draw(host) {
  let rungs = [],
    layers = [],
    count = 0
  const {root} = host

  const build = () => {
    count = host.facts.count
    layers = Array.from({length: count}, (_, i) => layer(host, i))
    rungs = Array.from({length: count + 1}, () => ({
      there: state("there"),
      gap: h("span", {class: "lad-gap num"}),
      back: state("back"),
    }))
    const rows = rungs.flatMap(({there, gap, back}, i) => [
      h("li", {class: "lad-rung"}, there.el, gap, back.el),
      ...(i < count ? [layers[i].el] : []),
    ])
    root.replaceChildren(
      h("p", {class: "ladder-head"}, h("span", {}, "There ↓"), h("span", {}, "apart: T, C in ulp"), h("span", {}, "Back ↑")),
      h("ol", {class: "ladder-rows"}, ...rows),
    )
  }

  return {
    open() {
      if (host.facts.count === undefined) return
      if (host.facts.count !== count) build()
      layers.forEach((one) => one.tell())
    },
    changed() {
      layers.forEach((one) => one.tell())
    },
    paint(look) {
      if (!count) return
      const forward = look.memory("forward"),
        backward = look.memory("backward"),
        apart = look.memory("apart")
      const down = last(forward, count),
        up = first(backward, count),
        turned = up <= count
      rungs.forEach(({there, gap, back}, i) => {
        there.paint(forward, i, !turned && i === down && look.step > 0)
        back.paint(backward, i, turned && i === up)
        gap.textContent = i === count || !apart.written(i) ? "" : difference(apart, backward, i)
        gap.classList.toggle("off", !["", "0, 0"].includes(gap.textContent))
      })
      layers.forEach((one, i) => one.paint(!turned && i + 1 === down ? "down" : turned && i === up ? "up" : ""))
    },
  }
}

const short = (value) => (Math.abs(value) < 5e-3 ? 0 : value).toFixed(2)
const last = (memory, count) => {
  let i = count
  while (i > 0 && !memory.written(i)) i--
  return i
}
const first = (memory, count) => {
  let i = 0
  while (i <= count && !memory.written(i)) i++
  return i
}

// A state (C, T): its light as a colour, its transmittance as a number and a bar.
function state(side) {
  const swatch = h("i", {class: "lad-swatch"}),
    t = h("b", {class: "num"}),
    c = h("span", {class: "num"}),
    bar = h("i", {class: "lad-share"})
  const el = h(
    "span",
    {class: `lad-pixel ${side}`},
    swatch,
    h("span", {class: "lad-words"}, t, c, h("i", {class: "lad-track"}, bar)),
  )
  return {
    el,
    paint(memory, i, now) {
      const known = memory.written(i),
        [r, g, b, T] = [0, 1, 2, 3].map((part) => memory.number(i, part))
      const broken = known && [r, g, b, T].some((value) => Number.isNaN(value))
      el.className = `lad-pixel ${side}${known ? "" : " unknown"}${now ? " now" : ""}${broken ? " broken" : ""}`
      swatch.style.background = known && !broken ? `rgb(${[r, g, b].map((value) => Math.round(255 * value)).join(" ")})` : ""
      t.textContent = known ? `T ${show(T)}` : "T"
      c.textContent = known ? (broken ? "C NaN" : [r, g, b].map(short).join(" ")) : ""
      bar.style.width = known && !broken ? `${100 * T}%` : "0"
    },
  }
}

function difference(apart, backward, i) {
  if (Number.isNaN(backward.number(i, 3))) return "◆ NaN"
  const largest = Math.max(...[0, 1, 2].map((part) => Math.abs(apart.number(i, part))))
  return `${show(apart.number(i, 3))}, ${show(Number(largest.toFixed(1)), 3)}`
}

// A layer between two states: what it does to T on either way, and a slider for its α.
function layer(host, i) {
  const range = h("input", {type: "range", min: 0, max: 1, step: 0.01, "aria-label": `α of layer ${i + 1}`})
  const down = h("span", {class: "lad-act num"}),
    up = h("span", {class: "lad-act num"}),
    value = h("output", {class: "num"})
  const disc = h("b", {class: "layer-no", style: `--layer:${host.facts.colours[i]}`}, String(i + 1))
  const el = h("li", {class: "lad-between"}, down, h("label", {}, disc, range, value), up)
  let told = 0,
    held = false
  const send = () =>
    host.set(
      "alphas",
      host.values.alphas.map((alpha, at) => (at === i ? +range.value : alpha)),
    )
  range.onpointerdown = () => {
    held = true
  }
  range.oninput = () => {
    if (performance.now() - told < 90) return
    told = performance.now()
    send()
  }
  range.onchange = () => {
    held = false
    send()
  }
  range.onkeydown = (event) => {
    if (/^(Arrow|Home|End|Page)/.test(event.key)) event.stopPropagation()
  }
  return {
    el,
    tell() {
      const {alphas, blended} = host.facts,
        skipped = i >= blended
      if (!held) range.value = host.values.alphas[i]
      const a = show(alphas[i], 3)
      value.textContent = a
      down.textContent = skipped ? "left out" : `↓ ×(1−${a})`
      up.textContent = skipped ? "skipped" : `÷(1−${a}) ↑`
      el.classList.toggle("skipped", skipped)
    },
    paint(way) {
      el.dataset.way = way
    },
  }
}
