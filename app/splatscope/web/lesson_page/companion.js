// The figure once more, small, beside the words: a copy of its drawing, the sentence of the step, the two arrows. On wide pages, while
// the figure itself is out of sight. It is covered beside a question that is open, which it would answer.
import {h, within} from "#web/shell/dom.js"
import {on} from "#web/shell/events.js"
import {icon} from "#web/stepper/panes/icons.js"
import {primary} from "#web/stepper/steppers.js"

const MOST = 0.45 // of the window's height, for the copy
const LEGIBLE = 11 / 12 // a copy that is smaller has no words: those of drawings are 12 px high, and 11 px can still be read

/**
 * Set a page's companion beside its words; without a figure it has none.
 * @param {HTMLElement} root  of the page
 * @returns {() => void} ends it
 */
export function companion(root) {
  const figure = /** @type {HTMLElement | null} */ (root.querySelector(".lesson > .fig"))
  if (!figure) return () => {}
  const copy = h("div", {class: "copy", "aria-hidden": "true", inert: true})
  const says = h("p", {class: "says"})
  const button = (/** @type {string} */ name, /** @type {"back" | "on"} */ sign, /** @type {number} */ way) =>
    h(
      "button",
      {type: "button", class: "btn icon", "aria-label": name, title: name, onclick: () => primary()?.move(way)},
      icon(sign),
    )
  const toFigure = () => figure.scrollIntoView({block: "center"})
  const row = h(
    "div",
    {class: "row"},
    button("One step back", "back", -1),
    button("One step forward", "on", 1),
    h("button", {type: "button", class: "btn", onclick: toFigure}, "To the figure"),
  )
  const cover = h("p", {class: "cover"}, "The figure may show the answer. It comes back here once the question is answered.")
  const el = h("aside", {class: "companion", "aria-label": "The figure, small"}, h("div", {}, cover, copy, says, row))
  figure.after(el)

  /** @type {HTMLElement | null} */
  let stage = null
  let due = false
  const paint = () => {
    due = false
    el.classList.toggle(
      "covered",
      [...asking].some((quiz) => within(quiz, ".quiz.open")),
    )
    if (!stage?.isConnected || !el.classList.contains("needed") || !copy.offsetParent) return
    says.textContent = stage.querySelector("[data-testid=step-sentence]")?.textContent ?? ""
    const drawing = /** @type {HTMLElement | null} */ (within(stage, ".drawing"))
    if (drawing) copy.replaceChildren(copyOf(drawing, copy))
  }
  const ask = () => {
    if (due) return
    due = true
    requestAnimationFrame(paint) // by then the figure has painted
  }
  const ends = [
    on("moment", (moment) => {
      if (!moment.first) return
      stage = moment.root
      ask()
    }),
    on("described", ask),
    on("answered", ask),
  ]
  /** @type {Set<Element>} */
  const asking = new Set() // the places of questions in view
  const questions = new IntersectionObserver((entries) => {
    for (const {target, isIntersecting} of entries) isIntersecting ? asking.add(target) : asking.delete(target)
    ask()
  })
  for (const quiz of root.querySelectorAll("[data-block^=quiz-]")) questions.observe(quiz)
  const sight = new IntersectionObserver(
    ([{isIntersecting}]) => {
      el.classList.toggle("needed", !isIntersecting)
      ask()
    },
    {rootMargin: "-25% 0px 0px 0px"},
  )
  sight.observe(figure)
  window.addEventListener("resize", ask)
  return () => {
    for (const end of ends) end()
    sight.disconnect()
    questions.disconnect()
    window.removeEventListener("resize", ask)
  }
}

/**
 * A drawing as it stands, in another size: it cannot be used, and nobody hears of it.
 * @param {HTMLElement} drawing
 * @param {HTMLElement} into
 */
function copyOf(drawing, into) {
  const copy = /** @type {HTMLElement} */ (drawing.cloneNode(true))
  const painted = copy.querySelectorAll("canvas")
  drawing.querySelectorAll("canvas").forEach((canvas, i) => {
    if (canvas.width && canvas.height) painted[i].getContext("2d")?.drawImage(canvas, 0, 0)
  })
  const values = copy.querySelectorAll("input")
  drawing.querySelectorAll("input").forEach((input, i) => {
    values[i].value = input.value
  })
  const {paddingLeft, paddingRight} = getComputedStyle(into)
  const room = into.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight)
  const [width, height] = [drawing.clientWidth, drawing.scrollHeight]
  const scale = Math.min(1, room / width, (MOST * innerHeight) / height)
  copy.classList.toggle("wordless", scale < LEGIBLE)
  copy.style.width = `${width}px`
  copy.style.height = `${height}px`
  copy.style.transform = `scale(${scale})`
  copy.style.marginBottom = `${(scale - 1) * height}px`
  copy.style.marginLeft = `${Math.max(0, (room - scale * width) / 2)}px`
  copy.style.marginRight = `${-width}px`
  return copy
}
