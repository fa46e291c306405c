// The compile settings of a source: values of link-time constants, macros, types.
import {h} from "#web/runtime/dom.ts"
import type {Open, Settings} from "#components"
import type {Draft} from "#web/runtime/draft.ts"

type Text = "defines" | "arguments" | "conformances"

const TEXTS: [key: Text, label: string, placeholder: string][] = [
  ["arguments", "Types of its generic parameters", "float, Array<int, 4>"],
  ["defines", "Macros, one per line", "NAME=VALUE"],
  ["conformances", "Types that implement interfaces, one per line", "Sphere: IShape"],
]

export class CompileSettings {
  constants: Record<string, string> = {}
  texts: Record<Text, string> = {arguments: "", defines: "", conformances: ""}
  shown = ""
  said = false // whether the source's comment sets something
  changed: () => void
  words: HTMLSpanElement
  list: HTMLDivElement
  fields
  el: HTMLDetailsElement

  constructor(changed: () => void) {
    this.changed = changed
    this.words = h("span", {class: "sp"})
    this.list = h("div", {class: "bufs"})
    this.fields = new Map(
      TEXTS.map(([key, label, placeholder]) => {
        const field = h("textarea", {rows: 1, "aria-label": label, placeholder, spellcheck: "false"})
        field.onchange = () => {
          this.texts[key] = field.value
          this.#say()
          changed()
        }
        return [key, {field, row: h("label", {class: "rowf setting"}, h("span", {}, label), field)}]
      }),
    )
    this.el = h(
      "details",
      {class: "panel recorded", "data-testid": "compile-settings"},
      h("summary", {}, h("h2", {}, "Compile with"), this.words),
      this.list,
      ...[...this.fields.values()].map(({row}) => row),
    )
  }

  /** The settings as part of a draft; empty ones are left out. */
  get draft() {
    const texts = Object.fromEntries(Object.entries(this.texts).filter(([, text]) => text.trim()))
    return Object.keys(this.constants).length ? {...texts, constants: this.constants} : texts
  }

  /** Load the settings of a draft. */
  open(draft: Draft) {
    this.constants = {...draft.constants}
    for (const [key, {field}] of this.fields) {
      this.texts[key] = draft[key] ?? ""
      field.value = this.texts[key]
    }
    this.shown = ""
    this.el.open = false
    this.list.replaceChildren()
    this.#say()
  }

  /**
   * Show the settings that the compiler needs.
   * @param said  the settings in the source's comment, which apply where a field is empty
   */
  show({constants = {}, missing = [], generic = ""}: Partial<Open>, said: Settings = {}) {
    const key = JSON.stringify([constants, missing, generic, said])
    if (key === this.shown) return
    this.shown = key
    for (const [name, , placeholder] of TEXTS) {
      const field = this.fields.get(name)?.field
      if (field) field.placeholder = said[name] ?? placeholder
    }
    this.said = Object.keys(said).length > 0
    const focused = this.list.contains((this.list.getRootNode() as ShadowRoot).activeElement)
    if (!focused) {
      this.list.replaceChildren(
        ...Object.entries(constants).map(([name, type]) =>
          this.#constant(name, type, said.constants?.[name] ?? (missing.includes(name) ? "needs a value" : "as in the source")),
        ),
      )
    }
    this.fields.get("arguments")?.row.toggleAttribute("hidden", !generic && !this.texts.arguments)
    if (missing.length || (generic && !this.texts.arguments && !said.arguments)) this.el.open = true
    this.#say()
  }

  #constant(name: string, type: string, otherwise: string): HTMLElement {
    const value = h("input", {
      type: "text",
      value: this.constants[name] ?? "",
      placeholder: otherwise,
      "aria-label": `Value of the constant ${name}`,
      spellcheck: "false",
    })
    value.onchange = () => {
      if (value.value.trim()) this.constants[name] = value.value.trim()
      else delete this.constants[name]
      this.#say()
      this.changed()
    }
    return h("div", {class: "buf"}, h("p", {class: "one"}, h("code", {title: name}, name), h("span", {class: "dim"}, type), value))
  }

  #say() {
    const given = Object.keys(this.constants).length,
      lines = Object.values(this.texts).filter((text) => text.trim()).length
    this.words.textContent = given || lines ? "your own settings" : this.said ? "as in the comment" : "as in the source"
  }
}
