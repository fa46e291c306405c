// The keys of a field in a pane: Enter acts on what was typed, Escape empties the field and leads back to where the reader was.
import {focused} from "#web/shell/dom.js"

/** @type {WeakMap<HTMLInputElement, HTMLElement | null>} */
const origins = new WeakMap() // what had the focus before

/**
 * Give a field its keys.
 * @param {HTMLInputElement} field
 * @param {object} keys
 * @param {(event: KeyboardEvent) => void} keys.enter
 * @param {() => void} keys.clear  called once the field is empty
 */
export function onFieldKeys(field, {enter, clear}) {
  field.onfocus = ({relatedTarget}) => {
    origins.set(field, relatedTarget instanceof HTMLElement ? relatedTarget : null)
  }
  field.onkeydown = (event) => {
    if (event.key === "Enter") {
      event.preventDefault()
      enter(event)
    }
    if (event.key === "Escape") {
      field.value = ""
      clear()
      leave(field)
    }
  }
}

/**
 * Go into a field by its key, from wherever the focus is. The field's own event would name the shadow host of a focused element,
 * which cannot be focused again.
 * @param {HTMLInputElement} field
 */
export function enterField(field) {
  const from = focused()
  field.focus()
  origins.set(field, from)
}

/**
 * Give the focus back to what had it before; without any, to the source, where the figure's keys act and Tab goes on from.
 * @param {HTMLInputElement} field
 */
function leave(field) {
  const source = /** @type {ParentNode} */ (field.getRootNode()).querySelector(".srcwrap")
  for (const el of [origins.get(field), source]) {
    if (!(el instanceof HTMLElement) || el === document.body) continue
    el.focus({preventScroll: true})
    if (focused() === el) return
  }
  field.blur()
}
