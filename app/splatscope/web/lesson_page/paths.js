// Ways over a landscape from above: contours of what a kernel found at each point, and a line for each way, up to the step in view.
import {h} from "#web/shell/dom.js"
import {s, set} from "#web/drawing/svg.js"
import {scrubber} from "./scenes.js"
import {show} from "#web/drawing/look.js"

const TALL = 1.6 // how often as wide as it is high, at most

export function paths({heights, low, high, levels, paths: ways, goal}) {
  const ratio = Math.min(TALL, (high[0] - low[0]) / (high[1] - low[1])),
    width = 640,
    height = Math.round(width / ratio)
  const x = (value) => ((value - low[0]) / (high[0] - low[0])) * width,
    y = (value) => height - ((value - low[1]) / (high[1] - low[1])) * height
  const steps = ways[0].x.length - 1
  const svg = s("svg", {
    viewBox: `0 0 ${width} ${height}`,
    class: "land",
    role: "img",
    "aria-label": `Contours of the loss, with the ways of ${ways.map((way) => way.label).join(", ")}`,
  })
  for (const level of levels) svg.append(s("path", {class: "contour", d: contour(heights, level, width, height)}))
  if (goal) svg.append(s("path", {class: "goal", d: `M${x(goal[0]) - 7} ${y(goal[1])}h14m-7 -7v14`}))
  const lines = ways.map((_, i) => {
    const line = s("path", {class: `way w${i}`}),
      dots = s("path", {class: `steps w${i}`}),
      head = s("circle", {class: `head w${i}`, r: 7})
    svg.append(line, dots, head)
    return {line, dots, head}
  })
  const key = ways.map((way, i) => {
    const words = h("span", {class: "num"})
    return {el: h("li", {}, h("i", {class: `w${i}`}), h("b", {}, way.label), words), words}
  })
  const slider = scrubber("Step of all ways", steps, steps, (step) => {
    ways.forEach((way, i) => {
      const places = way.x
        .slice(0, step + 1)
        .map((value, t) => [x(value), y(way.y[t])])
        .filter((place) => place.every(Number.isFinite))
      const at = places.at(-1) ?? [0, 0]
      set(lines[i].line, {d: `M${places.map((place) => place.map((value) => value.toFixed(1)).join(" ")).join("L")}`})
      set(lines[i].dots, {d: places.map(([a, b]) => `M${a.toFixed(1)} ${b.toFixed(1)}h0`).join("")})
      set(lines[i].head, {cx: at[0], cy: at[1]})
      const here = [way.x[step], way.y[step]]
      key[i].words.textContent =
        here.every(Number.isFinite) && here.every((value) => Math.abs(value) < 100)
          ? `at ${here.map((value) => show(Number(value.toFixed(2)), 3)).join(", ")}`
          : "gone"
    })
    return `step ${step} of ${steps}`
  })
  return h("div", {class: "ways"}, slider, svg, h("ul", {class: "wayskey"}, ...key.map((one) => one.el)))
}

// Where the heights cross a level: a piece of line in each cell of the grid that has some corners above it and some below.
function contour(heights, level, width, height) {
  const rows = heights.length,
    columns = heights[0].length,
    pieces = []
  const place = (column, row) =>
    `${((column / (columns - 1)) * width).toFixed(1)} ${(height - (row / (rows - 1)) * height).toFixed(1)}`
  for (let row = 0; row + 1 < rows; row++) {
    for (let column = 0; column + 1 < columns; column++) {
      const corners = [
          [column, row],
          [column + 1, row],
          [column + 1, row + 1],
          [column, row + 1],
        ],
        cuts = []
      corners.forEach(([c, r], i) => {
        const [d, q] = corners[(i + 1) % 4],
          from = heights[r][c],
          to = heights[q][d]
        if (from < level === to < level) return
        const share = (level - from) / (to - from)
        cuts.push(place(c + share * (d - c), r + share * (q - r)))
      })
      for (let i = 0; i + 1 < cuts.length; i += 2) pieces.push(`M${cuts[i]}L${cuts[i + 1]}`)
    }
  }
  return pieces.join("")
}
