// Breakpoints and questions: where to stop next, and what to say where there is no such place.
import {messageOf} from "#web/shell/dom.js"
import {known, parse} from "#web/stepper/expressions/expression.js"
import {find, nextStop} from "#web/stepper/model/search.js"

/** @import {Stepper} from "#web/stepper/stepper.js" */

export class Breakpoints {
  /** @param {Stepper} stepper */
  constructor(stepper) {
    this.stepper = stepper
    /** @type {Map<string, string>} */
    this.set = new Map() // "file:line" → condition, "" for none
    this.asked = "" // the last question
  }

  /**
   * Set a breakpoint, or remove it.
   * @param {string} file
   * @param {number} line
   */
  toggle(file, line) {
    const key = `${file}:${line}`
    this.put(key, this.set.has(key) ? null : "")
  }

  /**
   * @param {string} key  "file:line"
   * @param {string | null} condition  "" for none; null removes the breakpoint
   */
  put(key, condition) {
    if (condition === null) this.set.delete(key)
    else this.set.set(key, condition)
    this.stepper.source.marks()
    this.stepper.paint()
    const line = key.slice(key.lastIndexOf(":") + 1)
    const what = condition === null ? "No breakpoint" : "Breakpoint"
    this.stepper.announce(`${what} on line ${line}${condition ? `, if ${condition}` : ""}.`)
  }

  /**
   * Why a condition cannot be asked, "" where it can.
   * @param {string} condition
   */
  wrong(condition) {
    try {
      const {moment} = this.stepper
      if (moment && condition.trim()) known(parse(condition), moment.recording)
      return ""
    } catch (reason) {
      return messageOf(reason)
    }
  }

  /** Set a breakpoint on the line that is meant, or remove it. */
  toggleHere() {
    const {meant, recording} = this.stepper.source
    if (meant) this.toggle(recording.files[meant[0]], meant[1])
  }

  /** Ask for a condition on the line that is meant. */
  askHere() {
    const {meant} = this.stepper.source
    if (meant) this.stepper.source.ask(meant[1])
  }

  /**
   * Move on or back to a breakpoint.
   * @param {number} way  1 or -1
   */
  go(way) {
    const {stepper} = this,
      {moment} = stepper
    if (!moment) return
    this.#try(() => {
      const position = nextStop(moment, this.set, way)
      if (position !== null) return stepper.seek(position)
      return this.set.size
        ? `No breakpoint is met ${way > 0 ? "from here on" : "before this"}.`
        : "Set a breakpoint first: click beside a line number, or press B."
    })
  }

  /** Run on to the next breakpoint, and to the end where there is none. */
  run() {
    const {stepper} = this,
      {moment} = stepper
    if (!moment) return
    this.#try(() => {
      const position = nextStop(moment, this.set, 1)
      stepper.seek(position ?? Infinity)
      if (position === null) return this.set.size ? "No breakpoint is met from here on: this is the end." : "This is the end."
    })
  }

  /**
   * Run on to a line: to where the chosen thread, or any if none is chosen, comes to it next.
   * @param {string} file
   * @param {number} line
   */
  runTo(file, line) {
    const {stepper} = this,
      {moment} = stepper
    if (!moment) return
    const position = nextStop(moment, new Map([[`${file}:${line}`, ""]]), 1)
    if (position !== null) return stepper.seek(position)
    const who = moment.pinned >= 0 ? `Thread ${moment.pinned} does not come` : "No thread comes"
    stepper.say(`${who} to line ${line} from here on.`)
  }

  /**
   * Move to the first event that fits; asked again, to the next; backwards, to the last before the cursor.
   * @param {string} text
   * @param {number} way  1 or -1
   */
  search(text, way) {
    const {stepper} = this,
      {moment} = stepper
    if (!text.trim() || !moment) return
    if (/^where\b/i.test(text)) return stepper.origin.explain()
    this.#try(() => {
      const again = this.asked === text
      this.asked = text
      const position = find(moment, text, again || way < 0 ? moment.position : 0, way)
      if (position === null)
        return way < 0
          ? `${text}: no earlier event fits.`
          : again
            ? `${text}: no further event fits.`
            : `${text}: no event of this run fits.`
      moment.pinned = -1
      stepper.seek(position)
    })
  }

  /**
   * Say what an act returns, or why it cannot be done.
   * @param {() => string | void} act
   */
  #try(act) {
    try {
      this.stepper.say(act() ?? "")
    } catch (reason) {
      this.stepper.say(messageOf(reason))
    }
  }
}
