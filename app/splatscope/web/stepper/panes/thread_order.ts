// Which threads the table lists, and in which order: all by number, or those for which an expression is true, sorted by a column.
import {h, messageOf} from "#web/runtime/dom.ts"
import {type Expression, known, parse} from "#web/recording/expressions/expression.ts"
import {threadAt, threadName} from "#web/recording/expressions/ids.ts"
import {lookup} from "#web/recording/expressions/lookup.ts"
import {onFieldKeys} from "#web/widgets/field_keys.ts"
import type {Moment} from "#web/recording/moment.ts"
import type {Recording} from "#web/recording/recording.ts"
import type {PaneOwner} from "#web/types.ts"

export class ThreadOrder {
  #recording: Recording | undefined
  #holds: Expression | null = null // true for the threads to list; null for all
  #sort: {key: string; way: number; of: (moment: Moment, thread: number) => number | null} | null = null
  list: number[] = [] // the listed threads, in order
  #asked = false // whether the reader has just asked for other threads, and has not been told how many there are
  owner: PaneOwner
  input: HTMLInputElement
  wrong: HTMLParagraphElement

  constructor(owner: PaneOwner) {
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

  open(recording: Recording) {
    this.#recording = recording
    this.#sort = null
    this.list = Array.from({length: recording.threads}, (_, t) => t)
    this.#filter(this.input.value)
  }

  /** Whether all threads are listed, by number. */
  get isPlain() {
    return !this.#holds && !this.#sort
  }

  /** @param text  as the reader has entered it */
  #ask(text: string) {
    this.#filter(text)
    this.#asked = this.wrong.hidden && (this.#holds !== null || !text.trim())
  }

  #filter(text: string) {
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

  #choose(thread: number) {
    this.input.value = ""
    const {moment} = this.owner
    if (!moment) return
    if (moment.pinned !== thread) this.owner.choose(thread)
    this.owner.announce?.(`Thread ${threadName(thread, moment.recording.head.group_size)} is chosen.`)
  }

  #say(words: string) {
    this.wrong.textContent = words
    this.wrong.hidden = !words
  }

  /**
   * Sort by a column. The same column again reverses the order, and a third time restores the order by number.
   * @param key  of the column
   * @param of  what it sorts by
   */
  sortBy(key: string, of: (moment: Moment, thread: number) => number | null) {
    const {way = 0} = this.#sort?.key === key ? this.#sort : {}
    this.#sort = way < 0 ? null : {key, way: way ? -1 : 1, of}
    this.owner.paint()
  }

  /** How a column is sorted, for `aria-sort`. */
  sorted(key: string) {
    if (this.#sort?.key !== key) return "none"
    return this.#sort.way > 0 ? "ascending" : "descending"
  }

  /** Update the list of threads. Returns whether it has changed. */
  arrange(moment: Moment) {
    const {recording, state} = moment,
      before = this.list
    let list = Array.from({length: recording.threads}, (_, t) => t)
    const holds = this.#holds
    if (holds) list = list.filter((t) => holds.value(lookup(recording, state, t)))
    if (this.#sort) {
      const {way, of} = this.#sort
      const values = new Map(list.map((t) => [t, of(moment, t)]))
      const number = (t: number) => values.get(t) ?? Infinity * way // threads without a value come last
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
