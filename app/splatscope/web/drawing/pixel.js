// A small picture that a kernel wrote, in which one pixel is chosen: by a click, by dragging, by the arrow keys.
import {h} from "#web/shell/dom.js"
import {onArrows} from "./arrows.js"
import {s} from "./svg.js"

// `choose([x, y])` is told. show({size, pixel, picture: bytes in base 64, ellipses: [[x, y, σx, σy, angle]]}, colours)
export function pixelPicture(choose) {
  const canvas = h("canvas", {class: "pixels"}),
    marks = s("svg", {"aria-hidden": "true", preserveAspectRatio: "none"})
  const el = h(
    "div",
    {
      class: "pxp",
      role: "slider",
      tabindex: "0",
      "aria-orientation": "horizontal",
      "aria-label": "Pixel of the picture, moved with the arrow keys",
    },
    canvas,
    marks,
  )
  let size = [1, 1],
    at = [0, 0]

  const go = (x, y) => {
    const next = [Math.min(size[0] - 1, Math.max(0, x)), Math.min(size[1] - 1, Math.max(0, y))]
    if (next[0] === at[0] && next[1] === at[1]) return
    at = next
    mark()
    choose(at)
  }
  const mark = () => {
    marks.querySelectorAll(".pxm").forEach((one) => one.remove())
    for (const klass of ["pxm out", "pxm"]) marks.append(s("rect", {x: at[0], y: at[1], width: 1, height: 1, class: klass}))
    el.setAttribute("aria-valuenow", String(at[1] * size[0] + at[0]))
    el.setAttribute("aria-valuetext", `column ${at[0]}, row ${at[1]}`)
  }
  const point = (event) => {
    const box = el.getBoundingClientRect()
    go(
      Math.floor(((event.clientX - box.left) / box.width) * size[0]),
      Math.floor(((event.clientY - box.top) / box.height) * size[1]),
    )
  }
  el.onpointerdown = (event) => {
    if (!event.button) {
      el.setPointerCapture(event.pointerId)
      point(event)
    }
  }
  el.onpointermove = (event) => {
    if (el.hasPointerCapture(event.pointerId)) point(event)
  }
  onArrows(el, {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}, (way) =>
    go(at[0] + way[0], at[1] + way[1]),
  )

  return {
    el,
    show(facts, colours) {
      size = facts.size
      at = facts.pixel
      const [width, height] = size,
        bytes = Uint8Array.from(atob(facts.picture), (c) => c.charCodeAt(0))
      canvas.width = width
      canvas.height = height
      const image = new ImageData(width, height)
      for (let i = 0; i < width * height; i++) image.data.set([bytes[3 * i], bytes[3 * i + 1], bytes[3 * i + 2], 255], 4 * i)
      canvas.getContext("2d").putImageData(image, 0, 0)
      el.style.aspectRatio = `${width} / ${height}`
      el.setAttribute("aria-valuemax", String(width * height - 1))
      el.setAttribute("aria-valuemin", "0")
      marks.setAttribute("viewBox", `0 0 ${width} ${height}`)
      // a pixel's centre has whole coordinates in the kernel; here it is half a pixel from the corner
      marks.replaceChildren(
        ...(facts.ellipses ?? []).map(([x, y, a, b, angle], i) =>
          s(
            "g",
            {transform: `translate(${x + 0.5} ${y + 0.5}) rotate(${(angle * 180) / Math.PI})`},
            s("ellipse", {rx: 2 * a, ry: 2 * b, class: "pxe", style: `--own:${colours[i]}`}),
          ),
        ),
      )
      mark()
    },
  }
}
