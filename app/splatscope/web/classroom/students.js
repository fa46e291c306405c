// The students' link, large enough for the last row: as a picture for their cameras, and in letters.
import {h} from "#web/shell/dom.js"

export function classDialog(model) {
  const picture = h("div", {class: "qr", role: "img", "aria-label": "The link as a QR code"}),
    link = h("p", {class: "mono", tabindex: "0"})
  const copy = h("button", {type: "button", class: "btn", onclick: () => copyLink()}, "Copy the link")
  const dialog = h(
    "dialog",
    {class: "class-link", "aria-label": "Link for students"},
    picture,
    h("p", {}, "Open this to follow, step by step. You may wander off and rejoin at any time."),
    link,
    h("div", {class: "acts"}, copy, h("button", {type: "button", class: "btn pri", onclick: () => dialog.close()}, "Go on")),
  )
  const copyLink = async () => {
    try {
      await navigator.clipboard.writeText(model.link)
    } catch {
      getSelection().selectAllChildren(link)
    } // without https there is no clipboard
    copy.textContent = "Copied"
  }
  dialog.onclick = (event) => {
    if (event.target === dialog) dialog.close()
  } // the ground beside it
  dialog.onkeydown = (event) => {
    if (event.key.startsWith("Page"))
      dialog.close() // the clicker goes on
    else if (event.key !== "Tab") event.stopPropagation()
  }
  let shown = ""
  return Object.assign(dialog, {
    paint() {
      if (shown === model.qr) return
      shown = model.qr
      picture.innerHTML = model.qr
      link.textContent = model.link
    },
  })
}
