// The menu that copies a link or saves a file.
import {focused, h} from "#web/runtime/dom.ts"
import {type DebuggerState, emit} from "#web/runtime/events.ts"
import {addKeys} from "#web/runtime/keys.ts"

const FILES = [
  ["recording", "Recording", ".npz", "Opens here again, with source, inputs and this step"],
  ["page", "Page", ".html", "Steps through this recording in any browser, without a server"],
  ["python", "Python file", ".py", "Repeats this dispatch with slangpy alone"],
  ["perfetto", "Perfetto trace", ".json", "For the Chrome and Perfetto trace viewers"],
  ["project", "Project", ".zip", "All files, without inputs; opens here again"],
]

export class Menu {
  both: HTMLElement
  copied: HTMLElement
  link: HTMLButtonElement
  words: HTMLParagraphElement
  list: HTMLDivElement
  button: HTMLButtonElement
  el: HTMLDivElement
  outside: (event: Event) => void
  endKeys: () => void

  constructor() {
    const item = (act: () => void, name: string, kind: string, words: string, id: string): HTMLElement =>
      h(
        "button",
        {type: "button", role: "menuitem", "data-save": id, onclick: act},
        h("b", {}, name),
        h("span", {class: "kind"}, kind),
        h("span", {class: "dim"}, words),
      )
    const narrow = (name: string, words: string, act: () => void): HTMLElement =>
      h(
        "button",
        {
          type: "button",
          role: "menuitem",
          class: "narrow",
          onclick: () => {
            this.toggle(false)
            act()
          },
        },
        h("b", {}, name),
        h("span", {class: "kind"}),
        h("span", {class: "dim"}, words),
      )
    this.both = narrow("Side by side", "This run and the previous one", () => emit("debug-view", "compare"))
    this.copied = h("b", {}, "Copy link")
    this.link = h(
      "button",
      {type: "button", role: "menuitem", "data-save": "link", onclick: () => emit("debug-share", null)},
      this.copied,
      h("span", {class: "kind"}),
      h("span", {class: "dim"}, "Contains source, inputs and this step"),
    )
    this.words = h("p", {class: "said", role: "status", hidden: true})
    this.list = h(
      "div",
      {class: "menu-list", role: "menu", hidden: true},
      narrow("Open", "An example, or your own files", () => emit("debug-open", null)),
      this.both,
      this.link,
      this.words,
      ...FILES.map(([id, name, kind, words]) =>
        item(
          () => {
            emit("debug-save", id)
            this.toggle(false)
          },
          name,
          kind,
          words,
          id,
        ),
      ),
    )
    this.button = h(
      "button",
      {
        type: "button",
        class: "btn",
        "aria-haspopup": "menu",
        "aria-expanded": "false",
        "data-testid": "debugger-save",
        onclick: () => this.toggle(Boolean(this.list.hidden)),
      },
      h("span", {class: "wide"}, "Save"),
      h("span", {class: "narrow", "aria-hidden": "true"}, "⋯"),
      h("span", {class: "sr narrow"}, "More"),
    )
    this.el = h("div", {class: "menu-of"}, this.button, this.list)
    this.outside = (event: Event) => {
      if (!event.composedPath().includes(this.el)) this.toggle(false)
    }
    this.list.onkeydown = (event) => {
      const way = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0
      if (!way) return
      event.preventDefault()
      const items = [...this.list.querySelectorAll("button")].filter((item) => item.offsetParent),
        at = items.indexOf(event.target as HTMLButtonElement)
      items[(at + way + items.length) % items.length].focus()
    }
    window.addEventListener("pointerdown", this.outside)
    const shut = () => this.toggle(false)
    this.endKeys = addKeys({active: () => !this.list.hidden, keys: {Escape: shut}, whileTyping: true, inDialogs: true})
  }

  toggle(open: boolean) {
    if (!open && this.list.contains(focused())) this.button.focus() // a dialog that an item opens returns the focus there
    this.list.hidden = !open
    this.button.setAttribute("aria-expanded", String(open))
    this.say("")
    if (open) [...this.list.querySelectorAll("button")].find((item) => item.offsetParent)?.focus()
  }

  show({said, pair, several}: DebuggerState) {
    this.both.hidden = pair.length !== 2
    const project = this.list.querySelector("[data-save=project]") as HTMLElement | null
    if (project) project.hidden = !several
    if (!said) return
    if (said.length < 20) {
      this.copied.textContent = said
      setTimeout(() => {
        this.copied.textContent = "Copy link"
      }, 2500)
    } else this.say(said)
  }

  say(words: string) {
    this.words.textContent = words
    this.words.hidden = !words
  }

  /** Leave the page. */
  close() {
    window.removeEventListener("pointerdown", this.outside)
    this.endKeys()
  }
}
