// SVG elements, and marks that have the same meaning in every drawing.
import type {Attributes} from "#web/runtime/dom.ts"

const NS = "http://www.w3.org/2000/svg"

/**
 * Make an SVG element: `s("circle", {cx, cy, r}, …children)`. Functions become properties, the rest attributes; `null`, `undefined`
 * and `false` leave an attribute out.
 */
export function s<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: (Node | string | null | undefined)[]
): SVGElementTagNameMap[Tag] {
  const el = document.createElementNS(NS, tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") Object.assign(el, {[name]: value})
    else if (value !== null && value !== undefined && value !== false) el.setAttribute(name, String(value))
  }
  el.append(...children.filter((child) => child !== null && child !== undefined))
  return el
}

/** Make the root of an SVG picture whose unit is a CSS pixel. */
export const canvas = (width: number, height: number, attributes: Attributes, ...children: (Node | string)[]) =>
  s("svg", {viewBox: `0 0 ${width} ${height}`, width, height, ...attributes}, ...children)

/**
 * The pointer's position in a picture, in the picture's own units at any scale.
 * @param svg  with a view box
 */
export function pointerIn(svg: SVGSVGElement, event: MouseEvent) {
  const box = svg.getBoundingClientRect()
  const {x, y, width, height} = svg.viewBox.baseVal
  return {x: x + ((event.clientX - box.left) / box.width) * width, y: y + ((event.clientY - box.top) / box.height) * height}
}

/** Set attributes of an element. Those that it has already cost no new style. */
export function setAttributes(el: Element, attributes: Record<string, string | number>) {
  for (const [name, value] of Object.entries(attributes))
    if (el.getAttribute(name) !== String(value)) el.setAttribute(name, String(value))
}

/** Join the class names that apply: `classes("cell", own && "own")`. */
export const classes = (...names: (string | false | null | undefined)[]) => names.filter(Boolean).join(" ")

/**
 * A colour as CSS.
 * @param colour  red, green, blue from 0 to 1; clamped
 */
export const css = (colour: number[]) => `rgb(${colour.map((c) => Math.round(255 * Math.min(1, Math.max(0, c)))).join(" ")})`

const LANE_CLASS = {run: "ln", wait: "ln w", held: "ln w", done: "ln d"}

/**
 * A thread as a disc: filled while it runs, a ring while it waits, a ring with a point once its barrier opens, small and pale when
 * done.
 * @param x  of the centre
 */
export function laneMark(x: number, y: number, radius = 4.5) {
  const disc = s("circle", {cx: x, cy: y, r: radius})
  const point = s("circle", {cx: x, cy: y, r: radius / 3, class: "held-point"})
  const el = s("g", {}, disc, point)
  return {
    el,
    /**
     * @param status  "run", "wait", "held" or "done"
     * @param atHand  whether the thread took part in the current step
     */
    show(status: string, chosen: boolean, atHand = false) {
      const shown = chosen && status === "run" ? "ln me" : LANE_CLASS[status as keyof typeof LANE_CLASS]
      disc.setAttribute("class", String(shown))
      disc.setAttribute("r", String(status === "done" ? radius * 0.55 : status === "run" ? radius : radius * 0.85))
      point.setAttribute("visibility", status === "held" ? "visible" : "hidden")
      el.setAttribute("class", classes("lane-g", chosen && "chosen", atHand && "at-hand"))
    },
  }
}
