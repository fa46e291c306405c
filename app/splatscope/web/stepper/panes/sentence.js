// What has happened at the cursor, in a sentence: over a figure's transport, and spoken once the reader rests.
import {h} from "#web/shell/dom.js"
import {on} from "#web/shell/events.js"
import {sentenceOf} from "#web/stepper/model/describe.js"

/**
 * @import {Moment} from "#web/stepper/model/moment.js"
 * @import {Stepper} from "#web/stepper/stepper.js"
 */

/** The sentence's id, by which the slider of the run is described. */
export const SENTENCE = "step-sentence"

const REST = 300 // ms without a step, after which it is spoken

export class Sentence {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #rest
  #described = "" // what the drawing says of itself
  #painted = "" // the recording and the position last painted
  #news = "" // to be said before it
  #again = false // the recording has taken another's place, and nothing was said of it yet

  /** @param {Stepper} stepper */
  constructor(stepper) {
    this.stepper = stepper
    this.el = h("p", {class: "sentence", id: SENTENCE, "data-testid": "step-sentence"})
    this.opened = h("p", {class: "opened", hidden: true}) // the figure stands in the middle of the run: gone with the first step, and never spoken
    this.announcer = h("p", {class: "sr", "data-testid": "announcer", "aria-live": "polite", "aria-atomic": "true"})
    this.close = on("described", ({stage, words}) => {
      if (stage !== stepper.root) return
      this.#described = words
      this.#name()
    })
  }

  open() {
    this.opened.hidden = true // it names a stop of the recording before
    this.#again = this.#painted !== ""
    this.#painted = ""
  }

  /** @param {Moment} moment */
  paint(moment) {
    const {stepper, el} = this
    if (stepper.transport.said || !stepper.words) el.textContent = stepper.transport.said || sentenceOf(moment)
    else el.innerHTML = stepper.words
    const inside = stepper.openedInside
    if (inside && this.opened.hidden)
      this.opened.replaceChildren(
        h(
          "button",
          {type: "button", title: `The figure opened at ${stepper.numbering}`, onclick: () => stepper.seek(0)},
          "From the start",
        ),
      )
    this.opened.hidden = !inside
    const here = `${stepper.shown} ${moment.position}`
    const moved = this.#again || (this.#painted !== "" && here !== this.#painted)
    this.#again = false
    this.#painted = here
    this.#name()
    if (!moved && !stepper.transport.said) return // painted again: what was to be said still is
    clearTimeout(this.#rest)
    this.#rest = setTimeout(() => this.#speak(), REST)
  }

  /**
   * Say something with the sentence, once the reader rests.
   * @param {string} news
   */
  tell(news) {
    this.#news = news
    clearTimeout(this.#rest)
    this.#rest = setTimeout(() => this.#speak(), REST)
  }

  #speak() {
    if (this.stepper.player.timer || this.stepper.root.classList.contains("still")) return
    this.announcer.textContent = [this.#news, this.#words].filter(Boolean).join(" ")
    this.#news = ""
  }

  /** The sentence, and what the drawing says of itself. */
  get #words() {
    return [this.el.textContent, this.#described].filter(Boolean).join(" ")
  }

  /** Name the drawing by what it shows. */
  #name() {
    this.stepper.drawn.setAttribute("aria-label", `The drawing. ${this.#words}`)
  }
}
