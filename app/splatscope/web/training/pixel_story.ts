// One pixel of a training run: its place in the picture, and its layers from front to back, as shares of its colour.
import {context2d} from "#web/drawing/pixels.ts"
import {shareRow, short} from "#web/drawing/share_row.ts"
import {css, s} from "#web/drawing/svg.ts"
import {h, soon, style} from "#web/runtime/dom.ts"
import {inputsOfPixel} from "#web/runtime/followed_pixel.ts"
import {followLink} from "#web/runtime/router.ts"
import {chosenLayers, percent, sentence, share, summary, times} from "./pixel_layers.ts"
import type {Bytes, Layer, PixelStoryParameters} from "#components"
import type {Render} from "#web/types.ts"

const [ACROSS, DOWN] = [40, 30] // pixels of the crop
const AWAITED = 9 // placeholder rows
const LASTS = [1000, 5000] // ms after which what is being waited for is announced: at first, and later on

const bytes = (colour: number[]) => colour.map((c) => Math.round(255 * Math.min(1, Math.max(0, c)))).join("  ")

export function render({model, el}: Render<"PixelStory">) {
  style(el)
  const crop = pictureCrop()
  const now = swatch("The pixel")
  const aim = swatch("The target here")
  const heading = h("h3", {}, "What this pixel is made of")
  const words = h("p", {class: "story-words"})
  const heard = h("p", {class: "sr", role: "status", "data-testid": "pixel-story-heard"})
  const list = h("ol", {class: "story-layers"})
  const head = h(
    "p",
    {class: "story-head", "aria-hidden": "true"},
    ...["layer", "Gaussian", "grey: taken by nearer layers; colour: its own share", "α, light T", "α·T"].map((one) =>
      h("span", {}, one),
    ),
  )
  const follow = h("a", {class: "btn story-follow", "data-testid": "follow-pixel"}, "Follow this pixel through the book")
  const mix = h("div", {class: "layer-bar story-mix", role: "img"})
  const where = h("div", {class: "story-where"}, crop.el, h("dl", {}, now.el, aim.el))
  const made = h("div", {class: "panel story-made"}, heading, words, follow, mix, head, list)
  const root = h(
    "section",
    {class: `about-pixel${model.here ? " here" : ""}`, "aria-label": "The pixel's layers", "data-testid": "pixel-story"},
    where,
    made,
    heard,
  )

  let waits = 0 // times that the current wait was announced
  let later: ReturnType<typeof setTimeout> | undefined
  /** Announce the result at once, but what is being waited for only if that takes long. */
  const hear = (text: string) => {
    clearTimeout(later)
    const say = () => {
      if (heard.textContent !== text) heard.textContent = text
    }
    if (!model.busy) {
      waits = 0
      return say()
    }
    later = setTimeout(
      () => {
        waits++
        say()
      },
      LASTS[waits ? 1 : 0],
    )
  }

  const show = () => {
    const {pixel, layers, colour, target, busy, error} = model
    const [x, y] = pixel
    root.dataset.layers = colour.length ? String(layers.length) : ""
    root.hidden = x === undefined && !error && !busy
    if (x !== undefined && y !== undefined) crop.show(model.picture, x, y, model.tile)
    aim.show(target)
    now.show(colour)
    const known = colour.length > 0
    follow.hidden = !model.followed || !known || !layers.length
    if (x !== undefined && y !== undefined) follow.href = `?page=gaussian&${inputsOfPixel(model.followed, [x, y])}`
    for (const part of [mix, head]) part.hidden = !known
    list.hidden = Boolean(error)
    words.classList.toggle("busy", Boolean(busy))
    const text = root.hidden ? "" : error || busy || sentence(layers, model.here) // of no pixel there is nothing to say
    if (words.textContent !== text) hear(text && (error || busy || summary(layers, model.here)))
    words.textContent = text
    if (!known)
      return list.replaceChildren(
        ...Array.from({length: AWAITED}, () => h("li", {class: "story-row story-awaited", "aria-hidden": "true"})),
      )
    paintMix(mix, layers)
    list.replaceChildren(...rowsOf(layers, colour, model))
  }
  const shown = soon(show)
  for (const name of ["picture", "pixel", "layers", "colour", "followed", "busy", "error"]) model.on(name, shown)
  show()
  return root
}

/** A bar of all shares, which together make up the pixel. */
function paintMix(mix: HTMLElement, layers: Layer[]) {
  const left = layers.at(-1)?.[4] ?? 1
  mix.replaceChildren(
    ...[...layers.map(([, colour, , before, after]) => ({colour, share: before - after})), {colour: "#fff", share: left}].map(
      (part) => {
        const bar = h("i")
        bar.style.cssText = `flex-grow: ${part.share}; background: ${part.colour}`
        return bar
      },
    ),
  )
  mix.setAttribute(
    "aria-label",
    `The shares of ${times(layers.length, "Gaussian")} and of the white paper, ${percent(left)}, side by side`,
  )
}

