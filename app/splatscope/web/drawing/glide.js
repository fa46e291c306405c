// A step is seen to happen: for a moment, what is drawn travels from where the last stop had it to where this one has it.
//
// A paint leaves the document as it is to be, at once, for the next key, a screen reader, a test. Only looks lag behind, in two ways:
// - What CSS can blend, it blends: colours, sizes, places. The class "gliding" switches these transitions on (glide.css).
// - A thing may be shown by another element than before: a key in another row, the sum of two cells in a third. Elements say by
//   `data-thing` what they show, and by `data-made-of` what it was made of; each is drawn on its way from where that stood.
// The next paint ends it all. So nobody waits for it.

import {zoomOf} from "#web/shell/dom.js"

const LASTS = 240 // ms
const EASING = "cubic-bezier(0.4, 0, 0.2, 1)"
const MOST = 160 // travelling things: more is no longer seen as things, and takes longer than a frame to begin

/** @typedef {{left: number, top: number, width: number, height: number}} Box  in px */
/** @typedef {{el: Element, box: Box, of: string[]}} Thing  a thing's element, where it is, what it was made of */
/** @typedef {{el: Element, from: [x: number, y: number], to: [x: number, y: number]}} Way  in px from where the element stands */

/** @type {WeakMap<Element, () => void>} */
const under = new WeakMap() // what ends the gliding of a root

/**
 * Where the things in a root are seen now.
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
 * Which things have moved, and which parts are to be seen on their way: into what they have made, or back out of it.
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
 * How many px a unit of an element's own is: a drawing that does not fit is drawn smaller.
 * @param {Element} el
 */
const scaleOf = (el) => (el instanceof SVGElement && el.ownerSVGElement?.getScreenCTM()?.a) || zoomOf(el)

const TIMING = {duration: LASTS, easing: EASING}

/**
 * Where an element is drawn on its way, as CSS.
 * @param {Way} way
 */
function keyframes({el, from, to}) {
  const scale = scaleOf(el)
  return [from, to].map(([x, y]) => `${x / scale}px ${y / scale}px`)
}

/**
 * A part's copy, where the part is; it takes no room.
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
 * Draw things on their way.
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
 * Paint, and let what has changed be seen to change.
 * @param {Element} root  of what is painted
 * @param {boolean} steps  whether it goes on by a single step; else it stands there at once
 * @param {() => void} paint
 */
export function glide(root, steps, paint) {
  const glides = steps && !calm()
  const before = glides ? things(root) : null // as they are seen, be they still on their way
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
 * Slide a mark from one row of a list to another. Its copy, which lies below the rows, is what is seen meanwhile.
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
