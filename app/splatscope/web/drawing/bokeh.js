// Bokeh figures inside a shadow tree, each with its own Bokeh document.
import {below, h, nearView} from "#web/runtime/dom.js"
import {paintModels} from "#web/theme/theme.js"

/**
 * The part of Bokeh's interface that is used here.
 * @typedef {{apply_json_patch(patch: unknown): void}} BokehDocument
 * @typedef {{model: {document: BokehDocument}, remove(): void}} View
 * @typedef {{documents: BokehDocument[], embed: {embed_item(item: unknown, el: Element): Promise<{roots: Iterable<View>}>}}} BokehJS
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
 * Draw a figure into a box once that is in the document.
 * @param {unknown} item  Bokeh's description of it
 * @param {HTMLElement} box
 */
export function drawFigure(item, box) {
  const views = embed(item, box).then(({roots}) => [...roots])
  return {
    /**
     * Apply Bokeh's patch to the figure.
     * @param {unknown} patch
     */
    async patch(patch) {
      for (const {model} of await views) model.document.apply_json_patch(patch)
    },
    /** Free what the figure holds. */
    async close() {
      for (const view of await views) {
        const index = bokeh().documents.indexOf(view.model.document)
        view.remove()
        if (index >= 0) bokeh().documents.splice(index, 1)
      }
    },
  }
}

/**
 * Bokeh cannot draw into a shadow tree, so a figure is made under <body> and then moved.
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
