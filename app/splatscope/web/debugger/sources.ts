// The sources in the editor: a single one, or the files of a project with a tab each.
import {h} from "#web/runtime/dom.ts"
import {ARROWS, neighbour, onArrows, setTabStop} from "#web/widgets/roving.ts"
import {entryFile, type Files, filesOf, wrongPath} from "./project.ts"
import type {Limits} from "#components"
import type {Draft} from "#web/runtime/draft.ts"
import type {Diagnostic, Editor} from "#web/widgets/codemirror.ts"

/** A text, or an editor state with text, history and selection. */
type Shown = Parameters<Editor["show"]>[0]

export const ONLY = "kernel.slang" // the name of a single source

export class Sources {
  editor: Editor
  files = new Map<string, Shown>([[ONLY, ""]])
  entry = ONLY // the file with the entry point
  current = ONLY // the file in the editor
  removed: {name: string; shown: Shown} | null = null // the file removed last
  diagnostics: Diagnostic[] = []
  naming = false // whether a tab is being renamed
  limits: Limits
  changed: () => void
  say: (words: string) => void
  tabs: HTMLDivElement
  choice: HTMLSelectElement
  rename: HTMLButtonElement
  remove: HTMLButtonElement
  undo: HTMLButtonElement
  runs: HTMLLabelElement
  acts: HTMLSpanElement
  title: HTMLHeadingElement
  bar: HTMLDivElement
  more: HTMLButtonElement

  constructor(limits: Limits, changed: () => void, say: (words: string) => void) {
    this.limits = limits
    this.changed = changed
    this.say = say
    this.tabs = h("div", {class: "file-tabs", role: "tablist", "aria-label": "Files"})
    this.choice = h("select", {"aria-label": "The file that runs"})
    this.choice.onchange = () => {
      this.entry = this.choice.value
      this.#arrange()
      this.changed()
    }
    this.rename = h(
      "button",
      {type: "button", class: "btn quiet", title: "Rename this file (F2)", onclick: () => this.ask()},
      "Rename",
    )
    this.remove = h("button", {type: "button", class: "btn quiet", onclick: () => this.drop()}, "Remove")
    this.undo = h("button", {type: "button", class: "btn quiet", onclick: () => this.#restore()}, "Undo")
    this.runs = h("label", {}, "Runs ", this.choice)
    this.acts = h("span", {class: "file-acts"}, this.undo, this.rename, this.remove, this.runs)
    this.title = h("h2", {}, "Source")
    this.bar = h("div", {class: "files-bar", hidden: true, "data-testid": "files"}, this.tabs)
    this.more = h(
      "button",
      {type: "button", class: "btn quiet more-files", title: "Add a file", "aria-label": "Add a file", onclick: () => this.add()},
      "+",
    )
    onArrows(this.tabs, ARROWS, (step) => {
      const names = [...this.files.keys()]
      this.show(names[neighbour(names.indexOf(this.current), step, names.length)])
      this.#tab(this.current)?.focus()
    })
    this.tabs.addEventListener("keydown", (event) => {
      if (event.target instanceof HTMLInputElement) return
      if (event.key === "F2") this.ask()
      else if (event.key === "Delete") this.drop()
      else return
      event.preventDefault()
      event.stopPropagation()
    })
  }

  /** Whether there are several files. */
  get several() {
    return this.files.size > 1
  }

  /** The file that runs and the others, as part of a draft. */
  get draft() {
    const others = Object.fromEntries(
      [...this.files.keys()].filter((name) => name !== this.entry).map((name) => [name, this.text(name)]),
    )
    const source = this.text(this.entry)
    return this.several || this.entry !== ONLY ? {source, file: this.entry, files: others} : {source}
  }

  /** The text of a file. */
  text(name: string) {
    if (name === this.current) return this.editor.text
    const shown = this.files.get(name) ?? ""
    return typeof shown === "string" ? shown : shown.doc.toString()
  }

  /** Load the sources of a draft. */
  open({source, file, files}: Draft) {
    this.entry = typeof file === "string" && file ? file : ONLY
    this.files = new Map([[this.entry, source ?? ""], ...Object.entries(filesOf(files)).filter(([name]) => name !== this.entry)])
    this.files = new Map(
      [...this.files].sort(([a], [b]) => Number(b === this.entry) - Number(a === this.entry) || (a < b ? -1 : 1)),
    )
    this.removed = null
    this.diagnostics = []
    this.current = this.entry
    this.editor.show(source ?? "")
    this.#arrange()
  }

  /** Replace the file that runs after a fix has changed it. */
  replace(source: string) {
    this.show(this.entry)
    this.editor.text = source
  }

  /** Add files. Files with the same name are replaced. */
  take(files: Files) {
    for (const [name, text] of Object.entries(files)) {
      this.files.set(name, text)
      if (name === this.current) this.editor.show(text)
    }
    this.show(Object.keys(files)[0])
    this.changed()
  }

  /** Show a file in the editor, at a line. */
  show(name: string, line?: number) {
    if (!this.files.has(name)) return
    if (name !== this.current) {
      this.files.set(this.current, this.editor.state)
      this.current = name
      this.editor.show(this.files.get(name) ?? "")
    }
    this.#arrange()
    if (line) this.editor.reveal(line)
  }

  /** Show the compiler's messages, each in its file. */
  mark(diagnostics: Diagnostic[]) {
    this.diagnostics = diagnostics
    this.#arrange()
  }

  /** Add a file and ask for its name. */
  add() {
    if (this.files.size >= this.limits.files) return this.say(`A project may have ${this.limits.files} files.`)
    let n = 1
    const name = () => `part${n > 1 ? n : ""}.slang`
    while (this.files.has(name())) n++
    this.files.set(name(), "")
    this.show(name())
    this.changed()
    this.ask()
  }

  /** Ask for a new name of the file in the editor, in its tab. */
  ask() {
    const tab = this.#tab(this.current),
      before = this.current
    if (!tab) return
    const input = h("input", {
      type: "text",
      value: before,
      "aria-label": "Name of the file",
      spellcheck: "false",
      size: Math.max(12, before.length),
    })
    this.naming = true
    tab.replaceWith(input)
    const shut = (keep: boolean) => {
      input.onblur = null
      this.naming = false
      const name = input.value.trim().replaceAll("\\", "/")
      const wrong = name === before ? "" : this.files.has(name) ? `There is already a file ${name}.` : wrongPath(name, this.limits)
      if (keep && wrong) this.say(wrong)
      else if (keep && name !== before) this.#name(before, name)
      this.#arrange()
      this.#tab(this.current)?.focus()
    }
    input.onkeydown = (event) => {
      event.stopPropagation()
      if (event.key === "Enter") shut(true)
      if (event.key === "Escape") shut(false)
    }
    input.onblur = () => shut(true)
    input.focus()
    input.select()
  }

  /** Remove the file in the editor. A button above offers to undo that. */
  drop() {
    if (!this.several) return
    const name = this.current,
      names = [...this.files.keys()],
      at = names.indexOf(name)
    this.removed = {name, shown: this.editor.state}
    this.show(names[at + 1] ?? names[at - 1])
    this.files.delete(name)
    if (this.entry === name) this.entry = entryFile(Object.fromEntries([...this.files.keys()].map((one) => [one, this.text(one)])))
    this.#arrange()
    this.changed()
    ;(this.several ? this.#tab(this.current) : this.undo)?.focus()
  }

  #restore() {
    if (!this.removed) return
    const {name, shown} = this.removed
    this.removed = null
    this.files.set(name, shown)
    this.show(name)
    this.changed()
    this.#tab(name)?.focus() // the button goes
  }

  #name(before: string, name: string) {
    this.files = new Map([...this.files].map(([one, shown]) => [one === before ? name : one, shown]))
    if (this.entry === before) this.entry = name
    this.current = name
    this.changed()
  }

  #tab(name: string) {
    return [...this.tabs.children].find((tab) => tab.getAttribute("data-file") === name) as HTMLElement | undefined
  }

