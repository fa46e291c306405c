// The picture with the Gaussian in it: handles to drag, stretch and turn it, and the way from its centre to the chosen pixel.
import {h, zoomOf} from "#web/runtime/dom.ts"
import {pixelPicker} from "#web/drawing/pixel_picker.ts"
import {s, setAttributes} from "#web/drawing/svg.ts"
import {type Facts, STAGE} from "./stages.ts"

/** In pixels of the picture. */
type Shape = {x: number; y: number; angle: number; size: [number, number]}

const OUTLINE = 2 // sizes from the centre
const REACH = 14 // px around a handle in which it is grabbed

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
  const centre = handle("Drag to move", "move", (x, y) => change({0: x, 1: y}, true))
  const ends = [0, 1].map((axis) =>
    handle("Drag to stretch and turn", "stretch", (x, y) => {
      const [dx, dy] = [x - shape.x, y - shape.y]
      const length = Math.max(0.3, Math.hypot(dx, dy)) / reachOf(axis)
      const size = Math.log(Math.max(0.05, length - facts().thinnest))
      change({[2 + axis]: size, 4: wrapped(Math.atan2(dy, dx) - (axis ? Math.PI / 2 : 0))}, true)
    }),
  )
  over.append(outline, through, ...axes, ...legs, ...way, ...ends.map((end) => end.el), centre.el)

  /** How many sizes out the handle of an axis stands: at the outline, or nearer where that is outside of the picture. */
  function reachOf(axis: number) {
    const [width, height] = facts().size
    const turn = shape.angle + (axis ? Math.PI / 2 : 0)
    const [dx, dy] = [Math.cos(turn) * shape.size[axis], Math.sin(turn) * shape.size[axis]]
    const roomX = dx > 0 ? width - 2.5 - shape.x : shape.x - 1.5
    const roomY = dy > 0 ? height - 2.5 - shape.y : shape.y - 1.5
    return Math.max(0.4, Math.min(OUTLINE, Math.abs(roomX / (dx || 1e-9)), Math.abs(roomY / (dy || 1e-9))))
  }

  /** @param drag  in pixels of the picture */
  function handle(title: string, kind: string, drag: (x: number, y: number) => void) {
    const knob = s(
      "g",
      {class: `spot-handle ${kind}`},
      s("title", {}, title),
      s("circle", {class: "reach", r: REACH}),
      s("circle", {class: "knob", r: 6}),
    )
    let held = [0, 0] // of the pointer from the knob, in px
    const at = (event: PointerEvent) => {
      const box = over.getBoundingClientRect()
      const zoom = zoomOf(over)
      return [box.left, box.top].map((edge, i) => (([event.clientX, event.clientY][i] - edge) / zoom - held[i]) / scale - 0.5)
    }
    knob.onpointerdown = (event) => {
      if (event.button) return
      event.preventDefault()
      held = [0, 0]
      const [x, y] = at(event)
      held = [(x - here.x) * scale, (y - here.y) * scale]
      knob.setPointerCapture(event.pointerId)
      knob.classList.add("held")
    }
    knob.onpointermove = (event) => {
      if (!knob.classList.contains("held")) return
      const [x, y] = at(event)
      drag(x, y)
    }
    knob.onpointerup = knob.onpointercancel = () => {
      if (!knob.classList.contains("held")) return
      knob.classList.remove("held")
      change({}, false)
    }
    const here = {x: 0, y: 0}
    return {
      el: knob,
      place(x: number, y: number) {
        Object.assign(here, {x, y})
        setAttributes(knob, {transform: `translate(${(x + 0.5) * scale} ${(y + 0.5) * scale})`})
      },
    }
  }

  const px = (x: number) => ((x + 0.5) * scale).toFixed(1)
  const point = (x: number, y: number) => `${px(x)} ${px(y)}`

  function arrange() {
    const {x, y, angle, size} = shape
    const {pixel, seen} = facts()
    const turned = `translate(${px(x)} ${px(y)}) rotate(${(angle * 180) / Math.PI})`
    const ellipse = (sizes: number) => ({rx: sizes * size[0] * scale, ry: sizes * size[1] * scale, transform: turned})
    setAttributes(outline, ellipse(OUTLINE))
    setAttributes(through, ellipse(seen.distance))
    ends.forEach((end, axis) => {
      const turn = angle + (axis ? Math.PI / 2 : 0)
      const reach = reachOf(axis) * size[axis]
      const [endX, endY] = [x + reach * Math.cos(turn), y + reach * Math.sin(turn)]
      setAttributes(axes[axis], {d: `M${point(x, y)}L${point(endX, endY)}`})
      end.place(endX, endY)
    })
    centre.place(x, y)
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

/** The same line's angle, within a quarter of a turn. */
const wrapped = (angle: number) => angle - Math.PI * Math.round(angle / Math.PI)
