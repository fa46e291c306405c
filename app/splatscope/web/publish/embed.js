// One figure of the book in somebody else's page, in a frame: `embed/NAME.html?step=17&count=16`, and `&slide` with large type.
import {h} from "#web/shell/dom.js"
import {enlarge} from "#web/shell/enlarge.js"
import {current} from "#web/shell/router.js"

/** @import {Described} from "#web/shell/described_component.js" */

const HEIGHT = 800 // CSS pixels of the frame that is proposed: so high, a drawing is whole in a narrow one, too

/**
 * Leave of a page its figure. Its other components stay, out of sight, since states count them.
 * @param {Described} view
 */
export function onlyFigure(view) {
  const page = new DOMParser().parseFromString(String(view.values.html), "text/html")
  const figure = page.querySelector(".fig")
  const others = [...page.querySelectorAll("[data-slot]")].filter((slot) => !figure?.contains(slot))
  const hidden = others.map((slot) => slot.outerHTML).join("")
  const slide = new URLSearchParams(location.search).has("slide")
  view.values.html = `<article class="lesson embedded${slide ? " slide" : ""}">${figure?.outerHTML ?? ""}<div hidden>${hidden}</div></article>`
  document.documentElement.classList.toggle("slide", slide)
  enlarge(slide)
}

/**
 * Drawing or code, where a frame is too narrow for both beside each other.
 */
export function partsBar() {
  const root = document.documentElement
  const button = (/** @type {string} */ part, /** @type {string} */ words) =>
    h("button", {type: "button", "data-part": part, onclick: () => show(part)}, words)
  const buttons = [button("drawing", "Drawing"), button("code", "Code")]
  const show = (/** @type {string} */ part) => {
    root.dataset.part = part
    for (const one of buttons) one.setAttribute("aria-pressed", String(one.dataset.part === part))
  }
  show(root.dataset.part ?? "drawing")
  return h("div", {class: "parts seg", role: "group", "aria-label": "Part of the figure"}, ...buttons)
}

/**
 * A button that copies what to write into another page, to have a section's figure there as it is now.
 * @param {string} name  of the section
 */
export function embedButton(name) {
  const button = h("button", {type: "button", class: "btn quiet roomy"}, "Copy embed code")
  button.onclick = async () => {
    await navigator.clipboard.writeText(embedCode(name, location.href, current(), document.title))
    button.textContent = location.protocol === "file:" ? "Copied, for a page beside index.html" : "Copied"
    setTimeout(() => button.replaceChildren("Copy embed code"), 2000)
  }
  return button
}

/**
 * @param {string} name
 * @param {string} here  address of the book
 * @param {{step: number, inputs: string}} place
 * @param {string} title
 */
function embedCode(name, here, {step, inputs}, title) {
  const query = [step >= 0 ? `step=${step}` : "", inputs].filter(Boolean).join("&")
  const file = `embed/${name}.html${query ? `?${query}` : ""}`
  const address = here.startsWith("file:") ? file : new URL(file, here).href // a disk's is this reader's alone
  const escaped = (/** @type {string} */ text) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;")
  return `<iframe src="${escaped(address)}" title="${escaped(title)}" width="100%" height="${HEIGHT}" loading="lazy"></iframe>`
}
