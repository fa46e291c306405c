// The line that the chosen thread is on, above a figure's sentence: for phones, where the source itself is below the screen.
import {h, isStill} from "#web/runtime/dom.ts"
import {tokens} from "#web/widgets/slang.ts"
import type {Moment} from "#web/recording/moment.ts"
import type {Stepper} from "#web/stepper/stepper.ts"

export class LineAtHand {
  #shown = "" // file and line
  stepper: Stepper
  el: HTMLButtonElement

  constructor(stepper: Stepper) {
    this.stepper = stepper
    // What it says, screen readers hear of the source; they and the keyboard have their own way there.
    this.el = h("button", {
      type: "button",
      class: "line-at-hand src narrow",
      title: "To the source",
      tabindex: "-1",
      "aria-hidden": "true",
      onclick: () => stepper.source.el.scrollIntoView({block: "start", behavior: isStill() ? "auto" : "smooth"}),
    })
  }

  open() {}

  paint({recording}: Moment) {
    const [file, line] = this.stepper.source.here ?? [0, 0]
    const text = line ? statement(recording.head.sources[recording.files[file]].split("\n").slice(line - 1)) : ""
    const key = `${line} ${text}`
    if (key === this.#shown) return
    this.#shown = key
    const words = tokens(text, {inside: false}).map(([kind, word]) => (kind ? h("i", {class: kind}, word) : word))
    this.el.replaceChildren(h("span", {class: "no"}, line ? String(line) : ""), h("span", {class: "code"}, ...words))
    this.el.classList.toggle("mine", line > 0)
  }
}

/**
 * The first line, with those that it goes on in: while a bracket is open, an operator ends it, or one begins the next line.
 * Comments after the code are left out, as the space is for one line.
 */
function statement([first, ...others]: string[]) {
  const code = (line: string) => line.replace(/(?<=\S.*)\/\/.*/, "").trim()
  let text = code(first)
  for (const line of others) {
    const isOpen = text.split(/[([]/).length > text.split(/[)\]]/).length
    if (!isOpen && !/[=?&|+*-]$/.test(text) && !/^\s*[.?:&|+*-]/.test(line)) break
    text += ` ${code(line)}`
  }
  return text
}
