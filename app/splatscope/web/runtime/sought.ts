// The part of a page that an address names after `#`: an element by its id, a text by how it begins (`#text=…`), a line of code
// (`#code=…`).
import {around, below} from "./dom.ts"

const BEGINNING = 60 // characters by which a text is found
const BLOCKS = "h1, h2, h3, h4, p, li, dt, dd, td, th, figcaption, summary, aside, .figcaption, .qrow"
const ELSEWHERE = "nav, [hidden], .companion, .claim .from"
const MARKED = 2600 // ms for which what was found is marked

/** The end of the address of a text on a page: its beginning, up to a whole word. */
export function placeOfText(kind: "text" | "code", words: string) {
  const cut = words.slice(0, BEGINNING)
  const beginning = words.length <= BEGINNING ? words : cut.slice(0, cut.lastIndexOf(" ") + 1).trimEnd() || cut
  return `#${kind}=${encodeURIComponent(beginning)}`
}

/** The line of code that an address names; "" for none. */
export const soughtCode = () => textAfter("code")

function textAfter(kind: string) {
  const [, name, text] = /^#(text|code)=(.{1,400})$/.exec(location.hash) ?? []
  try {
    return name === kind ? plain(decodeURIComponent(text)) : ""
  } catch {
    return "" // not the address of anything
  }
}

/** A text without the breaks and spaces that only lay it out. */
const plain = (text: string | null) => (text ?? "").replaceAll("\u2060", "").replace(/\s+/g, " ").trim()

/**
 * The part of a page that the address names, opened if it is folded; null if there is none. The debugger has a kernel there.
 * @param text  how it begins, by default as in the address
 */
export function soughtIn(root: HTMLElement, text = textAfter("text")): HTMLElement | null {
  const name = location.hash.slice(1)
  const found = text ? beginningWith(root, text) : /^[^=]{1,80}$/.test(name) ? root.querySelector(`#${CSS.escape(name)}`) : null
  if (found) unfold(found)
  return found instanceof HTMLElement ? found : null
}

/** Open all that a part of a page is folded into. */
export function unfold(el: Element) {
  for (let node: Node | null = el; node; node = around(node)) if (node instanceof HTMLDetailsElement) node.open = true
}

/** The first block that begins with a text, or the innermost that has it. */
function beginningWith(root: HTMLElement, text: string) {
  let inside: Element | null = null
  for (const el of below(root)) {
    if (!el.matches(BLOCKS) || el.closest(ELSEWHERE)) continue
    const own = plain(el.matches(".qrow") ? (el.children[1]?.textContent ?? "") : el.textContent)
    if (own.startsWith(text)) return el
    if (own.includes(text)) inside = el
  }
  return inside
}

/** Mark what was found for a moment. */
export function markFound(el: HTMLElement) {
  const colour = "var(--sev-note-tint)"
  const on = {backgroundColor: colour, boxShadow: `0 0 0 6px ${colour}`}
  el.animate([on, {...on, offset: 0.6}, {backgroundColor: "transparent", boxShadow: "0 0 0 6px transparent"}], MARKED)
}
