// The bits of a number in a row, each a switch. One of them has the tab stop; arrow keys go to its neighbours, Space and Enter flip it.
import {h} from "#web/shell/dom.js"

export function bitField(item, set) {
  const count = item.parts.reduce((sum, [, bits]) => sum + bits, 0)
  const read = h("output", {})
  let now = 0,
    at = 0

  let high = count
  const parts = item.parts.map(([name, size]) => {
    high -= size
    const buttons = Array.from({length: size}, (_, i) => {
      const bit = high + size - 1 - i
      return h("button", {
        type: "button",
        role: "switch",
        class: "bit",
        "data-bit": bit,
        "aria-label": `bit ${bit}, ${name}`,
        onclick: () => {
          focusOn(bit)
          flip(bit)
        },
      })
    })
    return {
      el: h(
        "div",
        {class: "bitpart", style: `--many:${size}`},
        h("span", {}, size > 1 ? `${name}, ${size} bits` : name),
        h("div", {class: "bitrow"}, ...buttons),
      ),
      buttons,
    }
  })
  const all = parts.flatMap((part) => part.buttons)
  const row = h("div", {class: "bitfield", role: "group", "aria-label": item.label}, ...parts.map((part) => part.el))

  const flip = (bit) => {
    show((now ^ (1 << bit)) >>> 0)
    set(item.name, now)
  }
  const focusOn = (bit) => {
    at = count - 1 - bit
    all.forEach((button, i) => {
      button.tabIndex = i === at ? 0 : -1
    })
  }
  row.onkeydown = (event) => {
    const way = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key]
    if (event.key === " ") event.stopPropagation() // elsewhere on the page it plays
    if (!way || event.shiftKey) return
    event.preventDefault()
    event.stopPropagation()
    focusOn(count - 1 - ((at + way + count) % count))
    all[at].focus()
  }
  const show = (value) => {
    now = value >>> 0
    all.forEach((button, i) => {
      const on = (now >>> (count - 1 - i)) & 1
      button.textContent = on
      button.setAttribute("aria-checked", String(on === 1))
    })
    read.textContent = `0x${now
      .toString(16)
      .toUpperCase()
      .padStart(Math.ceil(count / 4), "0")}`
  }
  focusOn(count - 1)
  return {el: h("div", {class: "choice bitchoice", title: item.doc}, h("span", {}, item.label), row, read), show}
}
