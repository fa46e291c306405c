// Chooses the functions to record, and shows what that costs before anything runs.
import {h} from "#web/runtime/dom.ts"
import type {PublicFunction, PublicInterface} from "#components"

export class Functions {
  found: PublicFunction[] = []
  wanted: Set<string> | null | undefined // functions of a draft that was opened, null for all; undefined once they are shown
  seconds = 0
  entry = ""
  left = new Set<string>() // names of functions not to record
  changed: () => void
  words: HTMLSpanElement
  list: HTMLDivElement
  el: HTMLDetailsElement

  constructor(changed: () => void) {
    this.changed = changed
    this.words = h("span", {class: "sp"})
    this.list = h("div", {class: "fns"})
    const all = (on: boolean) =>
      h("button", {type: "button", class: "btn quiet", onclick: () => this.#all(on)}, on ? "All" : "Only the entry point")
    this.el = h(
      "details",
      {class: "panel recorded", "data-testid": "functions"},
      h("summary", {}, h("h2", {}, "Records"), this.words),
      h("p", {class: "fn-acts"}, all(true), all(false)),
      this.list,
    )
  }

  /** Names of the chosen functions, null for all. */
  get draft() {
    if (this.wanted !== undefined) return this.wanted && [...this.wanted]
    return this.left.size ? this.found.filter(({name}) => !this.left.has(name)).map(({name}) => name) : null
  }

  /**
   * Load a draft's choice.
   * @param names  null for all
   */
  open(names: string[] | null | undefined) {
    this.wanted = Array.isArray(names) ? new Set(names) : null
  }

  /**
   * Show the functions that the compiler found.
   * @param entry  the entry point
   */
  show({functions, seconds, entries}: PublicInterface, entry: string) {
    this.found = functions
    this.seconds = seconds
    this.entry = entries.includes(entry) ? entry : entries[0]
    if (this.wanted !== undefined) {
      const {wanted} = this
      this.left = new Set(wanted ? this.found.filter(({name}) => !wanted.has(name)).map(({name}) => name) : [])
      this.wanted = undefined
    }
    this.left = new Set(this.found.filter(({name}) => this.left.has(name) && name !== this.entry).map(({name}) => name))
    const files = [...new Set(this.found.map(({file}) => file))]
    this.list.replaceChildren(
      ...files.flatMap((file) => [
        ...(files.length > 1 ? [h("h3", {}, file)] : []),
        ...this.found.filter((one) => one.file === file).map((one) => this.#row(one)),
      ]),
    )
    this.#sum()
  }

  /** Show none until the compiler has found the functions of another source. */
  clear() {
    this.found = []
    this.left = new Set()
    this.list.replaceChildren()
    this.words.textContent = ""
  }

  #row({name, places, why}: PublicFunction) {
    const box = h("input", {type: "checkbox", disabled: name === this.entry || Boolean(why)})
    box.checked = !why && !this.left.has(name)
    box.onchange = () => {
      if (box.checked) this.left.delete(name)
      else this.left.add(name)
      this.#sum()
      this.changed()
    }
    return h(
      "label",
      {class: "fn", title: why ? `Stepped over: ${why}` : null},
      box,
      h("code", {}, name),
      h("span", {class: "dim num"}, why ? "stepped over" : `${places}`),
    )
  }

  #all(on: boolean) {
    this.left = new Set(on ? [] : this.found.map(({name}) => name).filter((name) => name !== this.entry))
    this.list.querySelectorAll("input").forEach((box) => {
      if (!box.disabled) box.checked = on
    })
    this.#sum()
    this.changed()
  }

  /** Stop recording a function, or all but the entry point. */
  leave(name?: string) {
    if (name === undefined) return this.#all(false)
    this.left.add(name)
    this.list.replaceChildren(...this.found.map((one) => this.#row(one)))
    this.#sum()
    this.changed()
  }

  #sum() {
    const chosen = this.found.filter(({name, why}) => !why && !this.left.has(name)),
      places = chosen.reduce((sum, one) => sum + one.places, 0)
    const seconds = places * this.seconds,
      took = seconds < 0.8 ? "under 1 s" : `up to ${Math.ceil(seconds)} s`
    const all = chosen.length === this.found.length,
      which = all
        ? chosen.length === 1
          ? "1 function"
          : `all ${chosen.length} functions`
        : `${chosen.length} of ${this.found.length} functions`
    this.words.textContent = `${which}, ${places} places, ${took} to compile`
    this.words.title = "An estimate for a software device. Compiled kernels are cached."
  }
}
