// Predict, then reveal: a question, up to four answers, one button that steps there.
import {h, style, within} from "#web/shell/dom.js"
import {emit} from "#web/shell/events.js"

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

/** @param {Render<{question: string, answer: Answer}>} component */
export function render({model, el}) {
  style(el)
  const question = h("h3")
  question.innerHTML = model.question
  const options = h("div", {class: "opts", role: "group", "aria-label": "Answers"})
  const reveal = h("button", {type: "button", class: "btn pri", onclick: () => show()})
  const hint = h("span", {}, "The answer is read from the recording of these inputs.")
  const said = h("p", {class: "said", tabindex: "-1"})
  const root = h(
    "section",
    {class: "card quiz", "data-testid": "quiz"},
    h("span", {class: "tag"}, "Predict, then reveal"),
    question,
    options,
    h("div", {class: "row"}, reveal, hint),
    said,
  )
  /** @type {string | null} */
  let chosen = null
  let built = ""

  const build = () => {
    const {answer} = model
    const about = JSON.stringify([answer.value, answer.options, answer.question])
    if (about === built) return // the same run on another device: what was chosen stays
    built = about
    chosen = null
    question.innerHTML = answer.question || model.question
    said.replaceChildren()
    options.classList.remove("shown")
    if (answer.value === undefined) {
      delete root.dataset.answer
      options.replaceChildren(h("p", {class: "none"}, "Waits for the recording …"))
      reveal.disabled = true
      return
    }
    root.dataset.answer = answer.value
    reveal.textContent = answer.step ? "Reveal, by stepping there" : "Reveal"
    reveal.disabled = true
    options.replaceChildren(
      ...answer.options.map((option) =>
        h("button", {type: "button", "aria-pressed": "false", onclick: () => choose(option)}, option),
      ),
    )
  }

  const choose = (/** @type {string} */ option) => {
    if (options.classList.contains("shown")) return
    chosen = option
    for (const el of options.children) el.setAttribute("aria-pressed", String(el.textContent === option))
    reveal.disabled = false
  }

  const show = () => {
    const {answer} = model
    const right = chosen === answer.value
    options.classList.add("shown")
    for (const el of options.children) {
      el.classList.toggle("right", el.textContent === answer.value)
      el.classList.toggle("wrong", el.textContent === chosen && !right)
    }
    reveal.disabled = true
    const value = escaped(answer.value ?? "")
    const why = answer.wrong?.[chosen ?? ""]
    if (right) said.innerHTML = `<b>Yes: ${value}.</b> ${answer.because}`
    else if (!why) said.innerHTML = `<b>No: ${value}.</b> ${answer.because}`
    else said.innerHTML = `<b>Not ${escaped(chosen ?? "")}.</b> ${why} <b>It is ${value}.</b> ${answer.because}`
    said.focus({preventScroll: true}) // the button that had the focus is disabled; what was revealed is read out
    emit("answered", {root})
    if (!answer.step) return
    emit("step", answer.step)
    said.append(" ", h("button", {type: "button", class: "btn quiet", onclick: toFigure}, "See it in the figure"))
  }

  build()
  model.on("answer", () => queueMicrotask(build))
  return root
}

/** Scroll the page's figure into view. */
function toFigure() {
  within(document, ".stage")?.scrollIntoView({block: "center"})
}

const escaped = (/** @type {string} */ text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)
