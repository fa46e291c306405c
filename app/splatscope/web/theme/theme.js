// Light or dark: `data-theme` on <html>, set before the first paint by shell.html. All that draws follows from here.

const KEY = "splatscope-theme"
const system = matchMedia("(prefers-color-scheme: dark)")
const followers = new Set()

export const theme = () => document.documentElement.dataset.theme

// Calls back with "light" or "dark" at each change. Returns what ends it.
export function onTheme(callback) {
  followers.add(callback)
  return () => followers.delete(callback)
}

// The value of a token now, as a colour a canvas understands: colour("--c-blue").
export function colour(token) {
  const probe = document.createElement("i")
  probe.style.color = `var(${token})`
  document.body.append(probe)
  const value = getComputedStyle(probe).color
  probe.remove()
  return value
}

export function toggleTheme() {
  const next = theme() === "dark" ? "light" : "dark"
  try {
    localStorage.setItem(KEY, next)
  } catch {
    /* private mode: the choice lasts as long as the page */
  }
  apply(next)
}

export function startTheme() {
  document.getElementById("theme-toggle").onclick = toggleTheme
  system.addEventListener("change", () => {
    if (remembered() === null) apply(system.matches ? "dark" : "light")
  })
  window.addEventListener("storage", (event) => {
    if (event.key === KEY) apply(remembered() ?? (system.matches ? "dark" : "light"))
  })
}

// Paints the models whose Python side called `follow_theme`: a tag {theme: {property: [light, dark]}} on each.
export function paintModels(documents = window.Bokeh?.documents ?? []) {
  const side = theme() === "dark" ? 1 : 0
  for (const doc of documents) {
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

function remembered() {
  try {
    return localStorage.getItem(KEY)
  } catch {
    return null
  }
}

function apply(next) {
  if (theme() === next) return
  document.documentElement.dataset.theme = next
  paintModels()
  for (const callback of followers) callback(next)
}
