// A stack of layers over one pixel, nearest first: each may be moved, coloured, made more or less opaque, added, removed.
import {setPixel, pixelPicker} from "#web/drawing/pixel_picker.ts"
import {handle} from "#web/drawing/reorder.ts"
import {sender} from "#web/drawing/throttled_sender.ts"
import {shareRow, short} from "#web/drawing/share_row.ts"
import {css} from "#web/drawing/svg.ts"
import {h} from "#web/runtime/dom.ts"
import type {Look} from "#web/drawing/look.ts"
import type {DrawingHost, DrawingView} from "#web/drawing/types.ts"
import type {Blend, Facts, Layer, Options, Values} from "./stack.ts"

const NEW_COLOURS = ["#cc79a7", "#56b4e9", "#e69f00", "#777777", "#d55e00", "#0072b2", "#f0e442", "#009e73"]
const NEW_ALPHA = 0.7
const [LEAST_PICTURE, ENOUGH, MOST_PICTURE] = [96, 150, 210] // px high
const AROUND = 150 // px above and below picture and rows
const ROW = 44 // px of a layer
const DENSE_ROW = 28 // the same, its numbers in one line
const ONE_LINE = 540 // px of width, for that

export function draw(host: DrawingHost<Facts, Options, Values>): DrawingView {
  const picker = pixelPicker((pixel) => {
    host.follow({...host.values, layers: stack.layers(), pixel})
    setPixel(host, pixel)
  })
  picker.el.classList.add("framed")
  const colours = gatheredColours()
  const stack = layerStack(host)
  const el = h(
    "div",
    {class: "layers", "data-testid": "controls"},
    h("div", {class: "layers-top awaits", "data-mini": ""}, picker.el, colours.el),
    ...stack.parts,
  )
  host.root.replaceChildren(el)
  /** Give the picture what the rows leave of the room. */
  const fit = () => {
    if (host.root.querySelector(".held, input:active")) return // what is dragged does not change the room
    const rows = stack.layers().length + 1
    const room = host.room()
    const left = (row: number) => Math.max(LEAST_PICTURE, Math.min(MOST_PICTURE, room.height - AROUND - row * rows))
    const flat = left(ROW) < ENOUGH && room.width >= ONE_LINE
    const height = left(flat ? DENSE_ROW : ROW)
    el.style.setProperty("--picture", `${Math.round(height)}px`)
    el.classList.toggle("flat", flat)
    el.classList.toggle("dense", !flat && height === LEAST_PICTURE)
  }
  return {
    previews: true,
    changed() {
      if (!host.values.picture && !host.root.querySelector(".held, input:active")) stack.place(host.values.layers)
      fit()
    },
    resized: fit,
    open() {
      if (!host.facts.layers) return
      const trained = host.values.picture !== ""
      host.root.classList.toggle("trained", trained)
      stack.list.inert = trained
      if (trained) stack.place(host.facts.stack)
      fit()
      stack.settle()
      const drawn = stack.layers().map((layer) => layer.colour)
      picker.show(host.facts, drawn)
      colours.showEnd(host.facts.over)
    },
    paint(look) {
      colours.paint(look)
      stack.paint(host.facts.layers ?? [], look.step)
    },
    describe(look) {
      const {layers} = host.facts
      if (!layers) return ""
      const done = layers.filter((blend) => look.step >= blend.end).length
      const T = done ? layers[done - 1].after[3] : 1
      const open = done ? `${short(T)} of the pixel` : "the whole pixel"
      return `${done} of ${layers.length} layers ${done === 1 ? "is" : "are"} blended, and ${open} is still open. ${outcome(host.facts)}`
    },
    news: () => (host.facts.layers ? outcome(host.facts) : ""), // what changes with the layers; each step says what its layer does
  }
}

/** A colour's numbers, which stay on one line. */
const numbers = (colour: number[]) => colour.map(short).join("\u00a0")

/** The same for screen readers. */
const named = (colour: number[]) => ["red", "green", "blue"].map((name, i) => `${name} ${short(colour[i])}`).join(", ")

/** The pixel's colour in the end, in a sentence. */
const outcome = ({over}: Facts) => `In the end, over white paper: ${named(over)}.`

