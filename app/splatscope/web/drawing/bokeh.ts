// Bokeh figures inside a shadow tree, each with its own Bokeh document.
import {below, h, nearView} from "#web/runtime/dom.ts"
import {paintModels} from "#web/theme/theme.ts"

// The part of Bokeh's interface that is used here.
type BokehDocument = {apply_json_patch(patch: unknown): void}
type View = {model: {document: BokehDocument}; remove(): void}
type BokehJS = {documents: BokehDocument[]; embed: {embed_item(item: unknown, el: Element): Promise<{roots: Iterable<View>}>}}

/** Bokeh's script defines a global. */
const bokeh = () => (window as unknown as {Bokeh: BokehJS}).Bokeh

let loading: Promise<unknown> | undefined

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
 * @param item  Bokeh's description of it
 */
export function drawFigure(item: unknown, box: HTMLElement) {
  const views = embed(item, box).then(({roots}) => [...roots])
  return {
    /** Apply Bokeh's patch to the figure. */
    async patch(patch: unknown) {
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

/** Bokeh cannot draw into a shadow tree, so a figure is made under <body> and then moved. */
async function embed(item: unknown, box: HTMLElement) {
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
