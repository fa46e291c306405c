// Scenes of which one is shown at a time: a slider goes through them.
import {h} from "#web/shell/dom.js"

export function film({scenes, words, first}, draw) {
  const body = h("div", {class: "film-scene"})
  const slider = scrubber("Scene", scenes.length - 1, first, (i) => {
    body.replaceChildren(...scenes[i].map(draw))
    return words[i]
  })
  return h("div", {class: "film"}, slider, body)
}

// A slider from 0 to `most` with what stands there in words: `go(i)` shows it and says what it is, as HTML.
export function scrubber(name, most, first, go) {
  const range = h("input", {type: "range", min: 0, max: most, step: 1, "aria-label": name}),
    said = h("output", {class: "num"})
  const show = () => {
    said.innerHTML = go(+range.value)
    range.setAttribute("aria-valuetext", said.textContent)
  }
  range.value = first
  range.oninput = show
  range.onkeydown = (event) => {
    if (/^(Arrow|Home|End|Page)/.test(event.key)) event.stopPropagation()
  } // not the figure's
  show()
  return h("div", {class: "film-bar"}, range, said)
}
