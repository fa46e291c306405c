// Pictures written by a kernel, each pixel a square. A pointer or the arrow keys read one pixel in all of them, magnified.
import {show} from "#web/drawing/look.ts"
import {bytesOf, context2d, floatsOf} from "#web/drawing/pixels.ts"
import {h} from "#web/runtime/dom.ts"
import {GRID_AND_ENDS, onArrows} from "#web/widgets/roving.ts"
import {diverging, fire} from "./colour_maps.ts"
import type {PicturesPart, PublicPicture} from "#components"

type Pixel = [x: number, y: number]

export function pictures({pictures, lens, at}: PicturesPart) {
  const read = (pixel: Pixel | null) => {
    for (const view of views) view.read(pixel ?? at)
  }
  const views = pictures.map((picture) => pictureView(picture, lens, read))
  if (at) read(at)
  return h("div", {class: "pictures"}, ...views.map((view) => view.el))
}

function pictureView(picture: PublicPicture, lens: number, onRead: (pixel: Pixel | null) => void) {
  const {width, height} = picture
  // a picture to screen readers, but one that they leave the arrow keys to
  const spoken = {role: "application", "aria-roledescription": "picture"}
  const canvas = h("canvas", {width, height, class: "pixels", tabindex: "0", ...spoken})
  const values = picture.values === undefined ? null : floatsOf(picture.values)
  const data = values ? mapColours(picture, values) : byteColours(picture)
  context2d(canvas).putImageData(new ImageData(data, width, height), 0, 0)
  const words = h("p", {class: "reading num", "aria-hidden": "true"})
  const heard = h("p", {class: "sr", "aria-live": "polite"}) // announces what the keys read; what a pointer reads is not announced
  const magnified = lens ? h("canvas", {width: lens, height: lens, class: "pixels glass", hidden: true}) : null
  const named = !/<a\b/.test(picture.caption) // the picture has the name that its figure would have, which needs none then
  const title = h(named ? "div" : "figcaption", {class: "under-it"})
  title.innerHTML = picture.caption
  canvas.setAttribute("aria-label", title.textContent || "Picture")
  if (named) title.setAttribute("aria-hidden", "true")
  const scale = values && scaleOf(picture, values)
  canvas.setAttribute("aria-description", `${scale ? `${scale.said} ` : ""}Use the arrow keys to read pixels.`)
  let current: Pixel = [width >> 1, height >> 1]
  const clamped = (x: number, y: number) => [Math.min(width - 1, Math.max(0, x)), Math.min(height - 1, Math.max(0, y))] as Pixel

  canvas.onpointermove = (event) => {
    const box = canvas.getBoundingClientRect()
    const [u, v] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height]
    onRead([Math.floor(u * width), Math.floor(v * height)])
  }
  canvas.onpointerleave = () => onRead(null)
  canvas.onblur = () => {
    heard.textContent = ""
    onRead(null)
  }
  onArrows(canvas, GRID_AND_ENDS, ([dx, dy]) => {
    onRead(clamped(current[0] + dx, current[1] + dy))
    heard.textContent = spell(picture, values, data, current)
  })

  return {
    el: h(
      "figure",
      {class: "plate", role: named ? "none" : null},
      h("div", {class: "under"}, canvas, magnified),
      title,
      scale?.el ?? "",
      words,
      heard,
    ),
    read(pixel: Pixel | null) {
      const inside = pixel && pixel[0] < width && pixel[1] < height
      if (magnified) magnified.hidden = !inside
      words.textContent = inside ? describe(picture, values, data, pixel) : ""
      if (!inside) return
      current = pixel
      if (magnified) magnify(canvas, magnified, pixel)
    },
  }
}

function describe({width, unit, alpha}: PublicPicture, values: Float32Array | null, data: Uint8ClampedArray, [x, y]: Pixel) {
  const i = y * width + x
  if (values) return `(${x}, ${y}): ${show(values[i])}${unit ? `\u2009${unit}` : ""}`
  return `(${x}, ${y}): ${[...data.slice(4 * i, 4 * i + (alpha ? 4 : 3))].join(", ")}`
}

/** The same in words, for screen readers. */
function spell({width, unit, alpha}: PublicPicture, values: Float32Array | null, data: Uint8ClampedArray, [x, y]: Pixel) {
  const i = y * width + x
  const channels = ["red", "green", "blue", ...(alpha ? ["alpha"] : [])]
  const read = values
    ? `${show(values[i], 3)}${unit ? ` ${unit}` : ""}`
    : channels.map((name, channel) => `${name} ${data[4 * i + channel]}`).join(", ")
  return `column ${x}, row ${y}: ${read}`
}

/** Show the magnified neighbourhood of a pixel, beside the pixel and never over it. */
function magnify(from: HTMLCanvasElement, to: HTMLCanvasElement, [x, y]: Pixel) {
  const lens = to.width
  const half = lens >> 1
  const context = context2d(to)
  context.imageSmoothingEnabled = false
  context.clearRect(0, 0, lens, lens)
  context.drawImage(from, x - half, y - half, lens, lens, 0, 0, lens, lens)
  to.style.left = `${x / from.width < 0.5 ? 68 : 4}%`
}

/** Red, green, blue and alpha of each pixel. */
function byteColours({width, height, bytes = "", alpha}: PublicPicture) {
  const out = new Uint8ClampedArray(4 * width * height)
  const decoded = bytesOf(bytes)
  const channels = alpha ? 4 : 3
  for (let i = 0; i < width * height; i++)
    for (let c = 0; c < 4; c++) out[4 * i + c] = c < channels ? decoded[channels * i + c] : 255
  return out
}

/** The same for a map of numbers. */
function mapColours(picture: PublicPicture, values: Float32Array) {
  const out = new Uint8ClampedArray(4 * values.length)
  const {low, high} = rangeOf(picture, values)
  values.forEach((value, i) => {
    const share = Number.isFinite(value) ? Math.min(1, Math.max(0, (value - low) / (high - low || 1))) : 1
    out.set([...(picture.signed ? diverging(share) : fire(share)), 255], 4 * i)
  })
  return out
}

/** The colours of a map and the numbers that they begin and end with; null if all its pixels have one value. */
function scaleOf(picture: PublicPicture, values: Float32Array) {
  const {low, high} = rangeOf(picture, values)
  if (!(low < high)) return null
  const colours = Array.from({length: 9}, (_, i) => `rgb(${(picture.signed ? diverging : fire)(i / 8)})`)
  const ends = [low, high].map((value) => show(value) + (picture.unit ? `\u2009${picture.unit}` : ""))
  const bar = h("i", {style: `background: linear-gradient(to right, ${colours})`})
  const el = h("p", {class: "scale num", "aria-hidden": "true"}, ends[0], bar, ends[1])
  return {el, said: `Colours from ${ends[0]} to ${ends[1]}.`}
}

/**
 * The values of the first and the last colour: as given, else the smallest and largest value; for a signed map, equally far from 0.
 */
export function rangeOf({low, high, signed}: Partial<Pick<PublicPicture, "low" | "high" | "signed">>, values: Float32Array) {
  const finite = values.filter(Number.isFinite)
  if (signed) {
    const top = high ?? finite.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-30)
    return {low: low ?? -top, high: top}
  }
  return {
    low: low ?? finite.reduce((least, value) => Math.min(least, value), Infinity),
    high: high ?? finite.reduce((most, value) => Math.max(most, value), -Infinity),
  }
}
