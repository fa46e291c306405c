// Predict, then reveal: a question, up to four answers, one button that steps there. What somebody has answered stays asked of the
// inputs that it was answered for, until they ask it of others. An answer is kept, and shown again to who comes back.
import {h, style, within} from "#web/shell/dom.js"
import {answers, markOf, noteAnswer} from "#web/shell/answers.js"
import {emit} from "#web/shell/events.js"
import {UNNAMED} from "#web/shell/address.js"
import {current, go} from "#web/shell/router.js"

/** @import {Render} from "#web/types.d.ts" */

/**
 * @typedef {object} Answer  empty until the recording is there
 * @property {string} [value]
 * @property {string[]} options
 * @property {number} step  that shows it, 0 for none
 * @property {string} because  HTML
 * @property {Record<string, string>} [wrong]  for a wrong option, why it is wrong, HTML
 * @property {string} [question]  HTML; in place of the text's, with the inputs in it
 */

/** @param {Render<{question: string, answer: Answer, error: string}>} component */
export function render({model, el}) {
  style(el)
  const question = h("h3")
  const options = h("div", {class: "opts", role: "group", "aria-label": "Answers"})
  const button = (/** @type {string} */ label, /** @type {() => void} */ act, more = "") =>
    h("button", {type: "button", class: `btn ${more}`, onclick: act}, label)
  const revealButton = button("Reveal", () => show(), "pri")
  const see = button("See it in the figure", () => toFigure(asked.answer.step))
  const back = button("Back to those inputs", () => {
    go(current().page, UNNAMED, "", asked.inputs)
    said.focus({preventScroll: true}) // the button goes, once the figure has them
  })
  const again = button("Ask it of the new inputs", () => {
    ask()
    options.querySelector("button")?.focus({preventScroll: true}) // the button itself is gone
  })
  const hint = h("span", {role: "status"})
  const from = h("span", {}, "The answer is read from the recording of these inputs.") // not live: each change of the inputs would say it
  const said = h("p", {class: "said", tabindex: "-1"})
  const root = h(
    "section",
    {class: "card quiz", "data-testid": "quiz"},
    h("span", {class: "tag"}, "Predict, then reveal"),
    question,
    options,
    h("div", {class: "row"}, revealButton, hint, from),
    said,
    h("div", {class: "row shown"}, see, back, again),
  )
  let asked = {answer: model.answer, inputs: ""} // what is asked, and of which inputs, as the address has them
  /** @type {string | null} */
  let chosen = null
  let shown = false
  const {page} = current()

  /** Ask what the recording in view answers. */
  const ask = () => {
    const {answer} = model
    asked = {answer, inputs: current().inputs}
    chosen = null
    shown = false
    question.innerHTML = answer.question || model.question
    said.replaceChildren()
    options.classList.remove("shown")
    if (answer.value === undefined) {
      delete root.dataset.answer
      options.replaceChildren(h("p", {class: "none"}, model.error || "Waits for the recording …"))
    } else {
      root.dataset.answer = answer.value
      options.replaceChildren(
        ...answer.options.map((option) =>
          h("button", {type: "button", "aria-pressed": "false", onclick: () => choose(option)}, option),
        ),
      )
    }
    const before = answers()[mark()]
    if (answer.options?.includes(before)) {
      choose(before)
      reveal()
    }
    paint()
  }
  const mark = () => markOf(page, about(asked.answer) + model.question)

  /** Take in an answer. Another question's waits while this one is being answered. */
  const update = () => {
    if (!stale())
      asked = {answer: model.answer, inputs: current().inputs} // perhaps from another device: what was chosen stays
    else if (chosen === null) return ask()
    paint()
  }
  const stale = () => about(model.answer) !== about(asked.answer)

  const paint = () => {
    const other = stale()
    root.classList.toggle("open", asked.answer.value !== undefined && !shown)
    revealButton.hidden = shown
    revealButton.disabled = chosen === null
    revealButton.textContent = asked.answer.step && !other ? "Reveal, by stepping there" : "Reveal"
    see.hidden = !shown || other || !asked.answer.step
    back.hidden = again.hidden = !other
    from.hidden = other || shown
    const words = other ? "This was asked of the inputs before your change." : ""
    if (hint.textContent !== words) hint.textContent = words
  }

  const choose = (/** @type {string} */ option) => {
    if (shown) return
    chosen = option
    for (const el of options.children) el.setAttribute("aria-pressed", String(el.textContent === option))
    paint()
  }

  const reveal = () => {
    const {answer} = asked
    const right = chosen === answer.value
    shown = true
    options.classList.add("shown")
    for (const el of options.children) {
      el.classList.toggle("right", el.textContent === answer.value)
      el.classList.toggle("wrong", el.textContent === chosen && !right)
      el.setAttribute("aria-disabled", "true")
    }
    const value = escaped(answer.value ?? "")
    const why = answer.wrong?.[chosen ?? ""]
    if (right) said.innerHTML = `<b>Yes: ${value}.</b> ${answer.because}`
    else if (!why) said.innerHTML = `<b>No: ${value}.</b> ${answer.because}`
    else said.innerHTML = `<b>Not ${escaped(chosen ?? "")}.</b> ${why} <b>It is ${value}.</b> ${answer.because}`
    paint()
  }

  const show = () => {
    const {answer} = asked
    noteAnswer(mark(), chosen ?? "")
    reveal()
    said.focus({preventScroll: true}) // the button that had the focus is gone; what was revealed is read out
    const steps = answer.step > 0 && !stale()
    emit("answered", {root, steps, option: chosen ?? "", inputs: asked.inputs})
    if (steps) emit("step", answer.step)
  }

  ask()
  model.on("answer", () => queueMicrotask(update))
  return root
}

/** What makes two answers one question, whichever device gave them. */
const about = (/** @type {Answer} */ {value, options, question}) => JSON.stringify([value, options, question])

/**
 * Step the page's figure there, and scroll it into view.
 * @param {number} step
 */
function toFigure(step) {
  emit("step", step)
  within(document, ".stage")?.scrollIntoView({block: "center"})
}

const escaped = (/** @type {string} */ text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)
