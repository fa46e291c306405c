// The current picture, its error map, on phones also the target; with the Gaussians as ellipses on top.
import {context2d} from "#web/drawing/pixels.ts"
import {h, style} from "#web/runtime/dom.ts"
import {emit} from "#web/runtime/events.ts"
import {addKeys} from "#web/runtime/keys.ts"
import {showFrames} from "#web/widgets/frame.ts"
import {arrowsChoose, checkOne} from "#web/widgets/roving.ts"
import {Clip} from "./clip.ts"
import {type OpenedPixel, PixelCursor} from "./pixel_cursor.ts"
import {shareButton} from "./share.ts"
import type {Bytes} from "#components"
import type {Render} from "#web/types.ts"

const NAMES = {picture: "The picture", target: "The target", error: "The error map: dark is right, bright is wrong"}
const VIEWS: [name: keyof typeof NAMES, label: string][] = [
  ["picture", "Picture"],
  ["target", "Target"],
  ["error", "Error"],
]
const STILL = 4000 // ms without a new picture after which the ellipses go
const FLOATS = 10 // per ellipse: centre, axis, radii, opacity, red, green, blue

export function render({model, el}: Render<"TrainingPicture">) {
  style(el)
  const picture = h("canvas", {class: "plain", width: 300, height: 200}) // space for most pictures until the first one arrives
  const error = h("canvas", {class: "emap", role: "img", "aria-label": NAMES.error})
  const target = h("canvas", {class: "timg", role: "img", "aria-label": NAMES.target})
  const ellipses = h("canvas", {class: "ells", "aria-hidden": "true"})
  const frame = h("div", {class: "frame ell"}, picture, error, target, ellipses)
  const awaited = h("p", {class: "awaited"}, "The kernels will draw here")
  if (!model.sequence) frame.append(awaited)
  let view: keyof typeof NAMES = "picture"
  const colourAt = (x: number, y: number) => {
    const shown = {picture, target, error}[view]
    const scale = shown.width / picture.width // the error map may be smaller
    const [red, green, blue] = context2d(shown).getImageData(Math.floor(x * scale), Math.floor(y * scale), 1, 1).data
    if (view !== "error") return `red ${red}, green ${green}, blue ${blue}`
    return `error, from 0 for dark to 100 for bright: ${Math.round((0.2126 * red + 0.7152 * green + 0.0722 * blue) / 2.55)}`
  }
  const cursor = model.opens ? new PixelCursor(frame, model, colourAt, model.opens === "here" ? openedHere() : undefined) : null

  const buttons = VIEWS.map(([name, label]) =>
    h("button", {type: "button", role: "radio", class: name === "target" ? "narrow" : null, onclick: () => choose(name)}, label),
  )
  const choose = (name: keyof typeof NAMES) => {
    view = name
    frame.setAttribute("aria-label", NAMES[name])
    checkOne(
      buttons,
      VIEWS.findIndex(([other]) => other === name),
    )
    drawn.hidden = name !== "picture"
    scale.hidden = name !== "error"
    frame.classList.toggle("err", name === "error")
    frame.classList.toggle("tgt", name === "target")
    if (name === "error") paint(error, model.error)
    if (name === "target") paint(target, model.target)
    outline()
    wake()
  }
  const seg = h("div", {class: "seg", role: "radiogroup", "aria-label": "Show"}, ...buttons)
  arrowsChoose(seg, buttons)
  const box = h("input", {type: "checkbox", checked: true})
  const sample = h("span", {class: "dim"})
  const drawn = h("label", {class: "chk"}, box, "Ellipses ", sample)
  const scale = errorScale(model.heat)
  box.onchange = () => {
    frame.classList.toggle("ell", box.checked)
    outline()
    wake(true)
  }

  // Over a picture that no longer changes, ellipses look like scratches: they go, until it changes or the reader asks for them.
  let fades: ReturnType<typeof setTimeout> | undefined
  const wake = (stay = false) => {
    clearTimeout(fades)
    frame.classList.remove("still")
    if (model.sequence && !stay) fades = setTimeout(rest, STILL)
  }
  const rest = () => {
    frame.classList.add("still")
    if (box.checked) sample.textContent = "while it changes"
  }
  const outline = () => {
    sample.textContent = model.one_in > 1 ? `1\u00a0in\u00a0${model.one_in.toLocaleString("en")} shown` : "all shown"
    if (box.checked && view === "picture") drawEllipses(ellipses, picture, model.ellipses)
  }
  let first = !model.sequence && matchMedia("(max-width: 760px)").matches // until the first picture arrives, phones show the target in its place
  showFrames(model, picture, () => {
    if (first && view === "target") choose("picture")
    first = false
    awaited.remove()
    const ratio = picture.width / picture.height
    frame.style.aspectRatio = String(ratio)
    frame.style.width = `min(100%, ${ratio} * var(--tallest, 70vh))` // so that a tall picture leaves the charts in sight
    cursor?.resize(picture.width, picture.height)
    if (view === "error") paint(error, model.error)
    outline()
    wake()
  })
  model.on("target", () => {
    if (view === "target") paint(target, model.target)
  })
  const clip = new Clip()
  const keep = () => {
    const {frame, data} = model
    if (frame?.byteLength) clip.add(new Blob([frame]), Number(data.iteration ?? 0))
  }
  model.on("sequence", () => queueMicrotask(keep))
  const isInFrame = location.protocol === "about:" // which has no address to share
  const share = isInFrame
    ? null
    : shareButton(
        clip,
        () => (model.target?.byteLength ? new Blob([model.target]) : null),
        () => model.sample,
        () => cursor?.chosen ?? null,
      )
  const resized = new ResizeObserver(outline)
  resized.observe(frame)

  const endKeys = addKeys({
    active: () => frame.offsetParent !== null,
    keys: {e: () => choose(view === "error" ? "picture" : "error"), g: () => box.click()},
  })
  model.on("remove", () => {
    endKeys()
    clearTimeout(fades)
    cursor?.end()
    resized.disconnect()
  })
  choose(first ? "target" : "picture")

  return h(
    "figure",
    {class: "pic", role: "none"}, // what stands over it are controls, which are no name
    h("div", {class: "over-it"}, seg, h("span", {class: "sp"}), scale, drawn, share?.button ?? null),
    frame,
    share?.dialog ?? null,
  )
}

