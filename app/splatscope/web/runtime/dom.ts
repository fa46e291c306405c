// Elements and styles for components. Each component has its own shadow root.

let sheet: CSSStyleSheet | null = null

/** Give the component's shadow root the page's style sheet, which is parsed once and shared by all. */
export function style(el: HTMLElement) {
  if (sheet === null) {
    sheet = new CSSStyleSheet()
    sheet.replaceSync(document.getElementById("splatscope-css")?.textContent ?? "")
  }
  const root = el.getRootNode()
  if (root instanceof ShadowRoot && !root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet)
}

type Handlers = {
  [Name in keyof GlobalEventHandlersEventMap as `on${Name}`]?: ((event: GlobalEventHandlersEventMap[Name]) => unknown) | null
}

/** What an element is made with: attributes, and handlers, each for the events of its name. */
export interface Attributes extends Handlers {
  [name: string]: string | number | boolean | null | undefined | ((event: never) => unknown)
}

/**
 * Make an element: `h("p", {class: "dim", onclick}, "text", child)`. Functions become properties, the rest attributes; `true` is an
 * attribute without a value, `false`, `null` and `undefined` leave it out. Children that are `null` or `undefined` are left out.
 */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: (Node | string | null | undefined)[]
): HTMLElementTagNameMap[Tag] {
  const el = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") Object.assign(el, {[name]: value})
    else if (value !== null && value !== undefined && value !== false) el.setAttribute(name, value === true ? "" : String(value))
  }
  el.append(...children.filter((child) => child !== null && child !== undefined))
  return el
}

/** How many px of the window one px of an element takes: 1, except in an enlarged section. */
export const zoomOf = (el: Element) => el.currentCSSZoom ?? 1

/** Whether an event belongs to a text field, in any shadow tree. */
export function typing(event: Event) {
  const el = event.composedPath()[0]
  if (!(el instanceof HTMLElement)) return false
  if (el.isContentEditable || el.tagName === "TEXTAREA" || el.tagName === "SELECT") return true
  return el instanceof HTMLInputElement && !["range", "checkbox", "radio", "button", "file"].includes(el.type)
}

/** The element that an event happened to, or null. Use closest() on it to find the part of a component. */
export const targetOf = (event: Event) => (event.target instanceof Element ? event.target : null)

/** The parent of a node, across shadow roots. */
export const around = (node: Node): Node | null => node.parentNode ?? (node instanceof ShadowRoot ? node.host : null)

/** The focused element, across shadow roots. */
export function focused() {
  let el = document.activeElement
  while (el?.shadowRoot?.activeElement) el = el.shadowRoot.activeElement
  return el as HTMLElement | null
}

/** Whether the reader wants no motion. */
export const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches

/** Whether an element that can be seen has the focus, which nothing but the reader may then move. */
export function isFocusHeld() {
  const el = focused()
  return el !== null && el !== document.body && el.checkVisibility()
}

/** The nearest matching element at or around a node, across shadow roots. */
export function enclosing(from: Node, selector: string): HTMLElement | null {
  let node: Node | null = from
  while (node) {
    if (node instanceof HTMLElement && node.matches(selector)) return node
    node = around(node)
  }
  return null
}

/** All elements below a node in document order, including those in shadow trees. */
export function* below(node: ParentNode): Generator<Element, void> {
  for (const el of node.querySelectorAll("*")) {
    yield el
    if (el.shadowRoot) yield* below(el.shadowRoot)
  }
}

/** The first matching element below a node, across shadow roots. */
export function within(node: ParentNode, selector: string): Element | null {
  for (const el of below(node)) if (el.matches(selector)) return el
  return null
}

/** Whether `a` precedes or contains `b` in the document, across shadow roots. */
export function precedes(a: Node, b: Node) {
  const hosts = hostsOf(a)
  for (const other of hostsOf(b)) {
    const mine = hosts.find((host) => host.getRootNode() === other.getRootNode())
    if (mine) return mine === other ? a === mine : Boolean(mine.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING)
  }
  return false
}

/** A node and the hosts of the shadow trees that contain it, innermost first. */
function hostsOf(node: Node) {
  const hosts = [node]
  for (let root = node.getRootNode(); root instanceof ShadowRoot; root = root.host.getRootNode()) hosts.push(root.host)
  return hosts
}

/** The line of an error that the reader is shown. */
export const messageOf = (reason: unknown) => (reason instanceof Error ? reason.message : String(reason))

/** Return a function that runs `act` once after the current task, for updates that arrive in several parts. */
export function soon(act: () => unknown) {
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

/** Have the browser download bytes as a file of this name. */
export function download(bytes: BlobPart, name: string) {
  const address = URL.createObjectURL(new Blob([bytes]))
  const link = h("a", {href: address, download: name})
  document.body.append(link)
  link.click()
  link.remove()
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}

/** Wait until an element is in view or close to it. */
export const nearView = (el: Element) =>
  new Promise<void>((resolve) => {
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
