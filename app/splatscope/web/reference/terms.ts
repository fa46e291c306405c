// Shows a term's definition beside its link while the pointer is on either, or the link is focused. Esc hides it. After a tap, the
// definition appears at the bottom of the screen, with a link to the glossary, until the next tap elsewhere.
import {h, zoomOf} from "#web/runtime/dom.ts"

const SOON = 180 // ms within which the pointer may move from the word to its definition
const GAP = 6 // px between them

/**
 * Show the definitions of all terms in a part of the page.
 * @returns ends it
 */
export function terms(root: HTMLElement | ShadowRoot): () => void {
  const card = h("div", {class: "term-card", popover: "manual"})
  let shown: HTMLElement | null = null
  let timer = 0

  const hide = () => {
    clearTimeout(timer)
    shown = null
    card.classList.remove("sheet")
    card.hidePopover()
  }
  const hideSoon = () => {
    timer = window.setTimeout(hide, SOON)
  }
  const show = (link: HTMLElement) => {
    clearTimeout(timer)
    const definition = root.querySelector(`#${CSS.escape(link.getAttribute("aria-describedby") ?? "")}`)
    if (shown === link || !definition) return
    shown = link
    const entry = definition.parentElement?.cloneNode(true) as Element
    entry.querySelector("[id]")?.removeAttribute("id")
    card.replaceChildren(...entry.childNodes)
    card.showPopover()
    placeBeside(card, link)
  }
  const showSheet = (link: HTMLElement) => {
    hide()
    show(link)
    if (shown !== link) return
    card.classList.add("sheet")
    card.removeAttribute("style")
    card.append(h("a", {href: link.getAttribute("href") ?? ""}, "In the glossary"))
  }
  const hideSheet = (event: PointerEvent) => {
    if (card.classList.contains("sheet") && !event.composedPath().includes(card)) hide()
  }
  // Focusing a link can scroll the page afterwards, so the definition moves with it.
  const onScroll = () => {
    if (shown?.matches(":focus-visible")) placeBeside(card, shown)
    else hide()
  }

  const links = root.querySelectorAll("a.term") as NodeListOf<HTMLElement>
  for (const link of links) {
    link.onpointerenter = (event) => {
      if (event.pointerType === "mouse") show(link)
    }
    link.onpointerleave = (event) => {
      if (event.pointerType === "mouse") hideSoon()
    }
    link.onclick = (event) => {
      if ((event as PointerEvent).pointerType !== "touch") return
      event.preventDefault()
      event.stopPropagation()
      showSheet(link)
    }
    link.onfocus = () => {
      if (link.matches(":focus-visible")) show(link)
    }
    link.onblur = () => {
      if (!card.classList.contains("sheet")) hide()
    }
  }
  card.onpointerenter = () => clearTimeout(timer)
  card.onpointerleave = (event) => {
    if (event.pointerType === "mouse") hideSoon()
  }
  root.addEventListener("keydown", (event) => {
    if (event instanceof KeyboardEvent && event.key === "Escape") hide()
  })
  window.addEventListener("scroll", onScroll, {passive: true})
  window.addEventListener("pointerdown", hideSheet)
  if (links.length) root.append(card)
  return () => {
    window.removeEventListener("scroll", onScroll)
    window.removeEventListener("pointerdown", hideSheet)
  }
}

/** Place a card below the first line of an element, or above it if there is no room. */
function placeBeside(card: HTMLElement, el: HTMLElement) {
  const line = el.getClientRects()[0]
  const box = card.getBoundingClientRect()
  const above = line.bottom + GAP + box.height > innerHeight
  const zoom = zoomOf(card)
  card.style.left = `${Math.max(8, Math.min(line.left, innerWidth - box.width - 8)) / zoom}px`
  card.style.top = `${(above ? line.top - GAP - box.height : line.bottom + GAP) / zoom}px`
}
