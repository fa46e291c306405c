// Watched expressions: their values for the chosen thread. For all threads, each has a column in the table.
import {h, messageOf} from "#web/runtime/dom.ts"
import {type Expression, known, parse} from "#web/recording/expressions/expression.ts"
import {lookup} from "#web/recording/expressions/lookup.ts"
import {showQuantity} from "#web/recording/expressions/quantities.ts"
import {onFieldKeys} from "#web/widgets/field_keys.ts"
import type {Moment} from "#web/recording/moment.ts"
import type {Recording} from "#web/recording/recording.ts"
import type {PaneOwner} from "#web/types.ts"

const MOST_FIELDS = 32 // of a struct or array that is shown as a whole

export interface Watch {
  text: string
  /** Null if the recording does not have its names. */
  question: Expression | null
  /** Why it has no value. */
  wrong: string
  value?: HTMLElement
  row?: HTMLElement
}

export class Watches {
  recording: Recording | undefined
  owner: PaneOwner
  list: Watch[]
  rows: HTMLDivElement
  input: HTMLInputElement
  wrong: HTMLParagraphElement
  el: HTMLDivElement

  constructor(owner: PaneOwner) {
    this.owner = owner
    this.list = []
    this.rows = h("div", {class: "watched", role: "list"})
    this.input = h("input", {
      class: "watch-in",
      "aria-label": "Watch an expression, for this thread and for all threads",
      title:
        "Watch an expression (A): v.xy, tile[y][x], (uint) n, a ? b : c, thread, WaveGetLaneIndex(); bits, x in hex, bits, b in binary",
      spellcheck: "false",
      autocomplete: "off",
    })
    this.wrong = h("p", {class: "none wrong", role: "alert", hidden: true})
    this.el = h("div", {class: "watch", "data-testid": "watches"}, this.rows, this.input, this.wrong)
    onFieldKeys(this.input, {enter: () => this.add(this.input.value), clear: () => this.#say("")})
  }

  open(recording: Recording) {
    this.recording = recording
    for (const watch of this.list) Object.assign(watch, this.#parse(watch.text))
    const memory = recording.memories.find((one) => one.count > 1),
      variable = recording.variables.find((one) => /^u?int$/.test(one.type))
    this.input.placeholder = `Watch: ${memory && variable ? `${memory.name}[${variable.name}]` : (recording.variables[0]?.name ?? "1 + 1")}`
    this.#rows()
  }

  #parse(text: string): Watch {
    try {
      const question = parse(text)
      return {text, question: this.recording ? known(question, this.recording) : question, wrong: ""}
    } catch (reason) {
      return {text, question: null, wrong: messageOf(reason)}
    }
  }

  /** Watch an expression, or show why it cannot be watched. */
  add(text: string) {
    if (!text.trim() || !this.recording) return
    const watch = this.#parse(text.trim())
    this.#say(watch.wrong)
    if (watch.wrong) return
    if (!this.list.some((one) => one.text === watch.text)) this.list.push(watch)
    this.input.value = ""
    this.#rows()
    this.owner.paint()
    const {moment} = this.owner
    this.owner.announce?.(`Watching ${watch.text}: ${(moment && this.value(watch, moment, moment.thread)) || "no value yet"}.`)
  }

  #say(words: string) {
    this.wrong.textContent = words
    this.wrong.hidden = !words
  }

  remove(watch: Watch) {
    this.list.splice(this.list.indexOf(watch), 1)
    this.#rows()
    this.owner.paint()
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
          {type: "button", class: "un", "aria-label": `Stop watching ${watch.text}`, onclick: () => this.remove(watch)},
          "×",
        ),
      )
    }
    this.rows.replaceChildren(...this.list.flatMap(({row}) => row ?? []))
    this.rows.hidden = !this.list.length
  }

  /** The lookup of names for a thread. */
  look(moment: Moment, thread: number) {
    return lookup(moment.recording, moment.state, thread)
  }

  /** An expression's value for a thread, "" if something in it has no value yet. */
  value(watch: Watch, moment: Moment, thread: number) {
    const value = watch.question?.quantity(this.look(moment, thread))
    return value ? showQuantity(value, watch.question?.format) : this.#fields(watch.text, moment, thread)
  }

  /** The members of a struct or the elements of a local array, `{x = 1, colour = (1, 0, 0)}`; "" if the name is neither. */
  #fields(name: string, {recording, state}: Moment, thread: number) {
    const last = state.last(thread),
      scope = last ? recording.about(last - 1).function : recording.head.entry
    const found = recording.variables.flatMap((variable, v) => {
      const rest = variable.name.slice(name.length)
      const isPart = variable.function === scope && variable.name.startsWith(name) && /^[.[]/.test(rest) && state.set(thread, v)
      return isPart ? [`${rest.replace(/^\./, "")} = ${state.value(thread, v)}`] : []
    })
    return found.length ? `{${found.slice(0, MOST_FIELDS).join(", ")}${found.length > MOST_FIELDS ? ", …" : ""}}` : ""
  }

  /** The same as a number to sort by. */
  number(watch: Watch, moment: Moment, thread: number) {
    return watch.question?.value(this.look(moment, thread)) ?? null
  }

  paint(moment: Moment) {
    for (const watch of this.list) {
      const value = watch.wrong ? "?" : this.value(watch, moment, moment.thread) || "·"
      if (!watch.value || watch.value.textContent === value) continue
      watch.value.textContent = value
      watch.value.title = watch.wrong || value
    }
  }
}
