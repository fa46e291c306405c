// Elements and styles for components, each of which lives in a shadow root of its own.

let sheet = null

// Gives the component's shadow root the page's style sheet: parsed once, shared by all.
export function style(el) {
  if (sheet === null) {
    sheet = new CSSStyleSheet()
    sheet.replaceSync(document.getElementById("splatscope-css")?.textContent ?? "")
  }
  const root = el.getRootNode()
  if (root instanceof ShadowRoot && !root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet)
}

// h("p", {class: "dim", onclick}, "text", child): functions become properties, the rest attributes.
export function h(tag, attributes = {}, ...children) {
  const el = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") el[name] = value
    else if (value !== null && value !== false) el.setAttribute(name, value === true ? "" : value)
  }
  el.append(...children.filter((child) => child !== null && child !== undefined))
  return el
}

// Whether a key press belongs to a field that takes text, wherever in the shadow trees that is.
export function typing(event) {
  const el = event.composedPath()[0]
  if (!(el instanceof Element)) return false
  if (el.isContentEditable || el.tagName === "TEXTAREA" || el.tagName === "SELECT") return true
  return el.tagName === "INPUT" && !["range", "checkbox", "radio", "button", "file"].includes(el.type)
}

// Hands bytes to the browser as a file of this name.
export function download(bytes, name) {
  const address = URL.createObjectURL(new Blob([bytes]))
  const link = h("a", {href: address, download: name})
  document.body.append(link)
  link.click()
  link.remove()
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}
