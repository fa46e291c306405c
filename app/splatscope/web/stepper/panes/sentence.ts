// What has happened at the current event, in a sentence: shown above a figure's transport, and announced once the reader pauses.
import {focused, h} from "#web/runtime/dom.ts"
import {on} from "#web/runtime/events.ts"
import {aloud} from "#web/recording/aloud.ts"
import {PALE, sentenceOf} from "#web/recording/describe.ts"
import {describeMoment, wordsOf} from "./transport.ts"
import type {Moment} from "#web/recording/moment.ts"
import type {Stepper} from "#web/stepper/stepper.ts"

/** The id of the element that describes the drawing. */
export const DESCRIPTION = "drawing-description"

const REST = 300 // ms without a step after which it is announced
const LASTS = 2000 // ms for which the announcer holds its text: whoever reads on with the arrow keys is not to meet it a second time
const GAP = 100 // ms for which the announcer is empty before it says the same again, which screen readers would not notice otherwise

export class Sentence {
  #rest: ReturnType<typeof setTimeout> | undefined
  #emptied: ReturnType<typeof setTimeout> | undefined // when the announcer is emptied
  #described = "" // the drawing's description of itself
  #drawingNews = "" // what of it is announced after a step
  ofChosen = "" // what the drawing says of the chosen thread
  #written = "" // what the sentence shows
  #painted = "" // the recording and the position last painted
  #news = "" // to be announced first
  #due = false // whether the sentence is to be announced
  #moved = false // whether the drawing's news are to be announced with it
  #instead = "" // the recording and the position whose sentence the news replace
  #told: string[] = [] // the drawing's sentences that were announced last
  #found = "" // the findings of the recording that is shown
  #inputs = "" // of the recording that is shown
  #line = 0 // of the event, where no sentence of the lesson's is shown; otherwise 0
  #spoken = "" // the sentence that was announced last
  #recorded = false // whether what is announced next is the sentence of another recording
  #again = false // whether the recording is one that the reader asked for, in place of another, and has not been announced yet
  stepper: Stepper
  el: HTMLParagraphElement
  opened: HTMLParagraphElement
  description: HTMLParagraphElement
  announcer: HTMLParagraphElement
  close: () => void

