// The keys of a field in a pane: Enter acts on what was typed, Escape empties the field and leads back to where the reader was.
import {focused} from "#web/runtime/dom.ts"

const origins = new WeakMap<HTMLInputElement, HTMLElement | null>() // what had the focus before, null for nothing to go back to

/**
 * Where Escape leads back to if a reader comes from an element. That is never another text field: its keys would not act there, and
 * two fields would lead to each other.
 */
function originFrom(el: EventTarget | null): HTMLElement | null {
  if (el instanceof HTMLInputElement && origins.has(el)) return origins.get(el) ?? null
  if (
    !(el instanceof HTMLElement) ||
    el.isContentEditable ||
    el.matches("textarea, input:not([type=range], [type=checkbox], [type=radio])")
  )
    return null
  return el
}

/**
 * Give a field its keys.
 * @param keys.clear  called once the field is empty
 */
export function onFieldKeys(field: HTMLInputElement, {enter, clear}: {enter: (event: KeyboardEvent) => void; clear: () => void}) {
  field.onfocus = ({relatedTarget}) => {
    origins.set(field, originFrom(relatedTarget))
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
 */
export function enterField(field: HTMLInputElement) {
  const from = focused()
  field.focus()
  origins.set(field, originFrom(from))
}

/** Give the focus back to what had it before; without any, to the source, where the figure's keys act and Tab goes on from. */
function leave(field: HTMLInputElement) {
  const source = (field.getRootNode() as ParentNode).querySelector(".srcwrap")
  for (const el of [origins.get(field), source]) {
    if (!(el instanceof HTMLElement) || el === document.body) continue
    el.focus({preventScroll: true})
    if (focused() === el) return
  }
  field.blur()
}
