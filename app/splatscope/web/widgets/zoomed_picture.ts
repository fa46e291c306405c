// A picture that the reader moves and enlarges. Until the wanted part has been drawn, the frame before is moved to where it belongs.
import {h, style} from "#web/runtime/dom.ts"
import {showFrames} from "./frame.ts"
import type {Render} from "#web/types.ts"

type Region = [left: number, top: number, right: number, bottom: number]

const CLOSEST = 4 // pixels of the picture, at least, from side to side
const STEP = 1.5 // by which a key or a button enlarges
const SHIFT = 0.125 // of the window, by which an arrow key moves

export function render({model, el}: Render<"ZoomedPicture">) {
  style(el)
  const canvas = h("canvas", {width: 300, height: 200})
  const window = h("div", {
    class: "zoomed",
    tabindex: "0",
    role: "application",
    "aria-roledescription": "picture",
    "aria-label": "Move with the arrow keys or by dragging; + and − enlarge and reduce; 0 shows all.",
    "data-testid": "zoomed",
  })
  let region = [...model.region] as Region

  /** Place the frame where it belongs in what is wanted. */
  const place = () => {
    const [left, top, right] = region
    const [shownLeft, shownTop, shownRight] = model.shown
    const scale = window.clientWidth / (right - left)
    const size = (shownRight - shownLeft) / (right - left)
    canvas.style.transform = `translate(${(shownLeft - left) * scale}px, ${(shownTop - top) * scale}px) scale(${size})`
    window.style.aspectRatio = String(model.width / model.height)
    canvas.style.imageRendering = scale * size > 4 * devicePixelRatio ? "pixelated" : ""
  }
  /** Show a part that has the picture's aspect, is in it, and is wide by so many pixels. */
  const look = (left: number, top: number, wide: number) => {
    const width = Math.min(model.width, Math.max(CLOSEST, wide)),
      height = (width * model.height) / model.width
    const x = Math.min(Math.max(0, left), model.width - width),
      y = Math.min(Math.max(0, top), model.height - height)
    region = [x, y, x + width, y + height]
    place()
    model.send_msg({type: "look", left: x, top: y, right: x + width, bottom: y + height})
  }
  /** Enlarge around a place of the window, each from 0 to 1. */
  const zoom = (factor: number, x = 0.5, y = 0.5) => {
    const [left, top, right, bottom] = region
    const wide = Math.min(model.width, Math.max(CLOSEST, (right - left) / factor))
    const ratio = wide / (right - left)
    look(left + (right - left) * x * (1 - ratio), top + (bottom - top) * y * (1 - ratio), wide)
  }
  const move = (x: number, y: number) => {
    const [left, top, right, bottom] = region
    look(left + x * (right - left), top + y * (bottom - top), right - left)
  }

  window.onwheel = (event) => {
    event.preventDefault()
    const box = window.getBoundingClientRect()
    zoom(1.0015 ** -event.deltaY, (event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height)
  }
  window.onpointerdown = (event) => window.setPointerCapture(event.pointerId)
  window.onpointermove = (event) => {
    if (event.buttons) move(-event.movementX / window.clientWidth, -event.movementY / window.clientHeight)
  }
  window.ondblclick = () => zoom(2)
  const KEYS: Record<string, () => void> = {
    "+": () => zoom(STEP),
    "=": () => zoom(STEP),
    "-": () => zoom(1 / STEP),
    "0": () => look(0, 0, model.width),
    ArrowLeft: () => move(-SHIFT, 0),
    ArrowRight: () => move(SHIFT, 0),
    ArrowUp: () => move(0, -SHIFT),
    ArrowDown: () => move(0, SHIFT),
  }
  window.onkeydown = (event) => {
    const act = KEYS[event.key]
    if (!act) return
    event.preventDefault()
    act()
  }

  showFrames(model, canvas, place)
  model.on("region", () => {
    region = [...model.region] as Region
    place()
  })
  const resized = new ResizeObserver(place)
  resized.observe(window)
  model.on("remove", () => resized.disconnect())
  window.append(canvas)
  const button = (label: string, words: string, act: () => void) =>
    h("button", {type: "button", class: "btn icon", "aria-label": words, title: words, onclick: act}, label)
  return h(
    "div",
    {class: "zoomed-at"},
    window,
    h(
      "div",
      {class: "zoom"},
      button("+", "Enlarge", KEYS["+"]),
      button("−", "Reduce", KEYS["-"]),
      button("⤢", "Show all", KEYS["0"]),
    ),
  )
}
