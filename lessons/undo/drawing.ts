// A pixel that goes down through its layers at the left and comes back up at the right, each state beside the one it should equal. What has
// not come yet is pale.
import {type Look, type MemoryLook, show} from "#web/drawing/look.ts"
import {classes, css, setAttributes} from "#web/drawing/svg.ts"
import {h} from "#web/runtime/dom.ts"
import {aloud} from "#web/recording/aloud.ts"
import type {DrawingHost, DrawingView} from "#web/drawing/types.ts"

/** Memories: forward and backward hold (C, T), apart how far they are apart: C in 2⁻²⁴, T in units in the last place. */
export interface Facts {
  /** Number of layers. */
  count: number
  /** How many layers the pixel took. */
  blended: number
  /** As the kernel used them. */
  alphas: number[]
  /** Largest α that the kernel uses. */
  most: number
  /** Colours of the layers, CSS. */
  colours: string[]
}

export interface Values {
  /** Name of the trained picture whose pixel is shown; "" for none. */
  picture: string
  count: number
  /** Whether α is limited. */
  clamped: boolean
  /** As set. */
  alphas: number[]
}

type Host = DrawingHost<Facts, unknown, Values>

const SEND_EVERY = 90 // ms, while a slider is dragged

export function draw(host: Host): DrawingView {
  let drawn: ReturnType<typeof build> | null = null
  let count = 0
  return {
    open() {
      if (host.facts.count === undefined) return
      if (!drawn || host.facts.count !== count) {
        count = host.facts.count
        drawn = build(host, count)
        host.root.replaceChildren(...drawn.el)
        drawn.fit()
      }
      drawn.showAlphas()
    },
    resized: () => drawn?.fit(),
    describe: (look) => drawn?.describe(look) ?? "",
    news: () => "", // each step says which state it reaches
    changed: () => drawn?.showAlphas(),
    paint: (look) => drawn?.paint(look),
  }
}

function build(host: Host, count: number) {
  const layers = Array.from({length: count}, (_, i) => layerRow(host, i))
  const states = Array.from({length: count + 1}, stateRow)
  const rows = states.flatMap((state, i) => (i < count ? [state.el, layers[i].el] : [state.el]))
  const titles = ["There ↓", "the same?", "Back ↑"].map((title) => h("span", {}, title))
  const list = h("ol", {class: "states-rows"}, ...rows)
  const place = (look: Look) => {
    const [forward, backward] = ["forward", "backward"].map((name) => look.ownMemory(name))
    return {down: lastWritten(forward, count), up: firstWritten(backward, count)}
  }
  return {
    el: [h("p", {class: "states-head", "data-mini": ""}, ...titles), list],
    /** Make the rows low, a line for each, where they do not fit the room with type of this size. */
    fit() {
      list.classList.remove("dense")
      list.classList.toggle("dense", host.root.scrollHeight > host.room().height)
    },
    showAlphas() {
      for (const layer of layers) layer.showAlpha()
    },
    paint(look: Look) {
      const [forward, backward, apart] = ["forward", "backward", "apart"].map((name) => look.ownMemory(name))
      const [forwardEnd, backwardEnd, apartEnd] = ["forward", "backward", "apart"].map((name) => look.final.ownMemory(name))
      const {down, up} = place(look)
      const turned = up <= count
      states.forEach(({there, same, back, say}, i) => {
        const went = there.paint(forwardEnd, i, !forward.written(i), !turned && i === down && look.step > 0)
        const came = back.paint(backwardEnd, i, !backward.written(i), turned && i === up)
        same.textContent = i === count ? "" : apart.written(i) ? sameText(forwardEnd, backwardEnd, i) : "?"
        same.className = classes("state-same", "num", i < count && !apart.written(i) && "later")
        const alike = same.textContent === "?" || !same.textContent ? "" : `; ${same.textContent.replace("◆ ", "")}`
        say(`${i ? `After layer ${i}` : "Before layer 1"}: there ${went}; back ${came}${alike}`)
        same.title = i === count || !apart.written(i) ? "" : ulpText(apartEnd, i)
      })
      const at = turned ? up : down // beside the words, the state there and its neighbours
      states.forEach(({el}, i) => el.toggleAttribute("data-mini", Math.abs(i - at) <= 1))
      states.forEach(({el}, i) => el.toggleAttribute("data-here", i === at))
      layers.forEach(({el}, i) => el.toggleAttribute("data-mini", i === at || i === at - 1))
      layers.forEach((layer, i) => layer.paint(!turned && i + 1 === down ? "down" : turned && i === up ? "up" : ""))
    },
    describe(look: Look) {
      const {down, up} = place(look)
      return up <= count
        ? `${count - up} of ${count} states have come back.`
        : `${down} of ${count} layers are done on the way there.`
    },
  }
}

const short = (value: number) => (Math.abs(value) < 5e-3 ? 0 : value).toFixed(2)

function lastWritten(memory: MemoryLook, count: number): number {
  let i = count
  while (i > 0 && !memory.written(i)) i--
  return i
}

function firstWritten(memory: MemoryLook, count: number): number {
  let i = 0
  while (i <= count && !memory.written(i)) i++
  return i
}

function stateRow() {
  const [there, back] = [stateCell("there"), stateCell("back")]
  const same = h("span")
  const sentence = h("span", {class: "sr"}) // for screen readers, in place of the cells
  const say = (words: string) => {
    sentence.textContent = aloud(words)
  }
  for (const cell of [there.el, same, back.el]) cell.ariaHidden = "true"
  return {there, same, back, say, el: h("li", {class: "state-row"}, there.el, same, back.el, sentence)}
}

