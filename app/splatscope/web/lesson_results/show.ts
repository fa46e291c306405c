// Draws the result of an experiment: a chart, bars, a table, pictures, words.
import {h, style} from "#web/runtime/dom.ts"
import {announceRuns} from "./announce.ts"
import {paths} from "./paths.ts"
import {pictures} from "./pictures.ts"
import {drawFigure} from "#web/drawing/bokeh.ts"
import {listing} from "#web/widgets/quote.ts"
import {scenes} from "./scenes.ts"
import type {BarsPart, ChartPart, ShowParameters, TablePart} from "#components"
import type {Render} from "#web/types.ts"

type Part = ShowParameters["results"][number]

/** Functions that free what is shown. */
type Cleanup = (() => void)[]

const KEPT = new Set(["table", "words", "code"]) // kinds of results

export function render({model, el}: Render<"Show">) {
  style(el)
  const body = h("div", {class: "body"})
  const caption = h("figcaption")
  caption.innerHTML = model.caption
  const announced = announceRuns(model)
  const subject = subjectOf(caption)
  const name = subject ? `Run it again: ${subject}` : null
  const again = h("button", {type: "button", class: "btn quiet", onclick: announced.run, "aria-label": name}, "Run it again")
  const foot = h("div", {class: "row"}, caption, model.device ? null : again, announced.el)
  const root = h(
    "figure",
    {
      class: "tried panel",
      "aria-label": subject || null,
      "data-testid": "show",
      "data-name": model.method,
      "data-expects": model.expects,
    },
    body,
    foot,
  )

  let drawn: {key: string; el: Node}[] = []
  /** Draw the results. Tables and words that are the same stay, with the focus and the place to which they are scrolled. */
  const draw = (results: Part[]) => {
    const before = drawn
    drawn = results.map((result, i) => {
      const key = KEPT.has(result.kind) ? JSON.stringify(result) : ""
      return key && before[i]?.key === key ? before[i] : {key, el: drawResult(result, cleanup, caption)}
    })
    drawn.forEach(({el}, i) => {
      const old = body.childNodes[i]
      if (!old) body.append(el)
      else if (old !== el) old.replaceWith(el)
    })
    while (body.childNodes.length > drawn.length) body.lastChild?.remove()
  }
  const cleanup: Cleanup = []
  const clear = () => {
    for (const free of cleanup.splice(0)) free()
  }
  const show = () => {
    const {results, busy, error} = model
    again.setAttribute("aria-disabled", String(busy)) // not disabled: it keeps the focus
    root.classList.toggle("busy", busy)
    if (results.length) root.dataset.shown = String(Number(root.dataset.shown ?? 0) + 1)
    else delete root.dataset.shown
    if (error || !results.length) {
      drawn = []
      const words = error || (busy ? "Running …" : "Waiting for its turn …")
      return body.replaceChildren(h("p", {class: "none"}, words))
    }
    clear()
    draw(results)
  }
  const update = () => {
    show()
    const words = [...body.querySelectorAll(".said")].map((el) => el.textContent)
    announced.update(
      model.error ||
        (model.results.length ? [subject ? `Run again: ${subject}.` : "It has been run again.", ...words].join(" ") : ""),
    )
  }
  show()
  model.on("remove", clear)
  for (const name of ["results", "busy", "error"]) model.on(name, () => queueMicrotask(update))
  return root
}

/** The beginning of a caption, which names what is above it. */
const subjectOf = (caption: HTMLElement) => (caption.textContent ?? "").split(/[.:;]\s|\.$/)[0].trim()

/** @param cleanup  gets the function that frees the chart */
function chart({x, y, words, item}: ChartPart, cleanup: Cleanup) {
  const box = h("div", {class: "bokeh", role: "img", "aria-label": words})
  cleanup.push(drawFigure(item, box).close)
  return h("div", {class: "chartbox"}, y ? h("p", {class: "axis-y"}, y) : null, box, h("p", {class: "axis-x"}, x))
}

function drawResult(result: Part, cleanup: Cleanup, caption: HTMLElement): Node {
  switch (result.kind) {
    case "chart":
      return chart(result, cleanup)
    case "bars":
      return bars(result)
    case "table":
      return table(result, caption)
    case "film":
      return scenes(result, subjectOf(caption), (part) => drawResult(part, cleanup, caption))
    case "paths":
      return paths(result)
    case "pictures":
      return pictures(result)
    case "code":
      return h("figure", {class: "quote"}, listing(h("pre"), result.text, result.first, result.notes))
    case "drawings":
      return html("div", result.svgs.join(""), {class: "sketches"})
    case "words":
      return html("div", result.html, {class: "said"})
  }
}

/** @param text  HTML */
function html<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, text: string, attributes: Record<string, string> = {}) {
  const el = h(tag, attributes)
  el.innerHTML = text
  return el
}

function bars({labels, amounts, words, unit}: BarsPart) {
  const most = Math.max(...amounts.map(Math.abs), Number.MIN_VALUE)
  const rows = labels.map((label, i) => {
    const amount = words[i] ?? `${Number(amounts[i].toPrecision(3))}${unit ? `\u2009${unit}` : ""}`
    const title = h("span", {class: "row"}, html("span", label), h("b", {class: "num"}, amount))
    return h("li", {}, title, h("i", {style: `width:${(Math.abs(amounts[i]) / most) * 100}%`}))
  })
  return h("ul", {class: "amounts"}, ...rows)
}

const SHORT = 14 // characters up to which a cell is not wrapped
const NUMBER = /^[−-]?\d[\d,.]*(\s?(%|×|dB|KB|MB|ms|µs|ns|s))?$/ // with its unit

/**
 * A table, which is a Tab stop where it is cut off, so that arrow keys can move it. Where no caption below it names the figure, it is
 * named by its column heads.
 */
function table({head, rows, marked}: TablePart, caption: HTMLElement) {
  const titles = head.map((cell) => (cell ? html("th", cell, {scope: "col"}) : h("td")))
  const lines = rows.map(([first, ...others], i) => {
    const cells = [tableCell("th", first, {scope: "row"}), ...others.map((cell) => tableCell("td", cell))]
    return h("tr", {class: marked.includes(i) ? "marked" : null}, ...cells)
  })
  const heads = head.some(Boolean) ? h("thead", {}, h("tr", {}, ...titles)) : null
  const name = ["A table", ...head.map((cell) => html("th", cell).textContent).filter(Boolean)].join(", ")
  const label = subjectOf(caption) ? "Table" : name
  alignNumbers([...titles], lines)
  const facts = h("table", {class: "facts"}, heads, h("tbody", {}, ...lines))
  const box = h("div", {class: "tablebox", role: "group", "aria-label": label}, facts)
  new ResizeObserver(() => {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0
    else box.removeAttribute("tabindex")
  }).observe(box)
  return box
}

/** Align columns of nothing but numbers at the right, the first column excepted, which names the rows. */
function alignNumbers(titles: Element[], lines: Element[]) {
  for (const [at, title] of titles.entries()) {
    const cells = lines.map((line) => line.children[at]).filter((cell) => cell?.textContent)
    if (at === 0 || !cells.length || !cells.every((cell) => NUMBER.test(cell.textContent ?? ""))) continue
    for (const cell of [title, ...cells]) cell.classList.add("number")
  }
}

/** @param text  HTML */
function tableCell(tag: "th" | "td", text: string, attributes?: Record<string, string>) {
  const cell = html(tag, text, attributes)
  cell.classList.toggle("short", (cell.textContent ?? "").length <= SHORT)
  return cell
}