  constructor(stepper: Stepper) {
    this.stepper = stepper
    this.el = h("p", {class: "sentence", "data-testid": "step-sentence"})
    // says that the figure opened in the middle of the run; removed at the first step, and never announced
    this.opened = h("p", {class: "opened", hidden: true})
    this.description = h("p", {id: DESCRIPTION, hidden: true}) // the drawing's description
    this.announcer = h("p", {class: "sr", "data-testid": "announcer", "aria-live": "polite", "aria-atomic": "true"})
    const unsubscribe = on("described", ({stage, words, news, chosen}) => {
      if (stage !== stepper.root) return
      this.#described = words
      this.#drawingNews = news
      this.ofChosen = chosen
      this.#name()
    })
    this.close = () => {
      unsubscribe()
      clearTimeout(this.#rest)
      clearTimeout(this.#emptied)
    }
  }

  open() {
    this.opened.hidden = true // it names a stop of the previous recording
    const {awaited, findings, model} = this.stepper
    this.#again = this.#painted !== "" && (awaited || model.inputs !== this.#inputs)
    this.#recorded = this.#again
    this.#painted = ""
    this.#inputs = model.inputs
    const found = model.layout === "figure" ? findings.news : ""
    if (this.#news.endsWith(" …")) this.#news = "" // what it says is awaited is there
    if (this.#again && found !== this.#found) this.#news = found // a bench announces them with the end of the run
    this.#found = found
  }

  paint(moment: Moment) {
    const {stepper, el} = this
    const {said} = stepper.transport
    const isBench = stepper.model.layout === "bench"
    const ofLesson = isBench || said ? "" : stepper.words // as HTML
    const text = ofLesson ? "" : isBench ? stepper.transport.words : said || sentenceOf(moment)
    if (this.#written !== ofLesson + text) {
      if (ofLesson) el.innerHTML = ofLesson
      else el.replaceChildren(...hiding(PALE, text))
    }
    this.#written = ofLesson + text
    const plain = !isBench && !said && !ofLesson && moment.event >= 0
    this.#line = plain ? moment.recording.about(moment.event).line : 0
    const inside = stepper.openedInside
    if (inside && this.opened.hidden)
      this.opened.replaceChildren(
        h("button", {type: "button", onclick: () => stepper.seek(0)}, "From the start"),
        h("span", {}, `Opened at ${stepper.numbering}.`),
      )
    this.opened.hidden = !inside
    const here = `${stepper.shown} ${moment.position}`
    const moved = this.#again || (this.#painted !== "" && here !== this.#painted && !stepper.untouched)
    this.#again = false
    this.#painted = here
    this.#name()
    if (moved) this.rest() // else only repainted: pending announcements stay pending
  }

  /** Announce something about the moment to which the reader has moved, in place of its sentence. */
  tellInstead(news: string) {
    this.#instead = `${this.stepper.shown} ${this.stepper.moment?.position}`
    this.tell(news)
  }

  /**
   * Announce something once the reader pauses, before the sentence if that is to be announced too.
   * @param sentence  whether to announce the sentence in any case
   */
  tell(news: string, sentence = false) {
    this.#news = news
    if (sentence) this.rest()
    else this.#soon()
  }

  /** Announce the sentence of where the run has come to rest, and what is new in the drawing. */
  rest() {
    this.#moved = true
    this.answer()
  }

  /** Announce the sentence. */
  answer() {
    this.#due = true
    this.#soon()
  }

  #soon() {
    clearTimeout(this.#rest)
    this.#rest = setTimeout(() => this.#speak(), REST)
  }

  #speak() {
    if (this.stepper.player.timer) this.#due = this.#moved = false // only where it comes to rest
    if (this.stepper.player.timer || this.stepper.root.classList.contains("still")) return
    const sentences = this.#drawingNews.split(/(?<=\.) /)
    const fresh = this.#moved ? sentences.filter((one) => !this.#told.includes(one)) : [] // unchanged sentences are not repeated
    const words = this.#words
    const sentence = this.#recorded && words === this.#spoken ? "Recorded." : words // of other inputs, but the same
    const replaced = this.#instead === this.#painted && !this.stepper.transport.said
    const parts = this.#due
      ? [this.#news, replaced || this.#saidBySlider(sentence) ? "" : sentence, this.#event, ...fresh]
      : [this.#news]
    if (this.#due) {
      if (this.#moved) this.#told = sentences
      this.#spoken = words
      this.#recorded = false
    }
    const said = aloud(parts.filter(Boolean).join(" "))
    this.#instead = ""
    this.#due = this.#moved = false
    clearTimeout(this.#emptied)
    if (said && this.announcer.textContent === said) {
      this.announcer.textContent = ""
      this.#news = said // what is announced meanwhile follows it
      this.#rest = setTimeout(() => this.#speak(), GAP)
      return
    }
    this.#news = ""
    this.announcer.textContent = said
    this.#emptied = setTimeout(() => this.announcer.replaceChildren(), LASTS)
  }

  /** The current event where a figure shows it beside a sentence of its lesson; otherwise "". */
  get #event() {
    const {model, moment, root, transport, words} = this.stepper
    const shown = model.layout === "figure" && root.classList.contains("detailed") && words && !transport.said
    if (!shown || !moment?.step) return ""
    return `${wordsOf(describeMoment(moment))}.`
  }

  /** The sentence as it is spoken: with the line of a single event, which may sound like the one before. */
  get #words() {
    const words = (this.el.textContent ?? "").replace(PALE, "")
    return this.#line && !/\bline \d/.test(words) ? `${words.trimEnd().replace(/\.$/, "")}, on line ${this.#line}.` : words
  }

  /** Whether the slider has the focus and has said a sentence as its value. */
  #saidBySlider(sentence: string) {
    const {slider} = this.stepper.when
    return focused() === slider && Boolean(slider.getAttribute("aria-valuetext")?.endsWith(aloud(sentence)))
  }

  /** Update the drawing's description, and the slider's value: where it stands and what happened. A run that plays is only counted. */
  #name() {
    const {model, moment, numbering, player, when} = this.stepper
    const words = aloud(this.#words)
    const counted = model.layout === "figure" && moment?.position // what a bench says begins with the number
    when.slider.setAttribute("aria-valuetext", player.timer ? numbering : counted ? `${numbering}. ${words}` : words)
    this.description.textContent = aloud([this.#words, this.#described].filter(Boolean).join(" "))
  }
}

/** A text in which a part is hidden from screen readers. */
function hiding(part: string, text: string) {
  const [before, ...after] = text.split(part)
  return after.length ? [before, h("span", {"aria-hidden": "true"}, part), ...after] : [text]
}
