// Scenes, of which a slider shows one at a time.
import {h} from "#web/runtime/dom.js"

/**
 * @template Part
 * @typedef {object} ScenesResult
 * @property {Part[][]} scenes
 * @property {string[]} words  of each scene, HTML
 * @property {number} first  the scene to begin with
 */

/**
 * @template Part
 * @param {ScenesResult<Part>} result
 * @param {string} name  what the scenes show, which names the slider
 * @param {(part: Part) => Node} draw
 */
export function scenes({scenes, words, first}, name, draw) {
  const body = h("div", {class: "film-scene"})
  const slider = scrubber(name || "Scene", scenes.length - 1, first, (i) => {
    body.replaceChildren(...scenes[i].map(draw))
    return words[i]
  })
  return h("div", {class: "film"}, slider, body)
}

/**
 * Make a slider from 0 to `last`, with words beside it.
 * @param {string} name
 * @param {number} last
 * @param {number} first  the initial value
 * @param {(i: number) => string} go  shows a value; returns the words, as HTML
 * @param {() => string} more  what the slider announces in addition: what is drawn now
 */
export function scrubber(name, last, first, go, more = () => "") {
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