/**
 * A state (C, T): its light as a colour, its transmittance as a number and a bar.
 * @param side  "there" or "back"
 */
function stateCell(side: string) {
  const swatch = h("i", {class: "state-swatch"})
  const transmittance = h("b", {class: "num"})
  const colour = h("span", {class: "num"})
  const bar = h("i", {class: "state-share"})
  const words = h("span", {class: "state-words"}, transmittance, colour, h("i", {class: "state-track"}, bar))
  const el = h("span", {}, swatch, words)
  return {
    el,
    /**
     * @param memory  at the end of the recording
     * @param later  whether the state has not come yet
     * @returns the state in words
     */
    paint(memory: MemoryLook, i: number, later: boolean, now: boolean) {
      const [r, g, b, T] = [0, 1, 2, 3].map((part) => memory.number(i, part) ?? 0)
      const broken = [r, g, b, T].some((value) => Number.isNaN(value))
      el.className = classes("state-cell", side, later && "later", now && "now", broken && !later && "broken")
      const before = `${side}-${side === "back" ? i + 1 : i - 1}`
      if (later) swatch.removeAttribute("data-thing")
      else setAttributes(swatch, {"data-thing": `${side}-${i}`, "data-made-of": before})
      const secret = later && side === "back" // what comes back is what the reader is to find
      swatch.style.background = broken || secret ? "" : css([r, g, b])
      transmittance.textContent = secret ? "T ?" : `T ${show(T, 3)}`
      colour.textContent = secret ? "" : broken ? "C NaN" : [r, g, b].map(short).join(" ")
      bar.style.width = broken || secret ? "0" : `${100 * Math.min(1, Math.max(0, T))}%`
      return later ? "not known yet" : `${transmittance.textContent}, colour ${broken ? "NaN" : colour.textContent}`
    },
  }
}

/** Whether a state came back as it was, or what is off by most, its T or a part of its C. */
export function sameText(forward: MemoryLook, backward: MemoryLook, i: number) {
  const errors = [0, 1, 2, 3].map((part) => Math.abs((backward.number(i, part) ?? 0) - (forward.number(i, part) ?? 0)))
  if (errors.some((error) => Number.isNaN(error))) return "◆ NaN"
  const [T, C] = [errors[3], Math.max(...errors.slice(0, 3))]
  const off = (name: string, error: number) => `${name} off by ${show(error, 1)}`
  if (T === 0 && C === 0) return "the same"
  return T >= C ? off("T", T) : off("C", C)
}

/** The same in units in the last place. */
function ulpText(apart: MemoryLook, i: number) {
  const largest = Math.max(...[0, 1, 2].map((part) => Math.abs(apart.number(i, part) ?? 0)))
  return `T is off by ${show(apart.number(i, 3) ?? 0)} ulp, C by up to ${show(Number(largest.toFixed(1)), 3)} · 2⁻²⁴`
}

/** A layer between two states: what it does to T on either way, and a slider for its α. */
function layerRow(host: Host, i: number) {
  const range = h("input", {type: "range", min: 0, max: 1, step: 0.01, "aria-label": `α of layer ${i + 1}`})
  const value = h("output", {class: "num", "aria-live": "off", "aria-hidden": "true"})
  const [down, up] = [h("span", {class: "state-act num"}), h("span", {class: "state-act num"})]
  const disc = h("b", {class: "layer-number", style: `--layer:${host.facts.colours[i]}`}, String(i + 1))
  const el = h("li", {class: "state-between"}, down, h("label", {}, disc, range, value), up)
  const name = () => {
    const {most} = host.facts
    range.setAttribute("aria-valuetext", +range.value > most ? `${range.value}, limited to ${most}` : range.value)
  }
  const changed = (alpha: number) => host.values.alphas.with(i, alpha)
  const follow = (alpha: number) => host.follow({...host.values, alphas: changed(alpha)})
  const dragging = onAlpha(range, name, follow, (alpha) => host.set("alphas", changed(alpha)))
  return {
    el,
    showAlpha() {
      const {alphas, blended} = host.facts
      const skipped = i >= blended
      range.disabled = host.values.picture !== "" // a trained layer's α is what it is
      if (!dragging()) range.value = String(range.disabled ? alphas[i] : host.values.alphas[i])
      name()
      const alpha = show(alphas[i], 3)
      value.textContent = alpha
      down.textContent = skipped ? "left out" : `↓ ×(1−${alpha})`
      up.textContent = skipped ? "skipped" : `÷(1−${alpha}) ↑`
      el.classList.toggle("skipped", skipped)
    },
    paint(way: "up" | "down" | "") {
      el.dataset.way = way
    },
  }
}

/**
 * Send a slider's value when it is let go, and while it is dragged if it cannot be followed; returns whether it is being dragged.
 * @param name  called at each new value
 */
function onAlpha(range: HTMLInputElement, name: () => void, follow: (alpha: number) => boolean, send: (alpha: number) => void) {
  let sent = 0
  let dragging = false
  range.onpointerdown = () => {
    dragging = true
  }
  range.oninput = () => {
    name()
    if (follow(+range.value) || performance.now() - sent < SEND_EVERY) return
    sent = performance.now()
    send(+range.value)
  }
  range.onchange = () => {
    dragging = false
    send(+range.value)
  }
  range.onkeydown = (event) => {
    if (/^(Arrow|Home|End|Page)/.test(event.key)) event.stopPropagation()
  }
  return () => dragging
}
