// Scenes, of which a slider shows one at a time.
import {h} from "#web/runtime/dom.ts"
import type {FilmPart} from "#components"

/** @param name  what the scenes show, which names the slider */
export function scenes({scenes, words, first}: FilmPart, name: string, draw: (part: FilmPart["scenes"][number][number]) => Node) {
  const body = h("div", {class: "film-scene"})
  const slider = scrubber(name || "Scene", scenes.length - 1, first, (i) => {
    body.replaceChildren(...scenes[i].map(draw))
    return words[i]
  })
  return h("div", {class: "film"}, slider, body)
}

/**
 * Make a slider from 0 to `last`, with words beside it.
 * @param first  the initial value
 * @param go  shows a value; returns the words, as HTML
 * @param more  what the slider announces in addition: what is drawn now
 */
export function scrubber(name: string, last: number, first: number, go: (i: number) => string, more: () => string = () => "") {
  const range = h("input", {type: "range", min: 0, max: last, step: 1, "aria-label": name})
  const words = h("output", {class: "num", "aria-live": "off", "aria-hidden": "true"}) // the slider announces it
  const show = () => {
    words.innerHTML = go(+range.value)
    range.setAttribute("aria-valuetext", [words.textContent, more()].filter(Boolean).join(". "))
  }
  range.value = String(first)
  range.oninput = show
  range.onkeydown = (event) => {
    if (/^(Arrow|Home|End|Page)/.test(event.key)) event.stopPropagation() // keep it from the figure
  }
  show()
  return h("div", {class: "film-bar"}, range, words)
}
