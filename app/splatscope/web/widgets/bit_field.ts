// The bits of a number in a row, each a switch. One bit is the tab stop; arrow keys move to its neighbours, Space and Enter flip
// it.
import {h} from "#web/runtime/dom.ts"
import {aloud} from "#web/recording/aloud.ts"
import {floatFromBits, text} from "#web/recording/values.ts"
import {ARROWS, neighbour, onArrows, setTabStop} from "./roving.ts"
import type {BitsItem} from "#components"

export function bitField(item: BitsItem, set: (name: string, value: unknown) => void) {
  const sizes = item.parts.map(([, size]) => size)
  const count = sizes.reduce((sum, size) => sum + size, 0)
  const hexadecimal = h("output", {"aria-live": "off"})
  const heard = h("p", {class: "sr", role: "status"}) // announces what the number is once the reader has flipped a bit
  let number = 0
  let high = count
  const parts = item.parts.map(([name, size]) => {
    high -= size
    const first = high + size - 1
    const buttons = Array.from({length: size}, (_, i) => bitButton(name, first - i, flip))
    return {el: partOf(name, size, buttons), buttons}
  })
  const all = parts.flatMap((part) => part.buttons)
  const row = h("div", {class: "bitfield", role: "group", "aria-label": item.label}, ...parts.map((part) => part.el))

  function flip(bit: number) {
    setTabStop(all, count - 1 - bit)
    show((number ^ (1 << bit)) >>> 0)
    heard.textContent = aloud(`${item.label}: ${meaningOf(number, sizes)}`)
    set(item.name, number)
  }
  onArrows(row, ARROWS, (step) => {
    const now = all.findIndex((button) => button.tabIndex === 0)
    const next = neighbour(now, step, count)
    setTabStop(all, next)
    all[next].focus()
  })
  row.addEventListener("keydown", (event) => {
    if (event.key === " ") event.stopPropagation() // elsewhere on the page, Space plays
  })
  const show = (value: number) => {
    number = value >>> 0
    all.forEach((button, i) => {
      const bit = (number >>> (count - 1 - i)) & 1
      button.textContent = String(bit)
      button.setAttribute("aria-checked", String(bit === 1))
    })
    hexadecimal.textContent = asHexadecimal(number, count)
  }
  setTabStop(all, 0)
  return {el: h("div", {class: "choice bitchoice", title: item.doc}, h("span", {}, item.label), row, hexadecimal, heard), show}
}

/** @param part  its name */
function bitButton(part: string, bit: number, flip: (bit: number) => void) {
  return h("button", {
    type: "button",
    role: "switch",
    class: "bit",
    "data-bit": bit,
    "aria-label": `bit ${bit}, ${part}`,
    onclick: () => flip(bit),
  })
}

function partOf(name: string, size: number, buttons: HTMLElement[]) {
  const label = h("span", {}, size > 1 ? `${name}, ${size} bits` : name)
  return h("div", {class: "bitpart", style: `--many:${size}`}, label, h("div", {class: "bitrow"}, ...buttons))
}

/**
 * What bits stand for: a float if they are parted like one, else a whole number.
 * @param sizes  of their parts
 */
export function meaningOf(bits: number, sizes: number[]) {
  return String(sizes) === "1,8,23" ? text(floatFromBits(bits), "float", 7) : String(bits)
}

/** A number in base 16 with all its digits: `0x3F800000` for 32 bits. */
export const asHexadecimal = (value: number, bitCount: number) =>
  `0x${value
    .toString(16)
    .toUpperCase()
    .padStart(Math.ceil(bitCount / 4), "0")}`
