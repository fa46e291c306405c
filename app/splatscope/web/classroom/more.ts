// “…” at the end of the strip on a phone: what has no room there is in a box below it. In a wider window it is in the strip itself.
import {h} from "#web/runtime/dom.ts"
import {addKeys} from "#web/runtime/keys.ts"

/** Make the button and the box, which the button opens. What is pressed in the box closes it, except these parts. */
export function more(parts: Element[], except: Element[]) {
  const button = h("button", {type: "button", class: "btn icon more narrow", "aria-expanded": "false", "aria-label": "More"}, "⋯")
  const box = h("div", {class: "rest"}, ...parts)
  const isOpen = () => button.getAttribute("aria-expanded") === "true"
  const toggle = (open = !isOpen()) => button.setAttribute("aria-expanded", String(open))
  button.addEventListener("click", () => toggle())
  box.addEventListener("click", (event) => {
    if (!event.composedPath().some((part) => except.includes(part as Element))) toggle(false)
  })
  window.addEventListener("pointerdown", (event) => {
    const path = event.composedPath()
    if (!path.includes(box) && !path.includes(button)) toggle(false)
  })
  addKeys({
    active: isOpen,
    keys: {
      Escape: () => {
        toggle(false)
        button.focus()
      },
    },
  })
  return {button, box}
}
