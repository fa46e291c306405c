// SVG elements, with the marks that mean the same everywhere.

const NS = "http://www.w3.org/2000/svg"

// s("circle", {cx, cy, r}, …children or text)
export function s(tag, attributes = {}, ...children) {
  const el = document.createElementNS(NS, tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") el[name] = value
    else if (value !== null && value !== undefined && value !== false) el.setAttribute(name, value)
  }
  el.append(...children.filter((child) => child !== null && child !== undefined))
  return el
}

export const set = (el, attributes) => {
  for (const [name, value] of Object.entries(attributes)) el.setAttribute(name, value)
}

// A thread in its seat: filled runs, ring waits, ring with a point is released, small and pale is done.
export function lane(x, y, r = 4.5) {
  const disc = s("circle", {cx: x, cy: y, r}),
    point = s("circle", {cx: x, cy: y, r: r / 3, class: "held-point"})
  const el = s("g", {}, disc, point)
  return {
    el,
    show(status, chosen) {
      const klass = chosen && status === "run" ? "ln me" : {run: "ln", wait: "ln w", held: "ln w", done: "ln d"}[status]
      disc.setAttribute("class", klass)
      disc.setAttribute("r", status === "done" ? r * 0.55 : status === "run" ? r : r * 0.85)
      point.setAttribute("visibility", status === "held" ? "visible" : "hidden")
      el.setAttribute("class", chosen ? "lane-g chosen" : "lane-g")
    },
  }
}
