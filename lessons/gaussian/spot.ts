// The picture with the Gaussian in it: handles to drag, stretch and turn it, and the way from its centre to the chosen pixel.
import {h} from "#web/runtime/dom.ts"
import {ellipseHandles, OUTLINE, type Shape} from "#web/drawing/ellipse_handles.ts"
import {pixelPicker} from "#web/drawing/pixel_picker.ts"
import {s, setAttributes} from "#web/drawing/svg.ts"
import {type Facts, STAGE} from "./stages.ts"

export function spot({
  facts,
  change,
  choose,
}: {
  facts: () => Facts
  change: (changes: Record<number, number>, dragging: boolean) => void
  choose: (pixel: [number, number]) => void
}) {
  const picker = pixelPicker(choose)
  const over = s("svg", {class: "spot-over", "aria-hidden": "true"})
  const el = h("div", {class: "spot-picture framed"}, picker.el, over)
  let scale = 1 // px a pixel of the picture
  let shape: Shape = {x: 0, y: 0, angle: 0, size: [1, 1]}
  let done = 0

  const outline = s("ellipse", {class: "spot-outline"})
  const through = s("ellipse", {class: "spot-through"})
  const axes = [s("path", {class: "spot-axis"}), s("path", {class: "spot-axis"})]
  const legs = [s("path", {class: "spot-leg halo"}), s("path", {class: "spot-leg"})]
  const way = [s("path", {class: "spot-way halo"}), s("path", {class: "spot-way"})]
  const handles = ellipseHandles(over, () => facts().size, {
    to: (x, y) => change({0: x, 1: y}, true),
    stretch(axis, length, angle) {
      const size = Math.log(Math.max(0.05, length - facts().thinnest))
      change({[2 + axis]: size, 4: angle}, true)
    },
    done: () => change({}, false),
  })
  over.append(outline, through, ...axes, ...legs, ...way, ...handles.els)

  const px = (x: number) => ((x + 0.5) * scale).toFixed(1)
  const point = (x: number, y: number) => `${px(x)} ${px(y)}`

  function arrange() {
    const {x, y, angle, size} = shape
    const {pixel, seen} = facts()
    const turned = `translate(${px(x)} ${px(y)}) rotate(${(angle * 180) / Math.PI})`
    const ellipse = (sizes: number) => ({rx: sizes * size[0] * scale, ry: sizes * size[1] * scale, transform: turned})
    setAttributes(outline, ellipse(OUTLINE))
    setAttributes(through, ellipse(seen.distance))
    handles.show(shape, scale).forEach(([endX, endY], axis) => {
      setAttributes(axes[axis], {d: `M${point(x, y)}L${point(endX, endY)}`})
    })
    const along = seen.turned[0]
    const corner = done > STAGE.turned ? point(x + along * Math.cos(angle), y + along * Math.sin(angle)) : point(pixel[0], y)
    for (const leg of legs) setAttributes(leg, {d: `M${point(x, y)}L${corner}L${point(pixel[0], pixel[1])}`})
    for (const line of way) setAttributes(line, {d: `M${point(x, y)}L${point(pixel[0], pixel[1])}`})
    for (const part of [outline, ...axes]) part.classList.toggle("later", done <= STAGE.size)
    for (const part of [...way, ...legs]) part.classList.toggle("later", done <= STAGE.offset)
    through.classList.toggle("later", done <= STAGE.distance)
  }

  return {
    el,
    /** Show the picture of another recording. */
    show() {
      const {numbers, seen} = facts()
      picker.show(facts(), [])
      if (!el.querySelector(".held")) shape = {x: numbers[0], y: numbers[1], angle: numbers[4], size: seen.size}
      arrange()
    },
    /** Draw the ellipse in hand. */
    preview(numbers: number[]) {
      const [x, y, first, second, angle] = numbers
      const {thinnest} = facts()
      shape = {x, y, angle, size: [thinnest + Math.exp(first), thinnest + Math.exp(second)]}
      arrange()
    },
    paint(stages: number) {
      done = stages
      arrange()
    },
    resize(width: number, height: number) {
      scale = Math.max(0.1, width / facts().size[0])
      el.style.width = `${width}px`
      setAttributes(over, {width, height, viewBox: `0 0 ${width} ${height}`})
      arrange()
    },
  }
}
