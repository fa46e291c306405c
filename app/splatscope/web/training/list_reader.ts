// Lies over the map of the tiles' lists: arrow keys go from tile to tile, and the length of its list is said and shown.
import {h, style} from "#web/runtime/dom.ts"
import {GRID_AND_ENDS, onArrows} from "#web/widgets/roving.ts"
import type {Bytes} from "#components"
import type {Render} from "#web/types.ts"

const NAME = "Map: length of each tile's list"

export function render({model, el}: Render<"ListReader">) {
  style(el)
  const mark = h("i")
  const words = h("p", {class: "num", "aria-hidden": "true"})
  const heard = h("p", {class: "sr", role: "status"}) // what the keys read
  const spoken = {role: "application", "aria-roledescription": "map", "aria-description": "Use the arrow keys to read tiles."}
  const root = h("div", {class: "tile-lists", "data-testid": "list-reader", ...spoken}, mark, words)
  let [x, y] = [0, 0]
  let lengths = new Uint32Array()

  const read = () => {
    const {columns, tile} = model
    const rows = lengths.length / columns
    x = Math.max(0, Math.min(columns - 1, x))
    y = Math.max(0, Math.min(rows - 1, y))
    const across = Math.max(columns * tile[0], rows * tile[1]) // pixels; a picture that is higher than wide is in the middle
    root.style.setProperty("--height", `${(rows * tile[1]) / across}`) // as a part of the width
    Object.assign(mark.style, {
      left: `${(100 * (x * tile[0] + (across - columns * tile[0]) / 2)) / across}%`,
      top: `${(100 * y) / rows}%`,
      width: `${(100 * tile[0]) / across}%`,
      height: `${100 / rows}%`,
    })
    const length = lengths[y * columns + x]
    words.textContent = `Tile ${x}, ${y}: ${length.toLocaleString("en")}`
    return `Tile ${x}, ${y}: ${length.toLocaleString("en")} ${length === 1 ? "Gaussian" : "Gaussians"}`
  }
  onArrows(root, GRID_AND_ENDS, ([across, down]) => {
    x += across
    y += down
    heard.textContent = read()
  })
  const show = () => {
    lengths = numbersOf(model.lengths)
    const any = lengths.length > 0
    if (any) root.tabIndex = 0
    else root.removeAttribute("tabindex")
    const ends = [Math.min, Math.max].map((end) => lengths.reduce((most, length) => end(most, length), lengths[0] ?? 0))
    root.setAttribute("aria-label", any ? `${NAME}, from ${ends[0].toLocaleString("en")} to ${ends[1].toLocaleString("en")}` : NAME)
    if (any) read()
  }
  model.on("lengths", () => queueMicrotask(show))
  show()
  return h("div", {}, root, heard)
}

/** Bytes as whole numbers. They are copied, because a view may not be aligned. */
function numbersOf(bytes: Bytes) {
  if (!bytes) return new Uint32Array()
  const view =
    bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return new Uint32Array(view.slice().buffer)
}
