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

/** The id of what describes the drawing. */
export const DESCRIPTION = "drawing-description"

const REST = 300 // ms without a step, after which it is spoken

export class Sentence {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #rest
  #described = "" // what the drawing says of itself
  #painted = "" // the recording and the position last painted
  #news = "" // to be said first
  #due = false // the sentence is to be said
  /** @type {string[]} */
  #told = [] // the sentences of the drawing's description that were spoken last
  #again = false // the recording has taken another's place, and nothing was said of it yet

  /** @param {Stepper} stepper */
  constructor(stepper) {
    this.stepper = stepper
    this.el = h("p", {class: "sentence", id: SENTENCE, "data-testid": "step-sentence"})
    this.opened = h("p", {class: "opened", hidden: true}) // the figure stands in the middle of the run: gone with the first step, and never spoken
    this.description = h("p", {id: DESCRIPTION, hidden: true}) // of the drawing
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
    const {said} = stepper.transport
    if (stepper.model.layout === "bench") el.textContent = stepper.transport.words
    else if (said || !stepper.words) el.textContent = said || sentenceOf(moment)
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
    if (!moved && !said) return // painted again: what was to be said still is
    this.#due = true
    this.#soon()
  }

  /**
   * Say something once the reader rests: before the sentence, where that is to be said too.
   * @param {string} news
   * @param {boolean} sentence  whether the sentence is to be said in any case
   */
  tell(news, sentence = false) {
    this.#news = news
    this.#due ||= sentence
    this.#soon()
  }

  #soon() {
    clearTimeout(this.#rest)
    this.#rest = setTimeout(() => this.#speak(), REST)
  }

  #speak() {
    if (this.stepper.player.timer || this.stepper.root.classList.contains("still")) return
    const sentences = this.#described.split(/(?<=[.:]) /)
    const fresh = sentences.filter((one) => !this.#told.includes(one)) // what has not changed is not said again
    const parts = this.#due ? [this.#news, this.el.textContent, ...fresh] : [this.#news]
    if (this.#due) this.#told = sentences
    this.announcer.textContent = parts.filter(Boolean).join(" ")
    this.#news = ""
    this.#due = false
  }

  /** Describe the drawing by what it shows. */
  #name() {
    this.description.textContent = [this.el.textContent, this.#described].filter(Boolean).join(" ")
  }
}
