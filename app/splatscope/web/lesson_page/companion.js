// The figure once more, small, beside the words: a copy of its drawing, the sentence of the step, the two arrows. On wide pages, while
// the figure itself is out of sight. It is covered beside a question that is open, which it would answer.
import {h, within} from "#web/shell/dom.js"
import {on} from "#web/shell/events.js"
import {icon} from "#web/stepper/panes/icons.js"
import {primary} from "#web/stepper/steppers.js"

const MOST = 0.45 // of the window's height, for the copy
const SMALLEST = 11 // px: type that can still be read
const LEGIBLE = SMALLEST / 12 // of a copy that is smaller, with its words 12 px high, only a few names are left, in SMALLEST
const MOST_NAMES = 12
const LONGEST_NAME = 32 // characters

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
  const cover = h(
    "div",
    {class: "cover"},
    h("b", {"aria-hidden": "true"}, "?"),
    h("p", {}, "The figure may show the answer. It comes back here once the question is answered."),
  )
  const view = h("div", {class: "mirror"}, copy, cover)
  const el = h("aside", {class: "companion", "aria-label": "The figure, small"}, h("div", {}, view, says, row))
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
    if (drawing) copy.replaceChildren(...copyOf(drawing, copy))
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
 * A drawing as it stands, in another size, and the names that are legible over it: it cannot be used, and nobody hears of it.
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
  if (scale >= LEGIBLE) return [copy]
  const names = h("div", {class: "names"}, ...namesOf(drawing, scale))
  names.style.width = `${width * scale}px`
  names.style.height = `${height * scale}px`
  return [names, copy]
}

/**
 * The names of a drawing that have room in a smaller copy of it: bold ones first, and none over another.
 * @param {HTMLElement} drawing
 * @param {number} scale
 */
function namesOf(drawing, scale) {
  const frame = drawing.getBoundingClientRect()
  const most = frame.width * scale
  const found = [...drawing.querySelectorAll("*")].flatMap((el) => {
    const words = el.firstElementChild ? "" : (el.textContent ?? "").trim()
    const named = el.matches(".name") || /\p{L}{2}/u.test(words)
    if (!words || !named || words.length > LONGEST_NAME || el.closest("option, button, .sr, title")) return []
    const box = el.getBoundingClientRect()
    const {color, fill, fontSize, fontWeight, visibility} = getComputedStyle(el)
    if (!box.width || visibility === "hidden") return []
    const range = document.createRange()
    range.selectNodeContents(el)
    const own = range.getBoundingClientRect()
    const width = Math.ceil((own.width * SMALLEST) / parseFloat(fontSize)) + 2
    const middle = (own.left + own.width / 2 - frame.left) * scale
    const left = Math.max(0, Math.min(most - width, middle - width / 2))
    const top = Math.max(0, (own.top + own.height / 2 - frame.top + drawing.scrollTop) * scale - SMALLEST / 2 - 2)
    return [{words, left, top, width, colour: el instanceof SVGElement ? fill : color, weight: parseInt(fontWeight, 10)}]
  })
  found.sort((a, b) => b.weight - a.weight)
  /** @type {typeof found} */
  const placed = []
  for (const one of found) {
    const free = placed.every(
      (other) =>
        one.words !== other.words &&
        (one.left + one.width + 4 < other.left ||
          other.left + other.width + 4 < one.left ||
          Math.abs(one.top - other.top) > SMALLEST + 3),
    )
    if (free && placed.length < MOST_NAMES) placed.push(one)
  }
  return placed.map(({words, left, top, colour, weight}) =>
    h("span", {style: `left:${left}px;top:${top}px;color:${colour};font-weight:${weight}`}, words),
  )
}
