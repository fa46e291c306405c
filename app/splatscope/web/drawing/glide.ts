// Animates a single step: what is drawn moves briefly from its place at the previous stop to its place at this one.
//
// A paint puts the document into its final state at once, so that the next key press, a screen reader or a test sees it. Only the
// appearance lags behind, in two ways:
// - CSS transitions blend colours, sizes and positions. The class "gliding" switches them on (glide.css).
// - A thing may be shown by a different element than before: a key in another row, the sum of two cells in a third. `data-thing` says
//   what an element shows, `data-made-of` what it was made of. The element is drawn moving from where those were.
// The next paint ends the animation, so nobody has to wait for it.

import {isStill, zoomOf} from "#web/runtime/dom.ts"

const LASTS = 240 // ms
const EASING = "cubic-bezier(0.4, 0, 0.2, 1)"
const MOST = 160 // moving things: more cannot be told apart, and take longer than a frame to start

/** In px. */
type Box = {left: number; top: number; width: number; height: number}
/** A thing's element, where it is, what it was made of. */
type Thing = {el: Element; box: Box; of: string[]}
/** In px from the element's place. */
type Way = {el: Element; from: [x: number, y: number]; to: [x: number, y: number]}

const under = new WeakMap<Element, () => void>() // by root, the function that ends its animation

/** Where the things in a root appear now. */
function things(root: Element) {
  const found = new Map<string, Thing>()
  for (const el of root.querySelectorAll("[data-thing]")) {
    const of = el.getAttribute("data-made-of")?.split(" ") ?? []
    found.set(el.getAttribute("data-thing") as string, {el, box: el.getBoundingClientRect(), of})
  }
  return found
}

/** The things that have moved, and the parts that move: into what was made of them, or back out of it. */
export function travels(before: Map<string, Thing>, after: Map<string, Thing>): {moved: Way[]; parts: Way[]} {
  const moved: Way[] = []
  const parts: Way[] = []
  for (const [thing, {el, box, of}] of after) {
    const then = before.get(thing)?.box
    if (then) {
      if (then.left !== box.left || then.top !== box.top)
        moved.push({el, from: [then.left - box.left, then.top - box.top], to: [0, 0]})
      continue
    }
    for (const part of of) {
      const known = before.has(part) && after.get(part)
      if (known) parts.push({el: known.el, from: [0, 0], to: between(known.box, box)})
    }
  }
  for (const [thing, {box, of}] of before) {
    for (const part of after.has(thing) ? [] : of) {
      const known = after.get(part)
      if (known) parts.push({el: known.el, from: between(known.box, box), to: [0, 0]})
    }
  }
  return {moved, parts}
}

/** The way from the middle of a box to that of another. */
const between = (from: Box, to: Box): [x: number, y: number] => [
  to.left - from.left + (to.width - from.width) / 2,
  to.top - from.top + (to.height - from.height) / 2,
]

/** The px per unit of an element's own coordinates: a drawing that does not fit is scaled down. */
const scaleOf = (el: Element) => (el instanceof SVGElement && el.ownerSVGElement?.getScreenCTM()?.a) || zoomOf(el)

const TIMING = {duration: LASTS, easing: EASING}

/** The positions between which an element moves, as CSS. */
function keyframes({el, from, to}: Way) {
  const scale = scaleOf(el)
  return [from, to].map(([x, y]) => `${x / scale}px ${y / scale}px`)
}

/** A copy of a part, in the part's place. It takes up no space. */
function copyOf(el: Element) {
  const copy = el.cloneNode(true) as Element
  copy.removeAttribute("data-thing")
  copy.classList.add("on-its-way")
  copy.setAttribute("aria-hidden", "true")
  if (el instanceof HTMLElement && copy instanceof HTMLElement) {
    const {offsetLeft, offsetTop, offsetWidth, offsetHeight} = el
    const place = {left: `${offsetLeft}px`, top: `${offsetTop}px`, width: `${offsetWidth}px`, height: `${offsetHeight}px`}
    Object.assign(copy.style, place, {position: "absolute"})
  }
  el.parentNode?.append(copy)
  return copy
}

/**
 * Animate things from where they were to where they are.
 * @returns ends it
 */
function travel(before: Map<string, Thing>, after: Map<string, Thing>): () => void {
  const {moved, parts} = travels(before, after)
  if (moved.length + parts.length > MOST) return () => {}
  const animations = moved.map((way) => way.el.animate({translate: keyframes(way)}, TIMING))
  const copies = parts.map((way) => copyOf(way.el))
  parts.forEach((way, i) => animations.push(copies[i].animate({translate: keyframes(way), opacity: [1, 0.85, 0]}, TIMING)))
  return () => {
    for (const animation of animations) animation.cancel()
    for (const copy of copies) copy.remove()
  }
}

/**
 * Paint, and animate the change.
 * @param root  of what is painted
 * @param steps  whether this is a single step; otherwise nothing is animated
 */
export function glide(root: Element, steps: boolean, paint: () => void) {
  const glides = steps && !isStill()
  const before = glides ? things(root) : null // as they appear, even in the middle of an animation
  under.get(root)?.()
  root.classList.toggle("gliding", glides)
  paint()
  if (!before) return
  const arrive = travel(before, things(root))
  const end = () => {
    clearTimeout(clock)
    arrive()
    under.delete(root)
    root.classList.remove("gliding")
  }
  const clock = setTimeout(end, LASTS)
  under.set(root, end)
}

/**
 * Slide a mark from one row of a list to another. Meanwhile a copy of it, behind the rows, is shown in its place.
 * @returns ends it
 */
export function slideMark(from: HTMLElement, to: HTMLElement): () => void {
  const list = to.parentElement
  if (!list || isStill()) return () => {}
  const dy = to.offsetTop - from.offsetTop
  const copy = document.createElement("i")
  copy.className = `${to.className} mark-on-its-way`
  copy.setAttribute("aria-hidden", "true")
  copy.style.cssText = `top: ${to.offsetTop}px; height: ${to.offsetHeight}px`
  list.prepend(copy)
  const own = to.animate({background: ["none", "none"], boxShadow: ["none", "none"]}, TIMING)
  const animation = copy.animate({translate: [`0 ${-dy}px`, "0 0"]}, TIMING)
  const end = () => {
    own.cancel()
    copy.remove()
  }
  animation.onfinish = animation.oncancel = end
  return () => animation.cancel()
}
