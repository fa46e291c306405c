// Paths on a landscape seen from above: contours of the values that a kernel computed, and a line for each path up to the current
// step.
import {show} from "#web/drawing/look.ts"
import {floatsOf} from "#web/drawing/pixels.ts"
import {s, setAttributes} from "#web/drawing/svg.ts"
import {h, isStill} from "#web/runtime/dom.ts"
import {contour} from "./contours.ts"
import {scrubber} from "./scenes.ts"
import type {PathsPart} from "#components"

const WIDTH = 640
const MOST_RATIO = 1.6 // of width to height
const FAR = 100 // a path beyond this is called “gone”
const TICK = 70 // ms per step while it plays

export function paths({heights, columns, low, high, levels, paths, goal}: PathsPart) {
  const ratio = Math.min(MOST_RATIO, (high[0] - low[0]) / (high[1] - low[1]))
  const height = Math.round(WIDTH / ratio)
  const x = (value: number) => ((value - low[0]) / (high[0] - low[0])) * WIDTH
  const y = (value: number) => height - ((value - low[1]) / (high[1] - low[1])) * height
  const all = floatsOf(heights)
  const rows = Array.from({length: all.length / columns}, (_, row) => all.subarray(row * columns, (row + 1) * columns))
  const label = `Contours of the loss, with the paths of ${paths.map((path) => path.label).join(", ")}`
  const svg = s("svg", {viewBox: `0 0 ${WIDTH} ${height}`, class: "land", role: "img", "aria-label": label})
  for (const level of levels) svg.append(s("path", {class: "contour", d: contour(rows, level, WIDTH, height)}))
  if (goal) svg.append(s("path", {class: "goal", d: `M${x(goal[0]) - 7} ${y(goal[1])}h14m-7 -7v14`}))
  const lines = paths.map((_, i) => {
    const line = s("path", {class: `way w${i}`})
    const dots = s("path", {class: `steps w${i}`})
    const head = s("circle", {class: `head w${i}`, r: 7})
    svg.append(line, dots, head)
    return {line, dots, head}
  })
  const words = paths.map(() => h("span", {class: "num"}))
  const legend = paths.map((path, i) => h("li", {}, h("i", {class: `w${i}`}), h("b", {}, path.label), words[i]))

  const draw = (i: number, step: number) => {
    const points = paths[i].x.slice(0, step + 1).map((value, t) => [x(value), y(paths[i].y[t])])
    const known = points.filter((point) => point.every(Number.isFinite))
    const texts = known.map((point) => point.map((value) => value.toFixed(1)).join(" "))
    const [headX, headY] = known.at(-1) ?? [0, 0]
    setAttributes(lines[i].line, {d: `M${texts.join("L")}`})
    setAttributes(lines[i].dots, {d: texts.map((text) => `M${text}h0`).join("")})
    setAttributes(lines[i].head, {cx: headX, cy: headY})
    words[i].textContent = placeText([paths[i].x[step], paths[i].y[step]])
  }
  const last = paths[0].x.length - 1
  let at = 0 // the step that is drawn
  const show = (step: number) => {
    at = step
    for (let i = 0; i < paths.length; i++) draw(i, step)
    return `step ${step} of ${last}`
  }
  /** Where the paths are, those named together that are at one place. */
  const places = () => {
    const there = new Map<string, string[]>()
    for (const {label, x, y} of paths) {
      const place = placeText([x[at], y[at]], 1)
      there.set(place, [...(there.get(place) ?? []), label])
    }
    return [...there].map(([place, labels]) => `${labels.join(" and ")} ${place}`).join("; ")
  }
  const slider = scrubber("Step of all paths", last, 0, show, places)
  slider.prepend(...player(slider, svg))
  return h("div", {class: "ways"}, slider, svg, h("ul", {class: "wayskey"}, ...legend))
}

/**
 * A button that plays a slider from its current value, or from the start, and what announces where it has stopped. It plays by itself
 * when `shown` first comes into view, unless the reader prefers reduced motion, and stands still once the slider has the focus.
 */
function player(slider: HTMLElement, shown: Element) {
  const range = slider.querySelector("input") as HTMLInputElement
  const heard = h("p", {class: "sr", role: "status"})
  let timer = 0
  const press = () => {
    asked = true
    if (timer) pause()
    else play()
  }
  let asked = false // whether the reader has pressed the button, and not moved the slider since
  const button = h("button", {type: "button", class: "btn", onclick: press}, "Play")
  const pause = () => {
    clearInterval(timer)
    timer = 0
    button.textContent = "Play"
    if (asked) heard.textContent = range.getAttribute("aria-valuetext")
  }
  const go = (step: number) => {
    range.value = String(step)
    range.dispatchEvent(new Event("input"))
  }
  const play = () => {
    if (range.value === range.max) go(0)
    button.textContent = "Pause"
    heard.textContent = ""
    timer = window.setInterval(() => {
      if (!range.isConnected || range.value === range.max) pause()
      else go(+range.value + 1)
    }, TICK)
  }
  // it plays as soon as it is seen, unless the reader has used the slider before
  const seen = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return
      seen.disconnect()
      play()
    },
    {threshold: 0.6},
  )
  if (!isStill()) seen.observe(shown)
  for (const kind of ["pointerdown", "keydown", "focus"])
    range.addEventListener(kind, () => {
      seen.disconnect()
      asked = false // the slider announces itself
      pause()
    })
  return [button, heard]
}

/** Where a path is, in words. */
export function placeText(point: number[], decimals = 2) {
  if (!point.every((value) => Number.isFinite(value) && Math.abs(value) < FAR)) return "gone"
  return `at ${point.map((value) => show(Number(value.toFixed(decimals)), 3)).join(", ")}`
}
