// On a phone the sidebar is a drawer: opened by the menu button, closed by Esc, its cross, the ground beside it, a link.

export function startDrawer() {
  const [nav, main, scrim] = [".nav", "#main", ".scrim"].map((selector) => document.querySelector(selector))
  const menu = document.querySelector(".menu")
  const narrow = matchMedia("(max-width: 760px)")
  const isOpen = () => nav.classList.contains("open")

  const set = (open) => {
    if (open === isOpen()) return
    nav.classList.toggle("open", open)
    scrim.hidden = !open
    main.inert = open
    menu.setAttribute("aria-expanded", String(open))
    if (open) nav.querySelector("[aria-current], a").focus()
    else if (narrow.matches) menu.focus({preventScroll: true})
  }
  menu.onclick = () => set(!isOpen())
  scrim.onclick = () => set(false)
  nav.querySelector(".shut").onclick = () => set(false)
  narrow.addEventListener("change", () => set(false))
  window.addEventListener("splatscope:page", () => set(false))
  window.addEventListener("keydown", (event) => {
    if (event.key === "Escape") set(false)
  })
}
