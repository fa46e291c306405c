// Handles of a Gaussian's outline over a picture: its centre to drag, and an end of each axis to stretch and turn it.
import {zoomOf} from "#web/runtime/dom.ts"
import {s, setAttributes} from "./svg.ts"

/** In pixels of the picture. */
export type Shape = {x: number; y: number; angle: number; size: [number, number]}

const REACH = 14 // px around a handle in which it is grabbed
export const OUTLINE = 2 // sizes from the centre

/**
 * The three handles.
 * @param over  the SVG that lies over the picture
 * @param room  the picture's width and height in pixels
 * @param move  the Gaussian is dragged to a place, or its axis 0 or 1 to a size and an angle; `done` once it is let go
 */
export function ellipseHandles(
  over: SVGElement,
  room: () => readonly number[],
  move: {to(x: number, y: number): void; stretch(axis: number, size: number, angle: number): void; done(): void},
) {
  let scale = 1 // px a pixel of the picture
  let shape: Shape = {x: 0, y: 0, angle: 0, size: [1, 1]}
  const centre = handle("Drag to move", "move", move.to)
  const ends = [0, 1].map((axis) =>
    handle("Drag to stretch and turn", "stretch", (x, y) => {
      const [dx, dy] = [x - shape.x, y - shape.y]
      const length = Math.max(0.3, Math.hypot(dx, dy)) / reachOf(axis)
      move.stretch(axis, length, wrapped(Math.atan2(dy, dx) - (axis ? Math.PI / 2 : 0)))
    }),
  )

  /** How many sizes out the handle of an axis stands: at the outline, or nearer where that is outside of the picture. */
  function reachOf(axis: number) {
    const [width, height] = room()
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
      move.done()
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

  return {
    els: [...ends.map((end) => end.el), centre.el],
    /** Put them at a Gaussian. Returns where the axes end. */
    show(next: Shape, px: number): [x: number, y: number][] {
      shape = next
      scale = px
      centre.place(shape.x, shape.y)
      return ends.map((end, axis) => {
        const turn = shape.angle + (axis ? Math.PI / 2 : 0)
        const reach = reachOf(axis) * shape.size[axis]
        const [x, y] = [shape.x + reach * Math.cos(turn), shape.y + reach * Math.sin(turn)]
        end.place(x, y)
        return [x, y]
      })
    },
  }
}

/** The same line's angle, within a quarter of a turn. */
const wrapped = (angle: number) => angle - Math.PI * Math.round(angle / Math.PI)
