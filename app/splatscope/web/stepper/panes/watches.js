// Watched expressions: their value for the chosen thread here, for all threads a column each of the table.
import {h} from "#web/shell/dom.js"
import {known, parse} from "#web/stepper/model/expression.js"
import {lookup} from "#web/stepper/model/lookup.js"
import {text} from "#web/stepper/model/values.js"

export class Watches {
  constructor(stepper) {
    this.stepper = stepper
    this.list = [] // {text, question or null, wrong}
    this.rows = h("div", {class: "watched", role: "list"})
    this.input = h("input", {
      class: "watch-in",
      "aria-label": "Watch an expression, for this thread and for all",
      title: "Watch an expression (A)",
      spellcheck: "false",
      autocomplete: "off",
    })
    this.wrong = h("p", {class: "none wrong", role: "alert", hidden: true})
    this.el = h("div", {class: "watch", "data-testid": "watches"}, this.rows, this.input, this.wrong)
    this.input.onkeydown = (event) => {
      if (event.key === "Enter") {
        event.preventDefault()
        this.add(this.input.value)
      }
      if (event.key === "Escape") {
        this.input.value = ""
        this.#say("")
        this.input.blur()
      }
    }
  }

  open(recording) {
    this.recording = recording
    for (const watch of this.list) this.#read(watch)
    const memory = recording.memories.find((one) => one.count > 1),
      variable = recording.variables.find((one) => /^u?int$/.test(one.type))
    this.input.placeholder = `Watch: ${memory && variable ? `${memory.name}[${variable.name}]` : (recording.variables[0]?.name ?? "1 + 1")}`
    this.#rows()
  }

  #read(watch) {
    watch.question = null
    watch.wrong = ""
    try {
      watch.question = known(parse(watch.text), this.recording)
    } catch (reason) {
      watch.wrong = reason.message
    }
  }

  add(text) {
    const watch = {text: text.trim()}
    if (!watch.text || !this.recording) return
    this.#read(watch)
    this.#say(watch.wrong)
    if (watch.wrong) return
    if (!this.list.some((one) => one.text === watch.text)) this.list.push(watch)
    this.input.value = ""
    this.#rows()
    this.stepper.paint()
  }

  #say(words) {
    this.wrong.textContent = words
    this.wrong.hidden = !words
  }

  remove(watch) {
    this.list.splice(this.list.indexOf(watch), 1)
    this.#rows()
    this.stepper.paint()
    this.input.focus()
  }

  #rows() {
    for (const watch of this.list) {
      watch.value = h("b", {title: watch.wrong})
      watch.row = h(
        "div",
        {class: "var", role: "listitem", "data-watch": watch.text},
        h("span", {}, watch.text),
        watch.value,
        h(
          "button",
          {type: "button", class: "un", "aria-label": `Watch ${watch.text} no longer`, onclick: () => this.remove(watch)},
          "×",
        ),
      )
    }
    this.rows.replaceChildren(...this.list.map((watch) => watch.row))
    this.rows.hidden = !this.list.length
  }

  look(moment, thread) {
    return lookup(this.recording, moment.state, thread)
  }

  // What a thread makes of it, "" where something it names has no value yet.
  value(watch, moment, thread) {
    const value = watch.question?.value(this.look(moment, thread)) ?? null
    return value === null ? "" : Number.isInteger(value) ? String(value).replace("-", "−") : text(value, "float")
  }

  paint(moment) {
    for (const watch of this.list) {
      const value = watch.wrong ? "?" : this.value(watch, moment, moment.thread) || "·"
      if (watch.value.textContent !== value) watch.value.textContent = value
    }
  }
}
