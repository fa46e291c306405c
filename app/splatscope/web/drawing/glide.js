// Animates a single step: what is drawn moves briefly from its place at the previous stop to its place at this one.
//
// A paint puts the document into its final state at once, so that the next key press, a screen reader or a test sees it. Only the
// appearance lags behind, in two ways:
// - CSS transitions blend colours, sizes and positions. The class "gliding" switches them on (glide.css).
// - A thing may be shown by a different element than before: a key in another row, the sum of two cells in a third. `data-thing` says
//   what an element shows, `data-made-of` what it was made of. The element is drawn moving from where those were.
// The next paint ends the animation, so nobody has to wait for it.

import {zoomOf} from "#web/runtime/dom.js"

const LASTS = 240 // ms
const EASING = "cubic-bezier(0.4, 0, 0.2, 1)"
const MOST = 160 // moving things: more cannot be told apart, and take longer than a frame to start

/** @typedef {{left: number, top: number, width: number, height: number}} Box  in px */
/** @typedef {{el: Element, box: Box, of: string[]}} Thing  a thing's element, where it is, what it was made of */
/** @typedef {{el: Element, from: [x: number, y: number], to: [x: number, y: number]}} Way  in px from the element's place */

/** @type {WeakMap<Element, () => void>} */
const under = new WeakMap() // by root, the function that ends its animation

/**
 * Where the things in a root appear now.
 * @param {Element} root
 */
function things(root) {
  /** @type {Map<string, Thing>} */
  const found = new Map()
  for (const el of root.querySelectorAll("[data-thing]")) {
    const of = el.getAttribute("data-made-of")?.split(" ") ?? []
    found.set(/** @type {string} */ (el.getAttribute("data-thing")), {el, box: el.getBoundingClientRect(), of})
  }
  return found
}

/**
 * The things that have moved, and the parts that move: into what was made of them, or back out of it.
 * @param {Map<string, Thing>} before
 * @param {Map<string, Thing>} after
 * @returns {{moved: Way[], parts: Way[]}}
 */
export function travels(before, after) {
  /** @type {Way[]} */
  const moved = []
  /** @type {Way[]} */
  const parts = []
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

/**
 * The way from the middle of a box to that of another.
 * @param {Box} from
 * @param {Box} to
 * @returns {[x: number, y: number]}
 */
const between = (from, to) => [to.left - from.left + (to.width - from.width) / 2, to.top - from.top + (to.height - from.height) / 2]

/**
 * The px per unit of an element's own coordinates: a drawing that does not fit is scaled down.
 * @param {Element} el
 */
const scaleOf = (el) => (el instanceof SVGElement && el.ownerSVGElement?.getScreenCTM()?.a) || zoomOf(el)

const TIMING = {duration: LASTS, easing: EASING}

/**
 * The positions between which an element moves, as CSS.
 * @param {Way} way
 */
function keyframes({el, from, to}) {
  const scale = scaleOf(el)
  return [from, to].map(([x, y]) => `${x / scale}px ${y / scale}px`)
}

/**
 * A copy of a part, in the part's place. It takes up no space.
 * @param {Element} el
 */
function copyOf(el) {
  const copy = /** @type {Element} */ (el.cloneNode(true))
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
 * @param {Map<string, Thing>} before
 * @param {Map<string, Thing>} after
 * @returns {() => void} ends it
 */
function travel(before, after) {
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

const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches

/**
 * Paint, and animate the change.
 * @param {Element} root  of what is painted
 * @param {boolean} steps  whether this is a single step; otherwise nothing is animated
 * @param {() => void} paint
 */
export function glide(root, steps, paint) {
  const glides = steps && !calm()
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
 * @param {HTMLElement} from
 * @param {HTMLElement} to
 * @returns {() => void} ends it
 */
export function slideMark(from, to) {
  const list = to.parentElement
  if (!list || calm()) return () => {}
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
