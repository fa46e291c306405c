// Light or dark: `data-theme` on <html>, which shell.html sets before the first paint. All drawing code gets the theme from here.

import {below} from "#web/runtime/dom.ts"
import {remember, remembered} from "#web/runtime/stored.ts"

const KEY = "splatscope-theme"
const system = matchMedia("(prefers-color-scheme: dark)")
const followers = new Set<(side: string | undefined) => void>()

/** The current theme: "light" or "dark". */
export const theme = () => document.documentElement.dataset.theme

/**
 * Call back with "light" or "dark" at each change.
 * @returns ends it
 */
export function onTheme(callback: (side: string | undefined) => void): () => void {
  followers.add(callback)
  return () => followers.delete(callback)
}

/** The current value of a token, as a colour that a canvas understands: colour("--c-blue"). */
export function colour(token: string) {
  const probe = document.createElement("i")
  probe.style.color = `var(${token})`
  probe.style.setProperty("forced-color-adjust", "none") // forced colours do not apply to a canvas
  document.body.append(probe)
  const value = getComputedStyle(probe).color
  probe.remove()
  return value
}

/** Apply the remembered theme, else the system's. Called on a page of one recording before the first paint. */
export function beginTheme() {
  const kept = remembered(KEY)
  document.documentElement.dataset.theme = kept === "light" || kept === "dark" ? kept : system.matches ? "dark" : "light"
}

/** Tell screen readers which of the two is on. */
function nameToggle() {
  document.getElementById("theme-toggle")?.setAttribute("aria-label", `Light or dark: ${theme()} now`)
}

/** Switch between light and dark, and remember the choice. */
function toggleTheme() {
  const next = theme() === "dark" ? "light" : "dark"
  remember(KEY, next)
  apply(next)
}

/** React to the button in the bar, the system and other windows. Called once, by the router. */
export function startTheme() {
  document.getElementById("theme-toggle")?.addEventListener("click", toggleTheme)
  nameToggle()
  system.addEventListener("change", () => {
    if (remembered(KEY) === null) apply(system.matches ? "dark" : "light")
  })
  window.addEventListener("storage", (event) => {
    if (event.key === KEY) apply(remembered(KEY) ?? (system.matches ? "dark" : "light"))
  })
}

type Themed = Record<string, [light: unknown, dark: unknown]> | Map<string, [light: unknown, dark: unknown]>

/** The part of a Bokeh model that is used here. */
interface BokehModel {
  tags?: ({theme?: Themed} | Map<string, Themed>)[]
  setv: (values: Record<string, unknown>, options: {sync: boolean}) => void
}

type BokehDocument = {all_models?: Iterable<BokehModel>; _all_models: Map<string, BokehModel>}

/** Paint the models whose Python side called `follow_theme`: a tag {theme: {property: [light, dark]}} on each. */
export function paintModels() {
  const {Bokeh} = window as unknown as {Bokeh?: {documents: BokehDocument[]}}
  const side = theme() === "dark" ? 1 : 0
  for (const doc of Bokeh?.documents ?? []) {
    for (const model of doc.all_models ?? doc._all_models.values()) {
      for (const tag of model.tags ?? []) {
        const pairs = tag instanceof Map ? tag.get("theme") : tag?.theme
        if (!pairs) continue
        const entries = pairs instanceof Map ? [...pairs] : Object.entries(pairs)
        model.setv(Object.fromEntries(entries.map(([name, pair]) => [name, pair[side]])), {sync: false})
      }
    }
  }
}

/**
 * Clear all charts below a node, which are repainted in the next frame. Bokeh starts clearing at half a pixel, so without this a
 * line in the old colours would remain at the top and the left.
 */
function clearCharts(node: ParentNode) {
  for (const el of below(node)) {
    if (!(el instanceof HTMLCanvasElement) || !el.classList.contains("bk-layer")) continue
    const context = el.getContext("2d")
    context?.save()
    context?.resetTransform()
    context?.clearRect(0, 0, el.width, el.height)
    context?.restore()
  }
}

/** Show everything light or dark. */
export const showTheme = (next: "light" | "dark") => apply(next)

function apply(next: string) {
  if (theme() === next) return
  document.documentElement.dataset.theme = next
  nameToggle()
  paintModels()
  clearCharts(document)
  for (const callback of followers) callback(next)
}
