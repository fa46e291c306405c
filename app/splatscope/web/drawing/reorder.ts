// Rows that can be reordered by dragging a handle or with the arrow keys. The moved row never leaves the document: its neighbours
// move around it, so that it keeps the pointer and the focus.
import {h} from "#web/runtime/dom.ts"

const middleOf = (row: Element) => {
  const box = row.getBoundingClientRect()
  return box.top + box.height / 2
}

/**
 * Make a handle for a row among its siblings of the same class.
 * @param moved  called after each change of the order
 */
export function handle(row: HTMLElement, label: string, moved: () => void) {
  const grip = h(
    "button",
    {type: "button", class: "grip", "aria-label": label, title: "Drag or use the arrow keys to move it"},
    "⠿",
  )
  const rows = () => [...(row.parentElement?.children ?? [])].filter((one) => one.classList[0] === row.classList[0])
  const moveTo = (index: number) => {
    const all = rows()
    const now = all.indexOf(row)
    if (index < 0 || index >= all.length || index === now) return
    for (const other of all.slice(now + 1, index + 1)) row.before(other)
    for (const other of all.slice(index, now).reverse()) row.after(other)
    moved()
  }
  const moveToPointer = (event: PointerEvent) => {
    const all = rows()
    let index = all.indexOf(row)
    while (index > 0 && event.clientY < middleOf(all[index - 1])) index--
    while (index < all.length - 1 && event.clientY > middleOf(all[index + 1])) index++
    moveTo(index)
  }
  grip.onpointerdown = (event) => {
    if (event.button) return
    event.preventDefault()
    grip.focus()
    grip.setPointerCapture(event.pointerId)
    row.classList.add("held")
  }
  grip.onpointermove = (event) => {
    if (row.classList.contains("held")) moveToPointer(event)
  }
  grip.onpointerup = grip.onpointercancel = () => row.classList.remove("held")
  grip.onkeydown = (event) => {
    const all = rows()
    const now = all.indexOf(row)
    const index = {ArrowUp: now - 1, ArrowDown: now + 1, Home: 0, End: all.length - 1}[event.key]
    if (index === undefined) return
    event.preventDefault()
    event.stopPropagation()
    moveTo(index)
  }
  return grip
}
