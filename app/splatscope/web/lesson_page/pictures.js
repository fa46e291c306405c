// Pictures that a kernel wrote, each pixel a square; a pointer or the arrow keys read off one place in all of them, magnified.
import {h} from "#web/shell/dom.js"
import {show} from "#web/drawing/look.js"

const FIRE = [
  [10, 10, 30],
  [87, 16, 110],
  [188, 55, 84],
  [249, 142, 9],
  [252, 255, 164],
] // dark to pale yellow, the same in both themes
const BELOW = [0, 114, 178],
  ABOVE = [196, 74, 6],
  MIDDLE = [236, 236, 231] // blue through ground to vermilion

export function pictures({pictures: all, lens, at}) {
  const views = all.map((picture) => view(picture, lens))
  const read = (x, y) => views.forEach((one) => (x === null && at ? one.read(...at) : one.read(x, y)))
  for (const one of views) one.listen(read)
  if (at) read(null)
  return h("div", {class: "pictures"}, ...views.map((one) => one.el))
}

function view(picture, lens) {
  const {width, height, caption} = picture
  const canvas = h("canvas", {width, height, class: "pixels", role: "img", tabindex: "0"})
  const data = rgba(picture)
  canvas.getContext("2d").putImageData(new ImageData(data, width, height), 0, 0)
  const words = h("p", {class: "reading num"}),
    glass = lens ? h("canvas", {width: lens, height: lens, class: "pixels glass", hidden: true}) : null
  const title = h("figcaption")
  title.innerHTML = caption
  canvas.setAttribute("aria-label", title.textContent)
  const el = h("figure", {class: "plate"}, h("div", {class: "under"}, canvas, glass), title, words)
  let at = [width >> 1, height >> 1]

  const describe = (x, y) => {
    const i = y * width + x
    if (picture.values) return `(${x}, ${y}): ${show(picture.values[i])}${picture.unit ? `\u2009${picture.unit}` : ""}`
    return `(${x}, ${y}): ${[...data.slice(4 * i, 4 * i + (picture.alpha ? 4 : 3))].join(", ")}`
  }
  return {
    el,
    read(x, y) {
      if (x === null || x >= width || y >= height) {
        words.textContent = ""
        if (glass) glass.hidden = true
        return
      }
      at = [x, y]
      words.textContent = describe(x, y)
      if (!glass) return
      glass.hidden = false
      const context = glass.getContext("2d"),
        half = lens >> 1
      context.imageSmoothingEnabled = false
      context.clearRect(0, 0, lens, lens)
      context.drawImage(canvas, x - half, y - half, lens, lens, 0, 0, lens, lens)
      glass.style.left = `${x / width < 0.5 ? 68 : 4}%` // beside the place, never over it
    },
    listen(read) {
      canvas.onpointermove = (event) => {
        const box = canvas.getBoundingClientRect()
        read(
          Math.floor(((event.clientX - box.left) / box.width) * width),
          Math.floor(((event.clientY - box.top) / box.height) * height),
        )
      }
      canvas.onpointerleave = () => read(null)
      canvas.onblur = () => read(null)
      canvas.onkeydown = (event) => {
        const way = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key]
        if (!way) return
        event.preventDefault()
        event.stopPropagation()
        read(Math.min(width - 1, Math.max(0, at[0] + way[0])), Math.min(height - 1, Math.max(0, at[1] + way[1])))
      }
    },
  }
}

// Pixels come as bytes in base 64; maps as numbers.
function rgba(picture) {
  const {width, height, values} = picture,
    out = new Uint8ClampedArray(4 * width * height)
  if (!values) {
    const bytes = Uint8Array.from(atob(picture.bytes), (c) => c.charCodeAt(0)),
      step = picture.alpha ? 4 : 3
    for (let i = 0; i < width * height; i++) for (let c = 0; c < 4; c++) out[4 * i + c] = c < step ? bytes[step * i + c] : 255
    return out
  }
  const finite = values.filter(Number.isFinite)
  const top =
    picture.high ?? finite.reduce((a, b) => Math.max(a, picture.signed ? Math.abs(b) : b), picture.signed ? 1e-30 : -Infinity)
  const low = picture.low ?? (picture.signed ? -top : finite.reduce((a, b) => Math.min(a, b), Infinity))
  values.forEach((value, i) => {
    const share = Number.isFinite(value) ? Math.min(1, Math.max(0, (value - low) / (top - low || 1))) : 1
    const [r, g, b] = picture.signed
      ? mix(share < 0.5 ? BELOW : MIDDLE, share < 0.5 ? MIDDLE : ABOVE, share < 0.5 ? share * 2 : share * 2 - 1)
      : ramp(share)
    out.set([r, g, b, 255], 4 * i)
  })
  return out
}

const mix = (a, b, t) => a.map((v, i) => v + (b[i] - v) * t)

function ramp(share) {
  const at = Math.min(FIRE.length - 1.0001, share * (FIRE.length - 1)),
    i = Math.floor(at)
  return mix(FIRE[i], FIRE[i + 1], at - i)
}
