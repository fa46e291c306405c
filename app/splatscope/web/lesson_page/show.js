// What a lesson tried out, drawn: a chart, bars, a table, pictures, words.
import {h, style} from "#web/shell/dom.js"
import {paintModels} from "#web/theme/theme.js"
import {film} from "./scenes.js"
import {paths} from "./paths.js"
import {pictures} from "./pictures.js"
import {listing} from "./quote.js"

export function render({model, el}) {
  style(el)
  const body = h("div", {class: "body"}),
    caption = h("figcaption")
  caption.innerHTML = model.caption
  const again = h("button", {type: "button", class: "btn quiet", onclick: () => model.send_msg({type: "run"})}, "Run it again")
  const foot = h("div", {class: "row"}, caption, again)
  const root = h("figure", {class: "tried panel", "data-testid": "show", "data-name": model.method}, body, foot)

  const ends = [] // what frees the charts now shown
  const draw = () => {
    const {results, busy, error} = model
    again.disabled = busy
    root.classList.toggle("busy", busy)
    if (results.length) root.dataset.shown = String(Number(root.dataset.shown ?? 0) + 1)
    else delete root.dataset.shown
    if (error || !results.length)
      return body.replaceChildren(h("p", {class: "none"}, error || (busy ? "Running …" : "Waits its turn …")))
    for (const end of ends.splice(0)) end()
    body.replaceChildren(...results.map((result) => DRAW[result.kind](result, ends)))
  }
  draw()
  model.on("remove", () => {
    for (const end of ends.splice(0)) end()
  })
  for (const name of ["results", "busy", "error"]) model.on(name, () => queueMicrotask(draw))
  return root
}

// A Bokeh chart, in a document of its own.
function chart({x, y, item}, ends) {
  const box = h("div", {class: "bokeh"})
  const shown = (async () => {
    while (!box.isConnected) await new Promise(requestAnimationFrame)
    // Bokeh draws only what it finds under <body>, not in a shadow tree: it is made there and moved.
    const nursery = h("div", {class: "nursery", style: `width:${box.clientWidth}px`})
    document.body.append(nursery)
    const views = await window.Bokeh.embed.embed_item(item, nursery)
    paintModels()
    box.append(...nursery.childNodes)
    nursery.remove()
    return views
  })()
  ends.push(async () => {
    for (const view of (await shown).roots) {
      const doc = view.model.document,
        at = window.Bokeh.documents.indexOf(doc)
      view.remove()
      if (at >= 0) window.Bokeh.documents.splice(at, 1)
    }
  })
  return h("div", {class: "chartbox"}, y ? h("p", {class: "axis-y"}, y) : null, box, h("p", {class: "axis-x"}, x))
}

const html = (tag, text, attributes = {}) => {
  const el = h(tag, attributes)
  el.innerHTML = text
  return el
}

const DRAW = {
  chart,
  bars({labels, amounts, words, unit}) {
    const most = Math.max(...amounts.map(Math.abs), Number.MIN_VALUE)
    return h(
      "ul",
      {class: "amounts"},
      ...labels.map((label, i) =>
        h(
          "li",
          {},
          h(
            "span",
            {class: "row"},
            html("span", label),
            h("b", {class: "num"}, words[i] ?? `${Number(amounts[i].toPrecision(3))}${unit ? `\u2009${unit}` : ""}`),
          ),
          h("i", {style: `width:${(Math.abs(amounts[i]) / most) * 100}%`}),
        ),
      ),
    )
  },
  table({head, rows, marked}) {
    return h(
      "div",
      {class: "tablebox", tabindex: "0"},
      h(
        "table",
        {class: "facts"},
        h("thead", {}, h("tr", {}, ...head.map((cell) => (cell ? html("th", cell, {scope: "col"}) : h("td"))))),
        h(
          "tbody",
          {},
          ...rows.map((row, i) => h("tr", {class: marked.includes(i) ? "marked" : null}, ...row.map((cell) => html("td", cell)))),
        ),
      ),
    )
  },
  film: (result, ends) => film(result, (part) => DRAW[part.kind](part, ends)),
  paths,
  pictures,
  code: ({text, first, notes}) => h("figure", {class: "quote"}, listing(h("pre", {tabindex: "0"}), text, first, notes)),
  words: ({html: text}) => html("div", text, {class: "said"}),
}
