// How large the words are: for who presents, larger from the start.
import {h} from "#web/shell/dom.js"

const SIZES = [100, 125, 150, 175]
const KEY = "splatscope-type"

export function typeSize() {
  let size = null,
    usual = 100
  try {
    size = Number(sessionStorage.getItem(KEY)) || null
  } catch {
    /* then it is not remembered */
  }
  const change = (way) => {
    size = SIZES[SIZES.indexOf(size ?? usual) + way]
    try {
      sessionStorage.setItem(KEY, size)
    } catch {
      /* the same */
    }
    paint()
  }
  const button = (sign, label, way) =>
    h(
      "button",
      {
        type: "button",
        class: "btn icon",
        "aria-label": `${sign}, ${label.toLowerCase()}`,
        title: label,
        onclick: () => change(way),
      },
      sign,
    )
  const less = button("A−", "Smaller type", -1),
    more = button("A+", "Larger type", 1)
  const paint = () => {
    const now = SIZES.indexOf(size ?? usual)
    document.documentElement.style.fontSize = SIZES[now] === 100 ? "" : `${SIZES[now]}%`
    less.disabled = now === 0
    more.disabled = now === SIZES.length - 1
  }
  return {
    el: h("span", {class: "type wide"}, less, more),
    set(present) {
      usual = present ? 125 : 100
      paint()
    },
  }
}
