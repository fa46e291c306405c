// On phones and tablets the sidebar is a drawer. The menu button opens it; Esc, its cross, a click beside it or a link closes it.
import {on} from "#web/runtime/events.ts"
import {addKeys} from "#web/runtime/keys.ts"

/** Make the sidebar a drawer on narrow screens. Called once, by the router. */
export function startDrawer() {
  const [nav, main, scrim, menu, shut] = [".nav", "#main", ".scrim", ".menu", ".nav .shut"].map(
    (selector) => document.querySelector(selector) as HTMLElement,
  )
  const narrow = matchMedia("(max-width: 1100px)")
  const isOpen = () => nav.classList.contains("open")

  const set = (open: boolean) => {
    if (open === isOpen()) return
    nav.classList.toggle("open", open)
    scrim.hidden = !open
    main.inert = open
    menu.setAttribute("aria-expanded", String(open))
    const first = nav.querySelector("[aria-current], a") as HTMLElement | null
    if (open) first?.focus()
    else if (narrow.matches) menu.focus({preventScroll: true})
  }
  menu.onclick = () => set(!isOpen())
  scrim.onclick = () => set(false)
  shut.onclick = () => set(false)
  narrow.addEventListener("change", () => set(false))
  on("page", () => set(false))
  addKeys({keys: {Escape: () => set(false)}, whileTyping: true, inDialogs: true})
}
