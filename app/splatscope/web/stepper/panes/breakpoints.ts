// Breakpoints and searches: where to stop next, and what to say if there is no such place.
import {messageOf} from "#web/runtime/dom.ts"
import {known, parse} from "#web/recording/expressions/expression.ts"
import {find, nextStop} from "#web/recording/search.ts"
import type {Stepper} from "#web/stepper/stepper.ts"

export class Breakpoints {
  stepper: Stepper
  set: Map<string, string>
  asked: string

  constructor(stepper: Stepper) {
    this.stepper = stepper
    this.set = new Map() // "file:line" → condition, "" for none
    this.asked = "" // the last search
  }

  /** Set or remove a breakpoint. */
  toggle(file: string, line: number) {
    const key = `${file}:${line}`
    this.put(key, this.set.has(key) ? null : "")
  }

  /**
   * @param key  "file:line"
   * @param condition  "" for none; null removes the breakpoint
   */
  put(key: string, condition: string | null) {
    if (condition === null) this.set.delete(key)
    else this.set.set(key, condition)
    this.stepper.source.marks()
    this.stepper.paint()
    const line = key.slice(key.lastIndexOf(":") + 1)
    const what = condition === null ? "No breakpoint" : "Breakpoint"
    const words = `${what} on line ${line}${condition ? `, if ${condition}` : ""}.`
    if (condition === null || this.#stops(key)) this.stepper.announce(words)
    else this.stepper.say(`${words} Nothing is recorded on that line, so nothing stops there.`)
  }

  /**
   * Whether anything is recorded on a line.
   * @param key  "file:line"
   */
  #stops(key: string) {
    const {moment} = this.stepper
    return !moment || moment.recording.sites.some(({file, line}) => `${file}:${line}` === key)
  }

  /** Why a condition is not valid, "" if it is. */
  wrong(condition: string) {
    try {
      const {moment} = this.stepper
      if (moment && condition.trim()) known(parse(condition), moment.recording)
      return ""
    } catch (reason) {
      return messageOf(reason)
    }
  }

  /** Set or remove a breakpoint on the current line. */
  toggleHere() {
    const {meant, recording} = this.stepper.source
    if (meant) this.toggle(recording.files[meant[0]], meant[1])
  }

  /** Ask for the condition of a breakpoint on the current line. */
  askHere() {
    const {meant} = this.stepper.source
    if (meant) this.stepper.source.ask(meant[1])
  }

  /**
   * Move forward or back to a breakpoint.
   * @param way  1 or -1
   */
  go(way: number) {
    const {stepper} = this,
      {moment} = stepper
    if (!moment) return
    this.#try(() => {
      const position = nextStop(moment, this.set, way)
      if (position !== null) return stepper.seek(position)
      return this.set.size
        ? `No breakpoint is reached ${way > 0 ? "from here on" : "before this"}.`
        : "Set a breakpoint first: click beside a line number, or press B."
    })
  }

  /** Run to the next breakpoint, or to the end if there is none. */
  run() {
    const {stepper} = this,
      {moment} = stepper
    if (!moment) return
    this.#try(() => {
      const position = nextStop(moment, this.set, 1)
      stepper.seek(position ?? Infinity)
      if (position === null) return this.set.size ? "No further breakpoint is reached. This is the end." : "This is the end."
    })
  }

  /** Run to a line: to where the chosen thread, or if none is chosen any thread, reaches it next. */
  runTo(file: string, line: number) {
    const {stepper} = this,
      {moment} = stepper
    if (!moment) return
    const position = nextStop(moment, new Map([[`${file}:${line}`, ""]]), 1)
    if (position !== null) return stepper.seek(position)
    const who = moment.pinned >= 0 ? `Thread ${moment.pinned} does not reach` : "No thread reaches"
    stepper.say(`${who} line ${line} from here on.`)
  }

  /**
   * Move to the first matching event; if the same is searched again, to the next one; backwards, to the last one before the cursor.
   * @param way  1 or -1
   */
  search(text: string, way: number) {
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
          ? `${text}: no earlier event matches.`
          : again
            ? `${text}: no further event matches.`
            : `${text}: no event of this run matches.`
      moment.pinned = -1
      stepper.seek(position)
    })
  }

  /** Show what an action returns, or why it failed. */
  // biome-ignore lint/suspicious/noConfusingVoidType: an action may return what it calls, which returns nothing
  #try(act: () => string | void) {
    try {
      this.stepper.say(act() ?? "")
    } catch (reason) {
      this.stepper.say(messageOf(reason))
    }
  }
}