/** A row for each layer that matters, one for all others, one for the paper, one for the sum. */
function rowsOf(layers: Layer[], colour: number[], model: PixelStoryParameters) {
  const {own, fainter, unseen} = chosenLayers(layers)
  const rows = layers.flatMap((layer, i) => (own.has(layer) ? [layerRow(layer, i + 1, model)] : []))
  const others = layers.filter((layer) => !own.has(layer))
  if (others.length) {
    const together = others.reduce((sum, layer) => sum + share(layer), 0)
    const hidden = `${fainter ? `${unseen} ` : ""}too faint to be seen`
    const which = [fainter && `${fainter} that can be seen`, unseen && hidden].filter(Boolean).join(", ")
    rows.push(plainRow(times(others.length, "other"), which, together))
  }
  const left = layers.at(-1)?.[4] ?? 1
  const paper = shareRow(
    "story-row layer-rest",
    h("span", {class: "story-name"}, "White paper"),
    h("b", {class: "num"}, short(left)),
  )
  paper.paint("#ffffff", left, 0, "what is left", "past")
  const sum = h(
    "li",
    {class: "story-row story-sum"},
    h("span", {class: "story-name"}, "All together: the pixel's colour"),
    h("b", {class: "num"}, "1"),
  )
  const patch = h("i", {class: "story-patch"})
  patch.style.background = css(colour)
  sum.append(patch, h("span", {class: "num"}, bytes(colour)))
  return [...rows, paper.el, sum]
}

/** @param place  from the front */
function layerRow([id, colour, alpha, before, after]: Layer, place: number, {pixel: [x, y], here}: PixelStoryParameters) {
  const patch = h("i", {class: "tile-sw"})
  patch.style.background = colour
  const step = () => followLink("train", 0, "", `x=${x}&y=${y}&stage=blend&gaussian=${id}`)
  const title = `Step to where Gaussian ${id} is blended`
  const attributes = {type: "button", class: "linkish", "aria-label": `Gaussian ${id}, layer ${place}`, title, onclick: step}
  const heard = (words: string) => h("span", {class: "sr"}, words) // what the heads of the columns say
  const name = h("span", {class: "story-name"}, patch, here ? `${id}` : h("button", attributes, `${id}`))
  const row = shareRow(
    "story-row",
    h("span", {class: "num story-place", "aria-hidden": "true"}, `${place}`),
    name,
    heard("share "),
    h("b", {class: "num"}, short(before - after)),
  )
  row.paint(colour, before, after, `α ${short(alpha)}`, "past")
  row.el.dataset.layer = String(id)
  return row.el
}

function plainRow(name: string, words: string, share: number) {
  const label = h("span", {class: "story-name"}, name)
  return h("li", {class: "story-row story-others"}, label, h("b", {class: "num"}, short(share)), h("span", {class: "dim"}, words))
}

function swatch(name: string) {
  const patch = h("i", {class: "story-patch"})
  const numbers = h("span", {class: "num"})
  const el = h("div", {}, h("dt", {}, name), h("dd", {}, patch, numbers))
  return {
    el,
    show(colour: number[]) {
      patch.style.background = colour.length ? css(colour) : ""
      numbers.textContent = colour.length ? bytes(colour) : "…"
    },
  }
}

/** The neighbourhood of a pixel, with the pixel and its tile outlined. */
function pictureCrop() {
  const canvas = h("canvas", {class: "story-crop", width: ACROSS, height: DOWN, role: "img"})
  const marks = s("svg", {"aria-hidden": "true", preserveAspectRatio: "none", viewBox: `0 0 ${ACROSS} ${DOWN}`})
  const words = h("figcaption")
  const el = h("figure", {}, h("div", {class: "story-picture"}, canvas, marks), words)
  let drawn: unknown = null
  let bitmap: ImageBitmap | null = null
  return {
    el,
    async show(picture: Bytes, x: number, y: number, [width, height]: [width: number, height: number]) {
      words.textContent = `The picture around it. The larger frame is its tile: ${width} × ${height} pixels, which one workgroup draws.`
      if (drawn !== picture) {
        drawn = picture
        bitmap?.close()
        bitmap = null
        if (picture?.byteLength) {
          const made = await createImageBitmap(new Blob([picture]))
          if (drawn !== picture) return made.close()
          bitmap = made
        }
      }
      const context = context2d(canvas)
      context.clearRect(0, 0, ACROSS, DOWN)
      if (!bitmap) return marks.replaceChildren()
      const left = Math.max(0, Math.min(bitmap.width - ACROSS, x - ACROSS / 2))
      const top = Math.max(0, Math.min(bitmap.height - DOWN, y - DOWN / 2))
      context.drawImage(bitmap, -left, -top)
      const outline = (name: string, u: number, v: number, w: number, t: number) =>
        [`${name} out`, name].map((klass) => s("rect", {x: u - left, y: v - top, width: w, height: t, class: klass}))
      const [column, row] = [Math.floor(x / width), Math.floor(y / height)]
      marks.replaceChildren(
        ...outline("story-tile", column * width, row * height, width, height),
        ...outline("story-pixel", x, y, 1, 1),
      )
      canvas.setAttribute("aria-label", `The picture around pixel (${x}, ${y})`)
    },
  }
}
