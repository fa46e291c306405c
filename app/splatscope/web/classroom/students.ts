// The students' link, large enough to read from the last row: as a QR code and as text.
import {h} from "#web/runtime/dom.ts"
import type {WalkModel} from "./guide.ts"

/** Make the dialog; `paint` shows the class's link. */
export function classDialog(model: WalkModel) {
  const picture = h("div", {class: "qr", role: "img", "aria-label": "The link as a QR code"})
  const link = h("p", {class: "mono", tabindex: "0"})
  const copy = h("button", {type: "button", class: "btn", onclick: () => copyLink()}, "Copy the link")
  const close = h("button", {type: "button", class: "btn pri"}, "Close")
  const unreachable = h("p", {class: "unreachable", role: "status"})
  const words = "Open this link to follow along. You can explore on your own and rejoin at any time."
  const acts = h("div", {class: "acts"}, copy, close)
  const attributes = {class: "class-link", "aria-label": "Link for students"}
  const dialog = h("dialog", attributes, picture, h("p", {}, words), link, unreachable, acts)
  close.onclick = () => dialog.close()
  const copyLink = async () => {
    try {
      await navigator.clipboard.writeText(model.link)
    } catch {
      getSelection()?.selectAllChildren(link) // without https there is no clipboard
    }
    copy.textContent = "Copied"
  }
  dialog.onclick = (event) => {
    if (event.target === dialog) dialog.close() // a click on the backdrop
  }
  dialog.onkeydown = (event) => {
    if (event.key.startsWith("Page"))
      dialog.close() // and let the clicker turn the page
    else if (event.key !== "Tab") event.stopPropagation()
  }
  let shown = ""
  return {
    dialog,
    paint() {
      unreachable.textContent = model.unreachable
      if (shown === model.qr) return
      shown = model.qr
      picture.innerHTML = model.qr
      const parts = model.link.split(/(?<=[/?&])(?![/?&])/) // lines break after one of these, never at a hyphen in the name
      link.replaceChildren(...parts.map((part) => h("span", {}, part)))
    },
  }
}
