// Elements and styles for components, each of which lives in a shadow root of its own.

/** @type {CSSStyleSheet | null} */
let sheet = null

/**
 * Give the component's shadow root the page's style sheet: parsed once, shared by all.
 * @param {HTMLElement} el
 */
export function style(el) {
  if (sheet === null) {
    sheet = new CSSStyleSheet()
    sheet.replaceSync(document.getElementById("splatscope-css")?.textContent ?? "")
  }
  const root = el.getRootNode()
  if (root instanceof ShadowRoot && !root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet)
}

/** @typedef {string | number | boolean | null | undefined | ((event: any) => unknown)} Attribute */

/**
 * Make an element: `h("p", {class: "dim", onclick}, "text", child)`. Functions become properties, the rest attributes; `true` is an
 * attribute without a value, `false`, `null` and `undefined` leave it out. Children that are `null` or `undefined` are left out.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, Attribute>} [attributes]
 * @param {(Node | string | null | undefined)[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, attributes = {}, ...children) {
  const el = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") Object.assign(el, {[name]: value})
    else if (value !== null && value !== undefined && value !== false) el.setAttribute(name, value === true ? "" : String(value))
  }
  el.append(...children.filter((child) => child !== null && child !== undefined))
  return el
}

/**
 * How many px of the window a px of an element is: 1, but where a section is enlarged.
 * @param {Element} el
 */
export const zoomOf = (el) => el.currentCSSZoom ?? 1

/**
 * Whether an event belongs to a field that takes text, wherever in the shadow trees that is.
 * @param {Event} event
 */
export function typing(event) {
  const el = event.composedPath()[0]
  if (!(el instanceof HTMLElement)) return false
  if (el.isContentEditable || el.tagName === "TEXTAREA" || el.tagName === "SELECT") return true
  return el instanceof HTMLInputElement && !["range", "checkbox", "radio", "button", "file"].includes(el.type)
}

/**
 * The element that an event happened to, or null; closest() on it finds the part of a component that was meant.
 * @param {Event} event
 */
export const targetOf = (event) => (event.target instanceof Element ? event.target : null)

/**
 * The node around a node, through the shadow trees.
 * @param {Node} node
 * @returns {Node | null}
 */
export const around = (node) => node.parentNode ?? (node instanceof ShadowRoot ? node.host : null)

/**
 * The nearest element at or around a node that matches, through the shadow trees.
 * @param {Node} from
 * @param {string} selector
 * @returns {HTMLElement | null}
 */
export function enclosing(from, selector) {
  /** @type {Node | null} */
  let node = from
  while (node) {
    if (node instanceof HTMLElement && node.matches(selector)) return node
    node = around(node)
  }
  return null
}

/**
 * All elements below a node, in order, those of the shadow trees too.
 * @param {ParentNode} node
 * @returns {Generator<Element, void>}
 */
export function* below(node) {
  for (const el of node.querySelectorAll("*")) {
    yield el
    if (el.shadowRoot) yield* below(el.shadowRoot)
  }
}

/**
 * The first element below a node that matches, through the shadow trees.
 * @param {ParentNode} node
 * @param {string} selector
 * @returns {Element | null}
 */
export function within(node, selector) {
  for (const el of below(node)) if (el.matches(selector)) return el
  return null
}

/**
 * Whether `a` comes before `b` in the document, or around it, through the shadow trees.
 * @param {Node} a
 * @param {Node} b
 */
export function precedes(a, b) {
  const hosts = hostsOf(a)
  for (const other of hostsOf(b)) {
    const mine = hosts.find((host) => host.getRootNode() === other.getRootNode())
    if (mine) return mine === other ? a === mine : Boolean(mine.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING)
  }
  return false
}

/**
 * A node and the hosts of the shadow trees it is in, innermost first.
 * @param {Node} node
 */
function hostsOf(node) {
  const hosts = [node]
  for (let root = node.getRootNode(); root instanceof ShadowRoot; root = root.host.getRootNode()) hosts.push(root.host)
  return hosts
}

/**
 * The one line that an error has for the reader.
 * @param {unknown} reason
 */
export const messageOf = (reason) => (reason instanceof Error ? reason.message : String(reason))

/**
 * Run an act once, after the current task: for the parts of an update that arrive one by one.
 * @param {() => unknown} act
 */
export function soon(act) {
  let due = false
  return () => {
    if (due) return
    due = true
    queueMicrotask(() => {
      due = false
      act()
    })
  }
}

/**
 * Hand bytes to the browser as a file of this name.
 * @param {BlobPart} bytes
 * @param {string} name
 */
export function download(bytes, name) {
  const address = URL.createObjectURL(new Blob([bytes]))
  const link = h("a", {href: address, download: name})
  document.body.append(link)
  link.click()
  link.remove()
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}

/**
 * Wait until an element is in view, or nearly.
 * @param {Element} el
 */
export const nearView = (el) =>
  new Promise((/** @type {(_: void) => void} */ resolve) => {
    const watch = new IntersectionObserver(
      (seen) => {
        if (!seen.some(({isIntersecting}) => isIntersecting)) return
        watch.disconnect()
        resolve()
      },
      {rootMargin: "400px"},
    )
    watch.observe(el)
  })
