// A term's definition beside its link: while the pointer is on either, or the link has the focus. Esc puts it away.
import {h} from "#web/shell/dom.js"

const SOON = 180 // ms in which the pointer may cross from the word to its definition

export function terms(root) {
  const card = h("div", {class: "term-card", popover: "manual"})
  let shown = null,
    leaving = null

  const show = (link) => {
    clearTimeout(leaving)
    const says = root.querySelector(`#${CSS.escape(link.getAttribute("aria-describedby"))}`)
    if (shown === link || !says) return
    shown = link
    card.innerHTML = says.innerHTML
    card.showPopover()
    place(link)
  }
  const place = (link) => {
    const at = link.getClientRects()[0],
      box = card.getBoundingClientRect(),
      gap = 6
    const above = at.bottom + gap + box.height > innerHeight
    card.style.left = `${Math.max(8, Math.min(at.left, innerWidth - box.width - 8))}px`
    card.style.top = `${above ? at.top - gap - box.height : at.bottom + gap}px`
  }
  const hide = () => {
    clearTimeout(leaving)
    shown = null
    card.hidePopover()
  }
  // A focus brings its link into view, and the page scrolls after it: the definition comes along.
  const scrolled = () => {
    if (shown?.matches(":focus-visible")) place(shown)
    else hide()
  }
  const leave = () => {
    leaving = setTimeout(hide, SOON)
  }

  const links = root.querySelectorAll("a.term")
  for (const link of links) {
    link.onpointerenter = (event) => {
      if (event.pointerType === "mouse") show(link)
    }
    link.onpointerleave = leave
    link.onfocus = () => {
      if (link.matches(":focus-visible")) show(link)
    }
    link.onblur = hide
  }
  card.onpointerenter = () => clearTimeout(leaving)
  card.onpointerleave = leave
  root.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide()
  })
  window.addEventListener("scroll", scrolled, {passive: true})
  if (links.length) root.append(card)
  return () => window.removeEventListener("scroll", scrolled)
}
