// One figure of the book, embedded in another page as a frame: `embed/NAME.html?step=17&count=16`, with `&slide` in large type.
import {h} from "#web/runtime/dom.ts"
import {enlarge} from "#web/runtime/enlarge.ts"
import {embedCode} from "#web/runtime/embed_code.ts"
import {current} from "#web/runtime/router.ts"
import type {Described} from "#web/runtime/host.ts"

/** Reduce a page to its figure. Its other components stay but are hidden, because states refer to components by number. */
export function onlyFigure(view: Described) {
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
 * Buttons that choose drawing or code, for frames that are too narrow for both.
 */
export function partsBar() {
  const root = document.documentElement
  const button = (part: string, words: string) => h("button", {type: "button", "data-part": part, onclick: () => show(part)}, words)
  const buttons = [button("drawing", "Drawing"), button("code", "Code")]
  const show = (part: string) => {
    root.dataset.part = part
    for (const one of buttons) one.setAttribute("aria-pressed", String(one.dataset.part === part))
  }
  show(root.dataset.part ?? "drawing")
  return h("div", {class: "parts seg", role: "group", "aria-label": "Part of the figure"}, ...buttons)
}

/**
 * A button that copies the HTML to embed a section's figure in its current state into another page.
 * @param name  of the section
 */
export function embedButton(name: string) {
  const button = h("button", {type: "button", class: "btn quiet roomy"}, "Copy embed code")
  button.onclick = async () => {
    const {step, inputs} = current()
    const query = [step >= 0 ? `step=${step}` : "", inputs].filter(Boolean).join("&")
    await navigator.clipboard.writeText(embedCode(name, document.title, location.href, query))
    button.textContent = location.protocol === "file:" ? "Copied for a page next to index.html" : "Copied"
    setTimeout(() => button.replaceChildren("Copy embed code"), 2000)
  }
  return button
}
