// Predict, then reveal: a question, up to four answers, one button that steps there.
import {h, style} from "#web/shell/dom.js"
import {emit} from "#web/shell/events.js"

export function render({model, el}) {
  style(el)
  const question = h("h3")
  question.innerHTML = model.question
  const options = h("div", {class: "opts", role: "group", "aria-label": "Answers"})
  const reveal = h("button", {type: "button", class: "btn pri", onclick: () => show()})
  const hint = h("span", {}, "The answer is read from the recording of these inputs.")
  const said = h("p", {class: "said", role: "status"})
  const root = h(
    "section",
    {class: "card quiz", "data-testid": "quiz"},
    h("span", {class: "tag"}, "Predict, then reveal"),
    question,
    options,
    h("div", {class: "row"}, reveal, hint),
    said,
  )
  let chosen = null

  const build = () => {
    const {answer} = model
    chosen = null
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
        h("button", {type: "button", "aria-pressed": "false", onclick: (event) => choose(option, event.target)}, option),
      ),
    )
  }

  const choose = (option, button) => {
    if (options.classList.contains("shown")) return
    chosen = option
    for (const el of options.children) el.setAttribute("aria-pressed", String(el === button))
    reveal.disabled = false
  }

  const show = () => {
    const {answer} = model,
      right = chosen === answer.value
    options.classList.add("shown")
    for (const el of options.children) {
      el.classList.toggle("right", el.textContent === answer.value)
      el.classList.toggle("wrong", el.textContent === chosen && !right)
    }
    reveal.disabled = true
    said.innerHTML = `<b>${right ? "Yes" : "No"}: ${escape(answer.value)}.</b> ${answer.because}`
    emit("answered", {root})
    if (!answer.step) return
    emit("step", answer.step)
    said.append(" ", h("button", {type: "button", class: "btn quiet", onclick: toFigure}, "See it in the figure"))
  }

  build()
  model.on("answer", () => queueMicrotask(build))
  return root
}

// The page's figure into view.
function toFigure() {
  const find = (root) => {
    for (const el of root.querySelectorAll("*")) {
      const found = el.classList.contains("stage") ? el : el.shadowRoot && find(el.shadowRoot)
      if (found) return found
    }
    return null
  }
  find(document)?.scrollIntoView({block: "center"})
}

const escape = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)
