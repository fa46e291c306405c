// Many keys as colours: a row for the list at each pass's end, and the list as it stands now below.
import {context2d} from "#web/drawing/pixels.ts"
import {h} from "#web/runtime/dom.ts"
import {ARROWS, onArrows} from "#web/widgets/roving.ts"
import type {DrawingHost, Drawn} from "#web/drawing/types.ts"
import type {Facts, Options} from "./drawing.ts"

export const PADDING = 0xffffffff // a key larger than any

const BESIDE = 190 // px: what stands above and below the rows

const COLOURS = [
  [230, 240, 248],
  [156, 197, 226],
  [49, 141, 193],
  [0, 92, 143],
  [10, 40, 70],
]
const PADDING_COLOUR = [120, 120, 120]

/**
 * The colour of a key, from light for 0 to dark for the largest.
 * @param most  the largest key that is no padding
 */
export function keyColour(key: number, most: number) {
  if (key > most) return PADDING_COLOUR
  const at = Math.min(COLOURS.length - 1.001, (key / most) * (COLOURS.length - 1))
  const i = Math.floor(at)
  return COLOURS[i].map((v, c) => v + (COLOURS[i + 1][c] - v) * (at - i))
}

export function keyRows({facts, options, step, room}: DrawingHost<Facts, Options>): Drawn {
  const {count, passes, after, keys, wrong} = facts
  const most = Math.max(1, ...keys.filter((key) => key !== PADDING))
  const rows = [keys, ...after]
  const tall = Math.max(120, Math.min(330, room().height - BESIDE))
  const rowHeight = Math.max(2, Math.floor(tall / rows.length))
  const history = h("canvas", {
    class: "strip pixels",
    width: count,
    height: rows.length * rowHeight,
    role: "img",
  })
  // a picture to screen readers, but one that they leave the arrow keys to
  const spoken = {role: "application", "aria-roledescription": "picture", "aria-description": "Use the arrow keys to read keys."}
  const now = h("canvas", {
    class: "strip pixels now",
    width: count,
    height: 1,
    tabindex: "0",
    ...spoken,
    "aria-label": "The keys now",
  })
  const heard = h("p", {class: "sr", "aria-live": "polite"}) // the key that the arrow keys read
  let [list, place] = [keys, -1]
  onArrows(now, {...ARROWS, Home: -count, End: count}, (by) => {
    place = Math.max(0, Math.min(count - 1, place + by))
    heard.textContent = `Place ${place}: ${keyText(list[place])}`
  })
  const cover = h("div", {class: "stripmark"}) // over the passes to come
  const words = h("p", {class: "reading num"})
  const el = h(
    "div",
    {class: "strips"},
    h("p", {class: "axis"}, "the list after each pass, from the first at the top"),
    h("div", {class: "under"}, history, cover),
    h("p", {class: "axis"}, "the list now"),
    now,
    heard,
    words,
  )
  history.style.height = `${tall}px`
  rows.forEach((list, i) => paintKeys(history, i * rowHeight, rowHeight, list, most))
  history.onclick = (event) => {
    const box = history.getBoundingClientRect()
    const row = Math.floor(((event.clientY - box.top) / box.height) * rows.length)
    step(row > 0 ? passes[row - 1].end : passes[0].begin)
  }
  return {
    el,
    paint(look) {
      const memory = look.memory(options.memory)
      list = keys.map((key, i) => (memory?.written(i) ? (memory.number(i) ?? key) : key))
      paintKeys(now, 0, 1, list, most)
      const done = passes.filter((pass) => look.step >= pass.end).length
      history.setAttribute("aria-label", `${count} keys as colours, a row for each pass: ${done} of ${passes.length} are done`)
      const share = ((done + 1) / rows.length) * 100
      cover.style.top = `${share}%`
      cover.style.height = `${100 - share}%`
      const over = done === passes.length
      words.textContent =
        over && wrong.length
          ? `✕ ${wrong.length} keys are in the wrong place.`
          : `${descents(list)} of ${count - 1} pairs of neighbours are the wrong way round.`
      words.classList.toggle("bad", over && wrong.length > 0)
    },
    describe: () => words.textContent ?? "",
    chosen: (look) => (look.thread < count ? `At place ${look.thread}: ${keyText(list[look.thread])}.` : ""),
  }
}

export const keyText = (key: number) => (key === PADDING ? "padding" : `key ${key}`)

/** How many keys are smaller than the one before. */
export const descents = (list: number[]) => list.filter((key, i) => i > 0 && key < list[i - 1]).length

/** @param height  of the row, in the canvas's pixels */
function paintKeys(canvas: HTMLCanvasElement, y: number, height: number, list: number[], most: number) {
  const context = context2d(canvas)
  const image = context.createImageData(list.length, height)
  for (let row = 0; row < height; row++)
    list.forEach((key, x) => image.data.set([...keyColour(key, most), 255], 4 * (row * list.length + x)))
  context.putImageData(image, 0, y)
}
