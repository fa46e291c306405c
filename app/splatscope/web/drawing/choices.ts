// A drawing in which one of many things is chosen, such as a thread or a pixel. For screen readers it is a list with named options.
import {h} from "#web/runtime/dom.ts"
import {s, setAttributes} from "./svg.ts"

type Box = {x: number; y: number; width: number; height: number}

/** A thread's status in words. */
const DOING = {
  run: "runs",
  apart: "runs",
  wait: "waits at the barrier",
  held: "is released from the barrier",
  done: "is done",
}

/** @param status  as `Look.status` gives it */
export const doing = (status: string) => DOING[status as keyof typeof DOING] ?? status

const LEAST = 24 // px: what is smaller than that is missed by a finger

let made = 0

/**
 * Make a drawing a list of choices. The drawing itself handles arrow keys and draws the choices. Where they are too small for a finger,
 * phones have buttons below it (choices.css).
 * @param name  of the list
 * @param boxes  where each choice is drawn
 * @param choose  for the buttons; left out where no choice is small
 * @returns updates the chosen one and all names
 */
export function listChoices(
  svg: SVGSVGElement,
  name: string,
  boxes: Box[],
  choose?: (choice: number) => void,
): (chosen: number, words: (choice: number) => string) => void {
  const id = `choice-${++made}`
  const options = boxes.map((box, i) =>
    s("rect", {...box, role: "option", id: `${id}-${i}`, "aria-selected": "false", fill: "none", "pointer-events": "none"}),
  )
  setAttributes(svg, {role: "listbox", tabindex: 0, "aria-label": name})
  svg.append(...options)
  const small = boxes.some(({width, height}) => Math.min(width, height) < LEAST)
  const buttons = small && choose ? turnButtons(name, boxes.length, choose) : null
  const said: string[] = []
  return (chosen, words) => {
    if (buttons && !buttons.el.isConnected) svg.after(buttons.el) // once the drawing is in the page
    options.forEach((option, i) => {
      const now = words(i)
      if (now !== said[i]) option.setAttribute("aria-label", now)
      said[i] = now
      option.setAttribute("aria-selected", String(i === chosen))
    })
    svg.setAttribute("aria-activedescendant", `${id}-${chosen}`)
    buttons?.show(chosen, words(chosen))
  }
}

/**
 * Make a drawing a list of what stands at each of its places, to be read place by place.
 * @param boxes  where each is drawn
 * @returns updates all names
 */
export function listPlaces(svg: SVGSVGElement, boxes: Box[]): (words: (place: number) => string) => void {
  const items = boxes.map((box) => s("rect", {...box, role: "listitem", fill: "none", "pointer-events": "none"}))
  setAttributes(svg, {role: "list"})
  svg.append(...items)
  return (words) => {
    items.forEach((item, i) => item.setAttribute("aria-label", words(i)))
  }
}

/** Two buttons that choose the one before and the one after, and between them which is chosen. */
function turnButtons(name: string, count: number, choose: (choice: number) => void) {
  let now = 0
  const button = (step: number, sign: string, label: string) =>
    h("button", {type: "button", "aria-label": label, onclick: () => choose((now + step + count) % count)}, sign)
  const chosenName = h("span", {"aria-hidden": "true"})
  const el = h(
    "div",
    {class: "choice-turn", role: "group", "aria-label": name},
    button(-1, "‹", "Choose the one before"),
    chosenName,
    button(1, "›", "Choose the next one"),
  )
  return {
    el,
    show(chosen: number, words: string) {
      now = chosen
      chosenName.textContent = words.split(/[:;]/)[0]
    },
  }
}

/** Hide the parts of a named drawing from screen readers: read out one by one, its labels would be a meaningless row of numbers. */
export function hideParts(root: HTMLElement) {
  const parts = root.querySelectorAll(
    "svg:is([role=img], [role=list], [role=listbox]) > :not([role=listitem], [role=option], [aria-hidden])",
  )
  for (const part of parts) part.setAttribute("aria-hidden", "true")
}
