// One layer over several backgrounds, each twice: with its straight colour, and premultiplied. Below, one pixel's sums by channel.
import {context2d, pixelsOf} from "#web/drawing/pixels.ts"
import {classes} from "#web/drawing/svg.ts"
import {h} from "#web/runtime/dom.ts"
import {ARROWS, neighbour, onArrows} from "#web/widgets/roving.ts"
import type {DrawingHost, DrawingView} from "#web/drawing/types.ts"

/**
 * The chosen pixel's colours, r, g, b: the layer's part straight (wrong) and premultiplied (right), what shows through, and both sums.
 */
type PixelSums = Record<"gval" | "wrong" | "right" | "through" | "straight" | "premultiplied", number[]>

export interface Facts {
  /** Size of a picture. */
  size: [number, number]
  /** Names of the backgrounds. */
  names: string[]
  chosen: number
  /** Bytes, in base 64 from Python, background after background. */
  pictures: Record<"straight" | "premultiplied", string | Uint8Array<ArrayBuffer>>
  pixel: PixelSums
  /** Steps after which gval, wrong, right, through and all are known. */
  stops: number[]
}

export interface Options {
  /** Bytes in base 64. */
  photograph: string
}

const METHODS = [
  {picture: "straight", part: "wrong", words: "straight", stop: 1},
  {picture: "premultiplied", part: "right", words: "premultiplied", stop: 2},
] as const
const LEAST_PICTURE = 54 // px high
const NARROW = 470 // px: below, where there is height for it, one card stands under the other
const AROUND = 54 // px of a card around its pictures
const SUMS = 176 // px of the sums, and the padding around all
const THROUGH_STOP = 3
const SUM_STOP = 4
const MOST = 2 // a sum of two colours cannot be more
const CHANNELS = [
  ["Red", "--c-verm"],
  ["Green", "--c-green"],
  ["Blue", "--c-blue"],
]

export function draw(host: DrawingHost<Facts, Options>): DrawingView {
  const cards = h("div", {class: "over-cards", role: "radiogroup", "aria-label": "Pictures over each background"})
  const sums = h("div", {class: "over-sums", "data-here": ""})
  host.root.replaceChildren(cards, sums)
  /** Make the pictures as large as the room allows. */
  const fit = () => {
    const {width, height: room} = host.room()
    cards.classList.toggle("single", width < NARROW && room === Infinity)
    const height = Math.max(LEAST_PICTURE, (room - SUMS) / 2 - AROUND)
    cards.style.setProperty("--picture", `${Number.isFinite(height) ? Math.round((height * 4) / 3) : 400}px`)
  }
  let revealed: Revealed[] = []
  let all: ReturnType<typeof backgroundCard>[] = []

  onArrows(cards, ARROWS, (step, event) => {
    const now = all.findIndex(({el}) => event.composedPath().includes(el))
    const next = neighbour(now, step, all.length)
    all[next].el.focus()
    host.set("over", host.facts.names[next])
  })
  return {
    open() {
      const {facts} = host
      if (!facts.pixel) return
      fit()
      if (!all.length) {
        all = facts.names.map((name, i) => backgroundCard(facts, i, () => host.set("over", name)))
        cards.replaceChildren(...all.map(({el}) => el))
      }
      const focused = (cards.getRootNode() as ShadowRoot).activeElement
      const inside = all.some(({el}) => el === focused)
      for (const card of all) card.show(facts)
      if (inside) all[facts.chosen].el.focus()
      const channels = CHANNELS.map((_, i) => channelSums(facts.pixel, i))
      revealed = channels.flatMap((channel) => channel.revealed)
      sums.replaceChildren(legend(), ...channels.map((channel) => channel.el))
    },
    changed() {},
    resized: fit,
    paint(look) {
      const {stops} = host.facts
      if (!stops) return
      for (const {el, stop, text} of revealed) {
        el.classList.toggle("later", look.step < stops[stop])
        if (text) el.textContent = look.step < stops[stop] ? "?" : text // a sum would tell what comes
      }
    },
    describe(look) {
      const {names, chosen, pixel, stops} = host.facts
      if (!pixel) return ""
      if (look.step < stops[SUM_STOP]) return `Over the ${names[chosen]}, the two sums are not known yet.`
      const [straight, premultiplied] = METHODS.map(({picture}) => pixel[picture].map((sum) => sum.toFixed(2)).join(", "))
      return `Over the ${names[chosen]}, red, green and blue come to ${straight} straight, and to ${premultiplied} premultiplied.`
    },
  }
}

/** Shown from a stop on; its text is a ? before. */
type Revealed = {el: Element; stop: number; text?: string}

/** A background with the layer over it, in both ways. */
function backgroundCard({names, size}: Facts, i: number, choose: () => void) {
  const [width, height] = size
  const name = names[i][0].toUpperCase() + names[i].slice(1)
  const canvases = METHODS.map(() => h("canvas", {width, height, class: "pixels", "aria-hidden": "true"}))
  const both = METHODS.map(({words}, way) => h("span", {class: "over-picture"}, canvases[way], h("span", {}, words)))
  const attributes = {
    type: "button",
    role: "radio",
    class: "over-card",
    "aria-label": `${name}, straight and premultiplied`,
    onclick: choose,
  }
  const el = h("button", attributes, h("b", {}, name), h("span", {class: "over-two"}, ...both))
  return {
    el,
    show({chosen, pictures}: Facts) {
      for (const [way, {picture}] of METHODS.entries())
        context2d(canvases[way]).putImageData(pixelsOf(pictures[picture], width, height, i), 0, 0)
      el.ariaChecked = String(i === chosen)
      el.toggleAttribute("data-mini", i === chosen)
      el.tabIndex = i === chosen ? 0 : -1
    },
  }
}

/** One channel in both ways: the layer's part, then what shows through, with the limit at 1. */
function channelSums(pixel: PixelSums, channel: number) {
  const [name, colour] = CHANNELS[channel]
  const revealed: Revealed[] = []
  const percent = (value: number) => `${(value / MOST) * 100}%`
  const lines = METHODS.map(({picture, part, words, stop}) => {
    const [sum, layer, behind] = [pixel[picture][channel], pixel[part][channel], pixel.through[channel]]
    const over = sum > 1.0000005
    const own = h("i", {class: "own", style: `width:${percent(layer)};background:var(${colour})`})
    const through = h("i", {class: "through", style: `width:${percent(behind)}`})
    const text = `${sum.toFixed(2)}${over ? " ◆" : ""}`
    const number = h("b", {class: classes("num", over && "over")}, text)
    revealed.push({el: own, stop}, {el: through, stop: THROUGH_STOP}, {el: number, stop: SUM_STOP, text})
    const amounts = `${layer.toFixed(2)} of the layer and ${behind.toFixed(2)} of what lies behind`
    const label = `${name.toLowerCase()}, ${words}: ${amounts}`
    const bar = h("div", {class: "over-bar", role: "img", "aria-label": label}, own, through, h("i", {class: "limit"}))
    return h("div", {class: "over-line"}, h("span", {}, words), bar, number)
  })
  return {el: h("section", {}, h("b", {class: "over-name"}, name), ...lines), revealed}
}

function legend() {
  const item = (name: string, words: string) => h("span", {}, h("i", {class: name}), words)
  const items = [
    item("own", "the layer's part"),
    item("through", "what shows through"),
    item("limit", "1, the most a screen shows"),
  ]
  return h("p", {class: "over-key"}, ...items.flatMap((one) => [one, " "]))
}
