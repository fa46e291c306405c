// The nine numbers of a Gaussian, a row each: its name, a slider, the number as it is stored, and what it means.
import {h} from "#web/runtime/dom.ts"
import {STAGE, cssOf} from "./stages.ts"

const NAMES = ["x", "y", "log size 1", "log size 2", "angle", "red", "green", "blue", "logit"]
const SPOKEN = [
  "x of the centre, in pixels",
  "y of the centre, in pixels",
  "Log of the first size",
  "Log of the second size",
  "Angle, in radians",
  "Red",
  "Green",
  "Blue",
  "Logit of the opacity",
]
const [FIRST, SECOND, ANGLE, RED, LOGIT] = [2, 3, 4, 5, 8]
const DIGITS = [1, 1, 2, 2, 2, 2, 2, 2, 2]

const written = (number: number, digits: number) => number.toFixed(digits).replace("-", "−")

export function nineNumbers(
  ranges: [low: number, high: number][],
  change: (changes: Record<number, number>, dragging: boolean) => void,
) {
  const rows = NAMES.map((name, i) => row(name, i, ranges[i], change))
  const colour = h("input", {type: "color", "aria-label": "Colour", title: "Colour", "aria-description": ""})
  colour.oninput = () => change(partsOf(colour.value), true)
  colour.onchange = () => change(partsOf(colour.value), false)
  rows[RED].el.append(h("span", {class: "nine-colour"}, colour))
  const random = h("button", {type: "button", class: "btn"}, "Surprise me")
  random.onclick = () => change(Object.fromEntries(ranges.map((range, i) => [i, anyOf(range, i)])), false)
  const head = h("div", {class: "nine-row nine-head"}, h("span"), h("span"), h("span", {}, "stored"), h("span", {}, "means"))
  const list = h("div", {class: "nine-list"}, head, ...rows.map((one) => one.el))
  return {
    el: h("div", {class: "nine"}, list, random),
    /** @param thinnest  what the kernel adds to each size, in pixels */
    show(numbers: number[], thinnest: number) {
      rows.forEach((one, i) => one.show(numbers[i]))
      rows[FIRST].say(`${(thinnest + Math.exp(numbers[FIRST])).toFixed(1)} px`)
      rows[SECOND].say(`${(thinnest + Math.exp(numbers[SECOND])).toFixed(1)} px`)
      rows[LOGIT].say(`${(100 / (1 + Math.exp(-numbers[LOGIT]))).toFixed(0)} %`)
      const hex = numbers.slice(RED, LOGIT).map((part) =>
        Math.round(255 * part)
          .toString(16)
          .padStart(2, "0"),
      )
      colour.value = `#${hex.join("")}`
      colour.style.setProperty("--own", cssOf(numbers.slice(RED, LOGIT)))
    },
    /** @param done  stages */
    paint(done: number) {
      rows.forEach((one) => {
        one.stored.classList.toggle("later", done <= STAGE.numbers)
        one.means.classList.toggle("later", done <= STAGE.size)
      })
    },
  }
}

/** @param place  among the nine */
function row(
  name: string,
  place: number,
  [low, high]: [number, number],
  change: (changes: Record<number, number>, dragging: boolean) => void,
) {
  const slider = h("input", {type: "range", min: low, max: high, step: place < 2 ? 0.1 : 0.01, "aria-label": SPOKEN[place]})
  const say = (words: string) => {
    if (words !== means.textContent) means.textContent = words
    const text = stored.textContent ?? ""
    slider.setAttribute("aria-valuetext", place < 2 || !words ? text : `${words}, stored as ${text}`)
  }
  const [stored, means] = [h("output", {class: "num", "aria-live": "off", "aria-hidden": "true"}), h("span", {class: "num"})]
  let shown = Number.NaN
  slider.oninput = () => change({[place]: +slider.value}, true)
  slider.onchange = () => change({[place]: +slider.value}, false)
  slider.onkeydown = (event) => {
    if (/^(Arrow|Home|End|Page)/.test(event.key) && !event.shiftKey) event.stopPropagation()
  }
  return {
    el: h("div", {class: "nine-row"}, h("span", {class: "nine-name"}, name), slider, stored, means),
    stored,
    means,
    say,
    show(number: number) {
      if (number === shown && number === +slider.value) return
      shown = number
      slider.value = String(number)
      stored.textContent = written(number, DIGITS[place])
      say(place < 2 ? `${written(number, DIGITS[place])} px` : place === ANGLE ? `${written((number * 180) / Math.PI, 0)}°` : "")
    },
  }
}

/**
 * Red, green and blue by their places among the nine.
 * @param colour  #rrggbb
 */
const partsOf = (colour: string) =>
  Object.fromEntries(
    [1, 3, 5].map((at, i) => [RED + i, Math.round((100 * Number.parseInt(colour.slice(at, at + 2), 16)) / 255) / 100]),
  )

/** A number of a range, at random; sizes and opacity from the part of theirs that is easy to see. */
function anyOf([low, high]: [number, number], place: number) {
  const [first, last] = place < 2 ? [0.25, 0.75] : place < ANGLE ? [0.5, 0.9] : place === LOGIT ? [0.55, 0.95] : [0, 1]
  return low + (high - low) * (first + (last - first) * Math.random())
}
