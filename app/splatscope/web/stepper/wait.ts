// Why a stepper shows no recording, or not the latest: it waits for one, with the seconds counted, or none could be made.
import {h} from "#web/runtime/dom.ts"
import {emit} from "#web/runtime/events.ts"
import type {Stepper} from "./stepper.ts"

export class Wait {
  status = h("span") // what the stepper is waiting for, in words
  seconds = h("span", {"aria-hidden": "true"}) // for how long; visible, but not announced every second
  offers = h("span") // buttons for what can be done about it
  el = h("div", {class: "state", hidden: true}, this.status, this.seconds, this.offers)
  #clock: ReturnType<typeof setInterval> | undefined
  #since: number | null = null // when the wait began
  stepper: Stepper

  constructor(stepper: Stepper) {
    this.stepper = stepper
  }

  /** Whether the reader waits for a recording. */
  get awaited() {
    return this.#since !== null
  }

  /**
   * Show why there is no recording. While waiting, seconds are counted visibly, but only the words are announced. The end of the
   * wait is announced in the debugger; in a figure only for its first recording, because its sentence announces later ones.
   * @param words  "" if there is a recording
   */
  show(words: string, klass: "" | "busy" | "wrong" = "") {
    const {stepper} = this,
      {model, root} = stepper
    clearInterval(this.#clock)
    const {status, seconds} = this
    const room = model.layout === "bench" || !stepper.moment // in a figure, a sentence is beside it
    const shown = room || klass !== "busy" ? words : words.replace(/:.* …$/, " …")
    const before = this.#since
    const since = before ?? performance.now()
    let due = klass === "busy" // whether the words are to be announced, if the wait lasts
    this.#since = klass === "busy" ? since : null // the words may change during one wait
    if (klass === "busy")
      this.#clock = setInterval(() => {
        if (!root.isConnected) clearInterval(this.#clock)
        const s = Math.round((performance.now() - since) / 1000)
        if (due) stepper.announce(words)
        due = false
        if (words.startsWith("The server is busy")) return // they have a time of their own
        const reason = room && s > 2 && !/compil/i.test(words) ? ". A kernel is compiled when it first runs." : ""
        seconds.textContent = ` ${s} s${reason}`
      }, 1000)
    const entry = {type: "button", class: "btn", onclick: () => emit("debug-record", {entry: true})}
    if (status.textContent !== shown) {
      status.textContent = shown
      if (words && !due) stepper.announce(words)
    }
    seconds.textContent = ""
    this.offers.replaceChildren(...(klass === "wrong" && model.offers ? [h("button", entry, "Record only the entry point")] : []))
    this.el.hidden = !words
    if (before !== null && !words && model.layout === "bench") stepper.announce(`Recorded. ${stepper.findings.words}`)
    else if (before !== null && !words && !stepper.painted) stepper.sentence.tell("Recorded.", true)
    this.el.className = `state ${klass}`
    root.classList.toggle("away", Boolean(words) && klass !== "")
    root.classList.toggle("empty", !stepper.moment)
  }
}