  /** Rebuild the tabs. If a tab had the focus, the current one gets it. */
  #show() {
    const names = [...this.files.keys()],
      root = this.tabs.getRootNode() as Document | ShadowRoot,
      focused = this.tabs.contains(root.activeElement)
    const wrong = new Set(this.diagnostics.filter(({severity}) => severity === "error").map(({file}) => file || this.entry))
    this.tabs.replaceChildren(
      ...names.map((name) =>
        h(
          "button",
          {
            type: "button",
            role: "tab",
            class: wrong.has(name) ? "wrong" : "",
            title: `${name}${name === this.entry ? ", which runs" : ""}${wrong.has(name) ? ": has an error" : ""}`,
            "data-file": name,
            "aria-selected": name === this.current ? "true" : "false",
            onclick: () => this.show(name),
            ondblclick: () => this.ask(),
          },
          name === this.entry ? h("span", {class: "runs", "aria-hidden": "true"}, "▸") : null,
          name,
        ),
      ),
    )
    setTabStop([...this.tabs.children] as HTMLElement[], names.indexOf(this.current))
    this.#tab(this.current)?.scrollIntoView?.({block: "nearest", inline: "nearest"})
    if (focused) this.#tab(this.current)?.focus()
  }

  #arrange() {
    const {several, removed} = this,
      names = [...this.files.keys()]
    this.bar.hidden = !several
    this.title.textContent = several || this.entry === ONLY ? "Source" : this.entry
    if (!this.naming) this.#show()
    this.rename.hidden = this.remove.hidden = !several
    this.undo.hidden = !removed
    this.undo.textContent = removed ? `Undo: restore ${removed.name.split("/").at(-1)}` : ""
    this.choice.replaceChildren(...names.map((name) => h("option", {value: name}, name)))
    this.choice.value = this.entry
    this.runs.hidden = !several
    this.editor.mark(this.diagnostics.filter(({file}) => (file || this.entry) === this.current))
  }
}