/** A colour's numbers for the eye, and with their names for the ear. */
const forBoth = (colour: number[]) => [h("span", {"aria-hidden": "true"}, numbers(colour)), h("span", {class: "sr"}, named(colour))]

/** What the pixel has gathered so far, and its colour in the end. */
function gatheredColours() {
  const [nowSwatch, endSwatch] = [h("i", {class: "swatch"}), h("i", {class: "swatch"})]
  const [nowWords, endWords] = [h("p", {class: "num"}), h("p", {class: "num"})]
  const el = h(
    "dl",
    {},
    h("div", {}, h("dt", {}, "Gathered so far, without paper"), h("dd", {}, nowSwatch, nowWords)),
    h("div", {}, h("dt", {}, "In the end, over white paper"), h("dd", {}, endSwatch, endWords)),
  )
  return {
    el,
    showEnd(colour: number[]) {
      endSwatch.style.background = css(colour)
      endWords.replaceChildren(...forBoth(colour))
    },
    paint(look: Look) {
      const [r, g, b] = ["r", "g", "b"].map((part) => look.value(`state.value.${part}`) ?? 0)
      const T = look.value("state.value.a") ?? 1
      nowSwatch.style.background = css([r, g, b])
      nowWords.replaceChildren("C = ", ...forBoth([r, g, b]), `\nT = ${short(T)}`)
    },
  }
}

/** Of a row, the small copy of the figure shows its share and the numbers of it. */
function markShare(row: HTMLElement) {
  for (const part of row.querySelectorAll(".layer-bar, .layer-say")) part.toggleAttribute("data-mini", true)
}

type LayerRow = ReturnType<typeof layerRow>

/** The rows of the layers, with what changes them. */
function layerStack(host: DrawingHost<Facts, Options, Values>) {
  const rows = new Map<Element, LayerRow>()
  const list = h("ol", {class: "layers-list"})
  const news = h("p", {class: "sr", "aria-live": "polite"})
  const add = h("button", {type: "button", class: "btn"}, "Add a layer")
  const reverse = h("button", {type: "button", class: "btn"}, "Turn the stack over")
  const rest = shareRow("layer-rest", h("span", {class: "layer-name", "data-mini": ""}, "White paper"))
  markShare(rest.el)
  const send = sender(() => host.set("layers", layers()))
  const stale = (yes: boolean) => host.root.classList.toggle("ahead", yes) // other layers than those recorded
  let isOwed = false // the lesson was not told yet
  /** The layers are others. They are recorded here, if that is possible, and by the lesson once the hand lets go. */
  const changed = (isHeld = false) => {
    const follows = host.follow({...host.values, layers: layers()})
    stale(!follows && !isHeld)
    isOwed = isHeld && follows
    if (!isHeld) send.now()
    else if (!follows) send.soon()
  }

  const ordered = () => [...list.children].flatMap((el) => rows.get(el) ?? [])
  const layers = () => ordered().map((row) => row.layer)
  const number = () => ordered().forEach((row, i) => row.setNumber(i + 1))

  const edits = {
    moved() {
      number()
      changed()
    },
    say(words: string) {
      news.textContent = words
    },
    edited: () => changed(true),
    settled() {
      if (isOwed) send.soon()
      isOwed = false
    },
    drop(layer: Layer) {
      const at = layers().indexOf(layer)
      edits.say(`Layer ${at + 1} is removed; ${layers().length - 1} left`)
      place(layers().filter((other) => other !== layer))
      changed()
      const next = (ordered()[at] ?? ordered()[at - 1]).dropButton
      if (next.disabled)
        add.focus() // the only layer stays
      else next.focus()
    },
  }
  /** Show these layers in this order; rows that are there already stay. */
  function place(wanted: Layer[]) {
    const known = new Map([...rows.values()].map((row) => [row.layer.shape, row]))
    const next = wanted.map((layer) => known.get(layer.shape) ?? layerRow(layer, edits))
    next.forEach((row, i) => row.show(wanted[i]))
    for (const row of rows.values()) {
      if (next.includes(row)) continue
      rows.delete(row.el)
      row.el.remove()
    }
    next.forEach((row, i) => {
      rows.set(row.el, row)
      if (list.children[i] !== row.el) list.insertBefore(row.el, list.children[i] ?? null)
      row.dropButton.disabled = next.length < 2
    })
    list.append(rest.el)
    add.disabled = next.length >= host.options.most
    number()
  }
  add.onclick = () => {
    place([...layers(), newLayer(layers())])
    edits.say(`Layer ${layers().length} is added`)
    if (add.disabled) reverse.focus() // there is room for no other
    changed()
  }
  reverse.onclick = () => {
    place(layers().reverse())
    edits.say("The stack is turned over")
    changed()
  }
  place(host.values.layers ?? [])

  const names = ["nearest", "opacity", "its share of the pixel, α·T"].map((name) => h("span", {}, name))
  return {
    parts: [h("p", {class: "layers-head"}, ...names), list, h("div", {class: "layers-acts"}, add, reverse), news],
    layers,
    list,
    place,
    /** The recording is of these layers. */
    settle() {
      stale(false)
      if (!host.following) send.answered()
    },
    paint(blends: Blend[], step: number) {
      const done = blends.filter((blend) => step >= blend.end).length
      ordered().forEach((row, i) => {
        const blend = blends[i]
        const when = i + 1 < done ? "past" : i + 1 === done ? "now" : "ahead"
        if (blend) row.paint(row.layer.colour, blend.before[3], blend.after[3], `α ${short(blend.alpha)}`, when)
      })
      const last = blends.at(-1)
      if (last) rest.paint("#ffffff", last.after[3], 0, "what is left", done === blends.length ? "past" : "ahead")
    },
  }
}

