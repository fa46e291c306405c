// Predict, then reveal: a question, up to four options, and a button that steps to the answer. An answered question stays with the
// inputs it was answered for until the reader asks it for others. Answers are stored and shown again on the next visit.
import {h, style, within} from "#web/runtime/dom.ts"
import {answers, markOf, noteAnswer} from "#web/runtime/answers.ts"
import {emit} from "#web/runtime/events.ts"
import {UNNAMED} from "#web/runtime/address.ts"
import {current, followLink, isLed, stepLed} from "#web/runtime/router.ts"
import type {Model, Render} from "#web/types.ts"

export function render({model, el}: Render<"Quiz">) {
  style(el)
  const question = h("h3", {id: "question"})
  // whoever reads on has heard the question as the heading; whoever comes by Tab hears it as the description
  const options = h("div", {class: "opts", role: "group", "aria-label": "Answers", "aria-describedby": question.id})
  const button = (label: string, act: () => void, more = "") =>
    h("button", {type: "button", class: `btn ${more}`, onclick: act}, label)
  const revealButton = button("Reveal", () => show(), "pri")
  const see = button("See it in the figure", () => toFigure(asked.answer))
  const back = button("Back to the earlier inputs", () => {
    followLink(current().page, UNNAMED, "", asked.inputs)
    said.focus({preventScroll: true}) // the button is removed once the figure has them
  })
  const again = button("Ask for the new inputs", () => {
    ask()
    options.querySelector("button")?.focus({preventScroll: true}) // the clicked button is gone
  })
  // these two are not live, or each change of the inputs would announce them, once for every question of the page
  const hint = h("span")
  const from = h("span", {}, "The answer is read from the recording with these inputs.")
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
  let asked = {answer: model.answer, inputs: ""} // the question, and the inputs it is about, as in the address
  let chosen: string | null = null
  let shown = false
  const {page} = current()

  /** Ask the question that the current recording answers. */
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
      options.replaceChildren(h("p", {class: "none"}, model.error || "Waiting for the recording …"))
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

  /** Handle a new answer. If it belongs to another question, it waits until this one has been dealt with. */
  const update = () => {
    if (!stale())
      asked = {answer: model.answer, inputs: current().inputs} // perhaps from another device; the reader's choice stays
    else if (chosen === null) return ask()
    paint()
  }
  const stale = () => about(model.answer) !== about(asked.answer)

  const paint = () => {
    const other = stale()
    root.classList.toggle("open", !shown)
    revealButton.hidden = shown
    revealButton.disabled = chosen === null
    revealButton.textContent = asked.answer.step && !other && !isLed() ? "Reveal and step there" : "Reveal"
    see.hidden = !shown || other || !asked.answer.step
    back.hidden = again.hidden = !other
    from.hidden = other || shown
    const missed = shown && chosen !== asked.answer.value ? "With other inputs you can try again." : ""
    hint.textContent = other ? "This question is about the inputs before your change." : missed
    emit("asked", {root})
  }

  const choose = (option: string) => {
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
    for (const el of options.querySelectorAll("button")) {
      el.tabIndex = -1 // nothing can be chosen any more
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
    const {step = 0} = answer
    noteAnswer(mark(), chosen ?? "")
    reveal()
    said.focus({preventScroll: true}) // the focused button is gone; focusing the answer has it read out
    const steps = step > 0 && !stale() && !isLed() // the presenter moves the figure of a student who follows
    emit("answered", {root, right: chosen === answer.value, steps, option: chosen ?? "", offer: answer.offer ?? ""})
    if (!steps) return
    chooseThread(answer)
    emit("step", step)
  }

  ask()
  model.on("answer", () => queueMicrotask(update))
  return root
}

type Answer = Model<"Quiz">["answer"]

/** Identifies a question: answers with the same key belong to the same one, whichever device gave them. */
const about = ({value, options, question}: Answer) => JSON.stringify([value, options, question])

/** Choose the thread in the page's figure that an answer is about. */
function chooseThread({thread = -1}: Answer) {
  if (thread >= 0) emit("thread", thread)
}

/** Step the page's figure to what shows an answer, and scroll it into view. */
function toFigure(answer: Answer) {
  chooseThread(answer)
  stepLed(answer.step ?? 0)
  within(document, ".stage")?.scrollIntoView({block: "center"})
}

const escaped = (text: string) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)