/** The pixel of a run in this browser, which is told what it is made of. */
function openedHere(): OpenedPixel {
  let at: OpenedPixel["at"] = null
  return {
    get at() {
      return at
    },
    open(x, y) {
      at = [x, y]
      emit("opened", at)
    },
  }
}

/** The colours of the error map, which are spread by the square root: the middle is a quarter. */
function errorScale(heat: number[][]) {
  const colours = heat.map((colour) => `rgb(${colour.join(" ")})`)
  const half = (from: number, to: number) =>
    h("i", {style: `background: linear-gradient(90deg, ${colours.slice(from, to).join(", ")})`})
  const middle = Math.ceil(colours.length / 2)
  const label = "Scale of the error: dark is 0, the middle 64, bright 255 of 255 steps"
  return h(
    "span",
    {class: "heat", role: "img", "aria-label": label},
    "0",
    half(0, middle),
    "64",
    half(middle - 1, colours.length),
    "255",
    h("span", {class: "wide"}, "steps"),
  )
}

/** @param bytes  an encoded picture */
async function paint(canvas: HTMLCanvasElement, bytes: Bytes) {
  if (!bytes?.byteLength) return
  const bitmap = await createImageBitmap(new Blob([bytes]))
  canvas.width = bitmap.width
  canvas.height = bitmap.height
  context2d(canvas).drawImage(bitmap, 0, 0)
  bitmap.close()
}

/**
 * Draw Gaussians at the screen's resolution, so that lines stay thin over a small picture.
 * @param picture  the picture below
 * @param bytes  float32, FLOATS per Gaussian
 */
function drawEllipses(canvas: HTMLCanvasElement, picture: HTMLCanvasElement, bytes: Bytes) {
  const {width, height} = canvas.getBoundingClientRect()
  if (!width || !bytes?.byteLength) return
  const density = window.devicePixelRatio || 1
  canvas.width = Math.round(width * density)
  canvas.height = Math.round(height * density)
  const context = context2d(canvas)
  const scale = canvas.width / picture.width
  context.lineWidth = 1.1 * density
  const values = floatsOf(bytes)
  for (let i = 0; i + FLOATS <= values.length; i += FLOATS) {
    const [x, y, axisX, axisY, radius1, radius2, , red, green, blue] = values.subarray(i, i + FLOATS)
    const lighter = [red, green, blue].map((c) => Math.round(255 * Math.min(1, 0.25 + 0.75 * Math.max(0, c)))).join(" ")
    const [centreX, centreY] = [(x + 0.5) * scale, (y + 0.5) * scale]
    context.beginPath()
    context.ellipse(centreX, centreY, radius1 * scale, radius2 * scale, Math.atan2(axisY, axisX), 0, 2 * Math.PI)
    context.fillStyle = `rgb(${lighter} / .05)`
    context.strokeStyle = `rgb(${lighter} / .85)`
    context.fill()
    context.stroke()
  }
}

/** Bytes as floats. They are copied if a view is not aligned for floats. */
function floatsOf(bytes: ArrayBuffer | ArrayBufferView) {
  if (bytes instanceof ArrayBuffer) return new Float32Array(bytes)
  return new Float32Array(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength).slice().buffer)
}