/** A layer of a colour and a shape that no other has. */
export function newLayer(layers: Layer[]): Layer {
  const colour = NEW_COLOURS.find((one) => !layers.some((layer) => layer.colour === one)) ?? NEW_COLOURS[0]
  const shape = NEW_COLOURS.findIndex((_, i) => !layers.some((layer) => layer.shape === i))
  return {colour, alpha: NEW_ALPHA, shape}
}

/** A layer's row: handle, number, colour, opacity, share of the light, button to remove it. */
function layerRow(
  first: Layer,
  {
    moved,
    say,
    edited,
    settled,
    drop,
  }: {moved(): void; say(words: string): void; edited(): void; settled(): void; drop(layer: Layer): void},
) {
  let layer = first
  const colour = h("input", {type: "color"})
  const alpha = h("input", {type: "range", min: 0, max: 1, step: 0.01})
  const value = h("output", {class: "num", "aria-live": "off", "aria-hidden": "true"})
  const dropButton = h("button", {type: "button", class: "btn quiet icon"}, "×")
  const number = h("b", {class: "num", "data-mini": ""})
  const {el, paint} = shareRow("layer-row", number, colour, alpha, value, dropButton)
  markShare(el)
  const grip = handle(el, "", () => {
    const before = number.textContent
    moved()
    say(`Layer ${before} has moved: it is layer ${number.textContent} now`)
  })
  el.prepend(grip)
  colour.oninput = () => {
    layer.colour = colour.value
    edited()
  }
  const showAlpha = () => {
    value.textContent = layer.alpha.toFixed(2)
    alpha.setAttribute("aria-valuetext", layer.alpha.toFixed(2))
  }
  alpha.oninput = () => {
    layer.alpha = +alpha.value
    showAlpha()
    edited()
  }
  colour.onchange = alpha.onchange = settled
  alpha.onkeydown = (event) => {
    if (event.key.startsWith("Arrow") || ["Home", "End"].includes(event.key)) event.stopPropagation()
  }
  dropButton.onclick = () => drop(layer)
  return {
    el,
    paint,
    dropButton,
    get layer() {
      return layer
    },
    show(given: Layer) {
      layer = {...given}
      colour.value = given.colour
      alpha.value = String(given.alpha)
      showAlpha()
    },
    setNumber(n: number) {
      number.textContent = String(n)
      grip.setAttribute("aria-label", `Place of layer ${n}`)
      colour.setAttribute("aria-label", `Colour of layer ${n}`)
      alpha.setAttribute("aria-label", `Opacity of layer ${n}`)
      dropButton.setAttribute("aria-label", `Remove layer ${n}`)
    },
  }
}
