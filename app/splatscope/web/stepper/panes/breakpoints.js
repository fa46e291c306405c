// Breakpoints and questions: where to stop next, and what to say where there is no such place.
import {known, parse} from "#web/stepper/model/expression.js"
import {find, nextStop} from "#web/stepper/model/search.js"

export class Breakpoints {
  constructor(stepper) {
    this.stepper = stepper
    this.set = new Map() // "file:line" → condition, "" for none
  }

  toggle(file, line) {
    const key = `${file}:${line}`
    this.put(key, this.set.has(key) ? null : "")
  }

  put(key, condition) {
    if (condition === null) this.set.delete(key)
    else this.set.set(key, condition)
    this.stepper.source.marks()
    this.stepper.paint()
  }

  // Why a condition cannot be asked, "" where it can.
  wrong(condition) {
    try {
      if (condition.trim()) known(parse(condition), this.stepper.moment.recording)
      return ""
    } catch (reason) {
      return reason.message
    }
  }

  // On the line of the chosen thread, or there no longer.
  toggleHere() {
    const {here, recording} = this.stepper.source
    if (here) this.toggle(recording.files[here[0]], here[1])
  }

  // Asks for a condition on the line of the chosen thread.
  askHere() {
    const {here} = this.stepper.source
    if (here) this.stepper.source.ask(here[1])
  }

  // On or back to one.
  go(way) {
    const {stepper} = this
    this.#try(() => {
      const position = nextStop(stepper.moment, this.set, way)
      if (position !== null) return stepper.seek(position)
      return this.set.size
        ? `No breakpoint is met ${way > 0 ? "from here on" : "before this"}.`
        : "Set a breakpoint first: click beside a line number, or press B."
    })
  }

  // The first event that fits; asked again, the next; backwards, the last before the cursor.
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

  // Says what an act returns, or why it cannot be done.
  #try(act) {
    try {
      this.stepper.say(act() ?? "")
    } catch (reason) {
      this.stepper.say(reason.message)
    }
  }
}
