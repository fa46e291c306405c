// Which threads the table lists, and in which order: all by number, or those for which an expression is true, sorted by a column.
import {h, messageOf} from "#web/runtime/dom.js"
import {known, parse} from "#web/recording/expressions/expression.js"
import {threadAt, threadName} from "#web/recording/expressions/ids.js"
import {lookup} from "#web/recording/expressions/lookup.js"
import {onFieldKeys} from "#web/widgets/field_keys.js"

/**
 * @import {PaneOwner} from "#web/types.d.ts"
 * @import {Expression} from "#web/recording/expressions/expression.js"
 * @import {Moment} from "#web/recording/moment.js"
 * @import {Recording} from "#web/recording/recording.js"
 */

export class ThreadOrder {
  /** @type {Recording | undefined} */
  #recording
  /** @type {Expression | null} */
  #holds = null // true for the threads to list; null for all
  /** @type {{key: string, way: number, of: (moment: Moment, thread: number) => number | null} | null} */
  #sort = null
  /** @type {number[]} */
  list = [] // the listed threads, in order
  #asked = false // whether the reader has just asked for other threads, and has not been told how many there are

  /** @param {PaneOwner} owner */
  constructor(owner) {
    this.owner = owner
    this.input = h("input", {
      class: "filter-in",
      "aria-label": "List only threads for which this is true, or choose a thread by number or place",
      title: "i > 3 lists threads; 25 or 1,3 chooses one",
      placeholder: "i > 3, or 1,3",
      spellcheck: "false",
      autocomplete: "off",
    })
    this.wrong = h("p", {class: "none wrong", role: "alert", hidden: true})
    this.input.oninput = () => {
      if (!this.input.value.trim()) this.#ask("")
    }
    onFieldKeys(this.input, {enter: () => this.#ask(this.input.value), clear: () => this.#ask("")})
  }

  /** @param {Recording} recording */
  open(recording) {
    this.#recording = recording
    this.#sort = null
    this.list = Array.from({length: recording.threads}, (_, t) => t)
    this.#filter(this.input.value)
  }

  /** Whether all threads are listed, by number. */
  get isPlain() {
    return !this.#holds && !this.#sort
  }

  /**
   * @param {string} text  as the reader has entered it
   */
  #ask(text) {
    this.#filter(text)
    this.#asked = this.wrong.hidden && (this.#holds !== null || !text.trim())
  }

  /**
   * @param {string} text
   */
  #filter(text) {
    this.#say("")
    this.#holds = null
    const recording = this.#recording
    if (!recording) return
    try {
      const thread = threadAt(text, recording)
      if (thread !== null) this.#choose(thread)
      else if (text.trim()) this.#holds = known(parse(text), recording)
    } catch (reason) {
      this.#say(messageOf(reason))
    }
    this.owner.paint()
  }

  /** @param {number} thread */
  #choose(thread) {
    this.input.value = ""
    const {moment} = this.owner
    if (!moment) return
    if (moment.pinned !== thread) this.owner.choose(thread)
    this.owner.announce?.(`Thread ${threadName(thread, moment.recording.head.group_size)} is chosen.`)
  }

  /** @param {string} words */
  #say(words) {
    this.wrong.textContent = words
    this.wrong.hidden = !words
  }

  /**
   * Sort by a column. The same column again reverses the order, and a third time restores the order by number.
   * @param {string} key  of the column
   * @param {(moment: Moment, thread: number) => number | null} of  what it sorts by
   */
  sortBy(key, of) {
    const {way = 0} = this.#sort?.key === key ? this.#sort : {}
    this.#sort = way < 0 ? null : {key, way: way ? -1 : 1, of}
    this.owner.paint()
  }

  /**
   * How a column is sorted, for `aria-sort`.
   * @param {string} key
   */
  sorted(key) {
    if (this.#sort?.key !== key) return "none"
    return this.#sort.way > 0 ? "ascending" : "descending"
  }

  /**
   * Update the list of threads. Returns whether it has changed.
   * @param {Moment} moment
   */
  arrange(moment) {
    const {recording, state} = moment,
      before = this.list
    let list = Array.from({length: recording.threads}, (_, t) => t)
    const holds = this.#holds
    if (holds) list = list.filter((t) => holds.value(lookup(recording, state, t)))
    if (this.#sort) {
      const {way, of} = this.#sort
      const values = new Map(list.map((t) => [t, of(moment, t)]))
      const number = (/** @type {number} */ t) => values.get(t) ?? Infinity * way // threads without a value come last
      list.sort((a, b) => (number(a) - number(b)) * way || a - b)
    }
    this.list = list
    if (this.#asked) {
      this.#asked = false
      const [listed, all] = [list.length, recording.threads].map((n) => n.toLocaleString("en"))
      this.owner.announce?.(holds ? `${listed} of ${all} threads are listed.` : `All ${all} threads are listed.`)
    }
    return list.length !== before.length || list.some((t, i) => t !== before[i])
  }
}
