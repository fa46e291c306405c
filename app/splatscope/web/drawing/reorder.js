// Rows that change places: a handle is dragged, or moved with the arrow keys. The row in hand never leaves the document: its
// neighbours move around it, so that it keeps the pointer and the focus.
import {h} from "#web/shell/dom.js"

// A handle for a row among its siblings of the same class. `moved()` after each change of places.
export function handle(row, label, moved) {
  const grip = h(
    "button",
    {type: "button", class: "grip", "aria-label": label, title: "Drag, or arrow keys: to another place"},
    "⠿",
  )
  const rows = () => [...row.parentNode.children].filter((one) => one.className.split(" ")[0] === row.className.split(" ")[0])
  const to = (place) => {
    const all = rows(),
      at = all.indexOf(row)
    if (place < 0 || place >= all.length || place === at) return
    for (const other of all.slice(at + 1, place + 1)) row.before(other)
    for (const other of all.slice(place, at).reverse()) row.after(other)
    moved()
  }
  grip.onpointerdown = (event) => {
    if (event.button) return
    event.preventDefault()
    grip.focus()
    grip.setPointerCapture(event.pointerId)
    row.classList.add("held")
  }
  grip.onpointermove = (event) => {
    if (!row.classList.contains("held")) return
    const all = rows(),
      at = all.indexOf(row),
      middle = (one) => {
        const box = one.getBoundingClientRect()
        return box.top + box.height / 2
      }
    let place = at
    while (place > 0 && event.clientY < middle(all[place - 1])) place--
    while (place < all.length - 1 && event.clientY > middle(all[place + 1])) place++
    to(place)
  }
  grip.onpointerup = grip.onpointercancel = () => row.classList.remove("held")
  grip.onkeydown = (event) => {
    const at = rows().indexOf(row),
      place = {ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: rows().length - 1}[event.key]
    if (place === undefined) return
    event.preventDefault()
    event.stopPropagation()
    to(place)
  }
  return grip
}
