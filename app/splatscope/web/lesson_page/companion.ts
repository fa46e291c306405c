// A small copy of the figure beside the words: its drawing, or the part marked `data-mini`, laid out for the space there, the
// step's sentence, and two arrows. Wide pages show it while the figure itself is out of sight. It is covered while an open
// question, whose answer it could show, is in the middle of the window, unless the reader has just asked to see the figure: followed a
// link that changes it, set an input, or moved it. On narrower pages it comes up from below when a link in the
// text has changed the figure, and stays until it is closed or the figure is in sight.
import {smallOf} from "#web/drawing/drawing.ts"
import {h, within} from "#web/runtime/dom.ts"
import {placeOfLink} from "#web/runtime/address.ts"
import {on} from "#web/runtime/events.ts"
import {current} from "#web/runtime/router.ts"
import {icon} from "#web/stepper/panes/icons.ts"
import {primary} from "#web/stepper/steppers.ts"
import type {Moment} from "#web/recording/moment.ts"

const LEAST = 320 // px: with less width there is no room for a drawing's labels, and only the sentence is shown
const wide = matchMedia("(min-width: 1280px)") // as in the style sheet: it is beside the words
const MIDDLE = "-35% 0px -35% 0px" // the middle of the window
const AWAY = 0.25 // of the window's height: less than this moves by itself, as the page below a changed figure grows or shrinks

/**
 * Add the companion to a page that has a figure.
 * @param root  of the page
 * @returns ends it
 */
export function companion(root: HTMLElement): () => void {
  const figure = root.querySelector(".lesson > .fig") as HTMLElement | null
  if (!figure) return () => {}
  const copy = h("div", {class: "copy", "aria-hidden": "true", inert: true})
  const says = h("p", {class: "says"})
  const button = (name: string, sign: "back" | "on", way: number) =>
    h(
      "button",
      {type: "button", class: "btn icon", "aria-label": name, title: name, onclick: () => primary()?.move(way)},
      icon(sign),
    )
  const toFigure = () => figure.scrollIntoView({block: wide.matches ? "center" : "start"})
  let from: HTMLElement | null = null // the link that brought it up
  const activeElement = () => (el.getRootNode() as Document | ShadowRoot).activeElement
  const lower = () => {
    if (!from) return
    if (el.contains(activeElement())) from.focus({preventScroll: true})
    from = null
    el.classList.remove("up")
  }
  const row = h(
    "div",
    {class: "row"},
    button("One step back", "back", -1),
    button("One step forward", "on", 1),
    h("button", {type: "button", class: "btn", onclick: toFigure}, "To the figure"),
    h("button", {type: "button", class: "btn shut", onclick: lower}, "Close"),
  )
  const words = "The figure may show the answer. It reappears once you have answered the question."
  const cover = h("div", {class: "cover"}, h("p", {}, words))
  const view = h("div", {class: "mirror"}, copy, cover)
  const box = h("div", {role: "group", "aria-label": "The figure's current state", tabindex: "-1"}, view, says, row)
  const el = h("aside", {class: "companion", "aria-label": "Small copy of the figure"}, box)
  figure.after(el)
  /** Show it over a page without space beside the words, when a link in the text changes the figure. */
  const raise = (event: MouseEvent) => {
    const link = event.composedPath().find((one) => one instanceof HTMLAnchorElement)
    if (!link?.closest(".prose") || placeOfLink(link)?.page !== current().page) return
    see()
    if (wide.matches) return
    from = link
    el.classList.add("up")
    ask()
    box.focus({preventScroll: true}) // Tab continues to its buttons, Escape closes it and returns the focus to the link
  }
  root.addEventListener("click", raise)
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") lower()
  })

  let stage: HTMLElement | null = null
  let now: Moment | null = null
  let shown: {of: HTMLElement; small: ReturnType<typeof smallOf>} | null = null
  let due = false
  let wanted: number | null = null // where the window was scrolled to when the reader asked to see the figure
  let inputs = current().inputs
  const see = () => {
    wanted = window.scrollY
    ask()
  }
  const paint = () => {
    due = false
    el.classList.toggle("covered", !from && wanted === null && [...asking].some((quiz) => within(quiz, ".quiz.open")))
    if (!stage?.isConnected || !now || !el.classList.contains("needed") || !row.offsetParent) return
    says.textContent = stage.querySelector("[data-testid=step-sentence]")?.textContent ?? ""
    const drawing = within(stage, ".drawing") as HTMLElement | null
    if (drawing && drawing !== shown?.of) {
      shown = {of: drawing, small: smallOf(drawing)}
      copy.replaceChildren(shown.small.root)
    }
    const fits = shown !== null && shown.small.root.clientWidth >= LEAST
    if (fits) shown?.small.paint(now)
    el.classList.toggle("alone", !fits)
  }
  const ask = () => {
    if (due) return
    due = true
    requestAnimationFrame(paint) // after the figure has painted
  }
  const ends = [
    on("moment", (moment) => {
      if (!moment.first) return
      const before = now
      stage = moment.root
      now = moment.moment
      const set = current().inputs !== inputs
      const moved = before?.recording === now.recording && before.step !== now.step // by the reader, as it is the same recording
      inputs = current().inputs
      if (set || moved) see()
      else ask()
    }),
    on("described", ask),
    on("answered", () => {
      see() // show the figure stepping there, even if the next question is near
    }),
  ]
  const asking = new Set<Element>() // the slots of questions in the middle of the window
  const questions = new IntersectionObserver(
    (entries) => {
      for (const {target, isIntersecting} of entries) isIntersecting ? asking.add(target) : asking.delete(target)
      if (wanted !== null && Math.abs(window.scrollY - wanted) > AWAY * window.innerHeight) wanted = null
      ask()
    },
    {rootMargin: MIDDLE},
  )
  for (const quiz of root.querySelectorAll("[data-block^=quiz-]")) questions.observe(quiz)
  const sight = new IntersectionObserver(
    (entries) => {
      const {isIntersecting} = entries[entries.length - 1] // a busy browser reports several at once
      el.classList.toggle("needed", !isIntersecting)
      if (isIntersecting) {
        lower()
        wanted = null
      } else if (from && activeElement() === from) box.focus({preventScroll: true}) // it was hidden when the link was followed
      ask()
    },
    {rootMargin: "-25% 0px 0px 0px"},
  )
  sight.observe((within(figure, ".whole") ?? figure) as HTMLElement)
  window.addEventListener("resize", ask)
  return () => {
    for (const end of ends) end()
    sight.disconnect()
    questions.disconnect()
    window.removeEventListener("resize", ask)
  }
}
