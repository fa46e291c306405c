// A drawing in which one of many things is chosen, such as a thread or a pixel. For screen readers it is a list with named options.
import {s, setAttributes} from "./svg.js"

/** @typedef {{x: number, y: number, width: number, height: number}} Box */

/** A thread's status in words. */
const DOING = {
  run: "runs",
  apart: "runs",
  wait: "waits at the barrier",
  held: "is released from the barrier",
  done: "is done",
}

/** @param {string} status  as `Look.status` gives it */
export const doing = (status) => DOING[/** @type {keyof typeof DOING} */ (status)] ?? status

let made = 0

/**
 * Make a drawing a list of choices. The drawing itself handles arrow keys and draws the choices.
 * @param {SVGSVGElement} svg
 * @param {string} name  of the list
 * @param {Box[]} boxes  where each choice is drawn
 * @returns {(chosen: number, words: (choice: number) => string) => void} updates the chosen one and all names
 */
export function listChoices(svg, name, boxes) {
  const id = `choice-${++made}`
  const options = boxes.map((box, i) =>
    s("rect", {...box, role: "option", id: `${id}-${i}`, "aria-selected": "false", fill: "none", "pointer-events": "none"}),
  )
  setAttributes(svg, {role: "listbox", tabindex: 0, "aria-label": name})
  svg.append(...options)
  /** @type {string[]} */
  const said = []
  return (chosen, words) => {
    options.forEach((option, i) => {
      const now = words(i)
      if (now !== said[i]) option.setAttribute("aria-label", now)
      said[i] = now
      option.setAttribute("aria-selected", String(i === chosen))
    })
    svg.setAttribute("aria-activedescendant", `${id}-${chosen}`)
  }
}

/**
 * Hide the parts of a named drawing from screen readers: read out one by one, its labels would be a meaningless row of numbers.
 * @param {HTMLElement} root
 */
export function hideParts(root) {
  const parts = root.querySelectorAll("svg:is([role=img], [role=listbox]) > :not([role=option], [aria-hidden])")
  for (const part of parts) part.setAttribute("aria-hidden", "true")
}
