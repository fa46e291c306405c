// The type size. For a presenter it starts larger.
import {h} from "#web/runtime/dom.ts"

const SIZES = [100, 125, 150, 175]
const KEY = "splatscope-type"

const USUAL = 100
const PRESENTING = 125
const PRESENTING_LARGE = 150 // in a large window, on pages that are not enlarged as a whole like sections
const LARGE = 1800 // px

/** Make the two buttons. `set(present, enlarged)` chooses the default size, which depends on whether the page is enlarged anyway. */
export function typeSize() {
  let usual = USUAL
  let chosen = remembered()
  const index = () => SIZES.indexOf(chosen ?? usual)
  const change = (step: number) => {
    chosen = SIZES[index() + step]
    remember(chosen)
    paint()
  }
  const button = (sign: string, label: string, step: number) => {
    const name = `${sign}, ${label.toLowerCase()}`
    const words = {"aria-label": name, title: label, "aria-description": ""} // the name says what the title does
    return h("button", {type: "button", class: "btn icon", ...words, onclick: () => change(step)}, sign)
  }
  const smaller = button("A−", "Smaller type", -1)
  const larger = button("A+", "Larger type", 1)
  const paint = () => {
    const size = SIZES[index()]
    document.documentElement.style.fontSize = size === USUAL ? "" : `${size}%`
    smaller.disabled = index() === 0
    larger.disabled = index() === SIZES.length - 1
  }
  return {
    el: h("span", {class: "type"}, smaller, larger),
    set(present: boolean, enlarged: boolean) {
      const large = innerWidth >= LARGE && !enlarged
      usual = present ? (large ? PRESENTING_LARGE : PRESENTING) : USUAL
      paint()
    },
  }
}

/** The size chosen in this window before; null for none. */
function remembered() {
  try {
    return Number(sessionStorage.getItem(KEY)) || null
  } catch {
    return null // storage is switched off
  }
}

function remember(size: number) {
  try {
    sessionStorage.setItem(KEY, String(size))
  } catch {
    // storage is switched off
  }
}
