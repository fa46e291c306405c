// The list of keys that `?` opens. A page sets its own; the shell's come last.
import {h, typing} from "./dom.js"

const SHELL = [
  ["?", "Show or hide this list"],
  ["Esc", "Close what is open"],
  ["Tab", "Move to the next control"],
]
let ofPage = [],
  ofWalk = []

export function setKeys(keys) {
  ofPage = keys
}

export function setWalkKeys(keys) {
  ofWalk = keys
}

export function startKeys() {
  const dialog = document.getElementById("keys")
  const toggle = () => {
    if (dialog.open) return dialog.close()
    const rows = [...ofPage, ...ofWalk, ...SHELL].map(([keys, what]) => h("div", {}, h("dt", {}, ...caps(keys)), h("dd", {}, what)))
    dialog.querySelector("dl").replaceChildren(...rows)
    dialog.showModal()
  }
  document.getElementById("keys-open").onclick = toggle
  dialog.querySelector("[data-close]").onclick = () => dialog.close()
  dialog.onclick = (event) => {
    if (event.target === dialog) dialog.close()
  } // the ground beside it
  window.addEventListener("keydown", (event) => {
    if (event.key !== "?" || event.ctrlKey || event.metaKey || event.altKey || typing(event)) return
    event.preventDefault()
    toggle()
  })
}

// "Shift+→" as separate caps
const caps = (keys) =>
  keys.split(" ").flatMap((chord, i) => [
    ...(i ? [" "] : []),
    ...chord
      .split("+")
      .filter(Boolean)
      .map((key) => h("kbd", {}, key)),
  ])
