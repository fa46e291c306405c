// A Bokeh chart inside a shadow tree, with its own Bokeh document.
import {below, h, nearView} from "#web/runtime/dom.js"
import {paintModels} from "#web/theme/theme.js"

/**
 * @typedef {{x: string, y: string, words: string, item: unknown}} ChartResult  names of the axes, the chart in a sentence, and Bokeh's
 *   description of it
 *
 * The part of Bokeh's interface that is used here.
 * @typedef {{model: {document: unknown}, remove(): void}} View
 * @typedef {{documents: unknown[], embed: {embed_item(item: unknown, el: Element): Promise<{roots: Iterable<View>}>}}} BokehJS
 */

/** Bokeh's script defines a global. */
const bokeh = () => /** @type {{Bokeh: BokehJS}} */ (/** @type {unknown} */ (window)).Bokeh

/** @type {Promise<unknown> | undefined} */
let loading

/** Wait for Bokeh. A published page loads it from a file when a chart comes into view. */
function bokehLoaded() {
  const address = document.querySelector("meta[name=bokeh]")?.getAttribute("content")
  if (bokeh() || !address) return
  loading ??= new Promise((resolve, reject) => {
    document.head.append(
      h("script", {src: address, onload: resolve, onerror: () => reject(new Error(`${address} could not be loaded.`))}),
    )
  })
  return loading
}

/**
 * @param {ChartResult} result
 * @param {(() => void)[]} cleanup  gets the function that frees the chart
 */
export function bokehChart({x, y, words, item}, cleanup) {
  const box = h("div", {class: "bokeh", role: "img", "aria-label": words})
  const views = embed(item, box)
  cleanup.push(async () => {
    for (const view of (await views).roots) {
      const index = bokeh().documents.indexOf(view.model.document)
      view.remove()
      if (index >= 0) bokeh().documents.splice(index, 1)
    }
  })
  return h("div", {class: "chartbox"}, y ? h("p", {class: "axis-y"}, y) : null, box, h("p", {class: "axis-x"}, x))
}

/**
 * Bokeh cannot draw into a shadow tree, so a chart is made under <body> and then moved.
 * @param {unknown} item
 * @param {HTMLElement} box
 */
async function embed(item, box) {
  while (!box.isConnected) await new Promise(requestAnimationFrame)
  if (!bokeh()) {
    await nearView(box)
    await bokehLoaded()
  }
  const nursery = h("div", {class: "nursery", style: `width:${box.clientWidth}px`})
  document.body.append(nursery)
  const views = await bokeh().embed.embed_item(item, nursery)
  paintModels()
  for (const el of below(nursery)) if (el.getAttribute("tabindex") === "0") el.removeAttribute("tabindex") // it is not interactive
  box.append(...nursery.childNodes)
  nursery.remove()
  return views
}
