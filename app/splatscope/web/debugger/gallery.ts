// The dialog that opens an example or the user's own files.
import {h} from "#web/runtime/dom.ts"
import {severityIcon} from "#web/stepper/panes/icons.ts"
import type {PublicExample} from "#components"

export class Gallery {
  el: HTMLDialogElement
  input: HTMLInputElement

  /**
   * @param open  opens an example
   * @param kinds  file extensions of sources
   * @param take  opens files
   */
  constructor(
    groups: [title: string, entries: PublicExample[]][],
    open: (name: string) => void,
    kinds: string[],
    take: (files: File[]) => void,
  ) {
    const picker = (which: Record<string, string | boolean>) => {
      const input = h("input", {type: "file", multiple: true, hidden: true, ...which})
      input.onchange = () => {
        const chosen = [...(input.files ?? [])]
        input.value = ""
        if (!chosen.length) return
        take(chosen)
        this.close()
      }
      return input
    }
    const file = picker({accept: [...kinds, ".zip", ".npz"].join(",")}),
      folder = picker({webkitdirectory: true})
    const entry = ([name, title, about, broken]: PublicExample) =>
      h(
        "button",
        {
          type: "button",
          "data-example": name,
          onclick: () => {
            this.close() // gives the focus back to the button that opened it
            open(name)
          },
        },
        h("b", {}, broken ? severityIcon("error") : null, title),
        h("span", {}, about),
      )
    const sections = groups.map(([title, entries]) => h("section", {}, h("h3", {}, title), ...entries.map(entry)))
    this.el = h(
      "dialog",
      {class: "gallery", "aria-label": "Open"},
      h(
        "header",
        {},
        h("h2", {}, "Open"),
        h("button", {type: "button", class: "btn", onclick: () => file.click()}, "Open files …"),
        h("button", {type: "button", class: "btn wide", onclick: () => folder.click()}, "A folder …"),
        h("span", {class: "dim wide"}, "Slang or HLSL, a .zip of it, or a recording .npz; or drop them on the page"),
        h("span", {class: "sp"}),
        h("button", {type: "button", class: "btn quiet", onclick: () => this.close()}, "Close"),
      ),
      h("p", {class: "dim lead"}, severityIcon("error"), "has a fault, and its fix is one press away."),
      h("div", {class: "shelves"}, ...sections),
      file,
      folder,
    )
    this.el.onclick = (event) => {
      if (event.target === this.el) this.close()
    }
    this.input = file
    document.body.append(this.el) // where the page's keys look for an open dialog
  }

  /**
   * Open it.
   * @param current  name of the example in the editor
   */
  show(current: string) {
    for (const button of this.el.querySelectorAll("[data-example]")) {
      if (button.getAttribute("data-example") === current) button.setAttribute("aria-current", "true")
      else button.removeAttribute("aria-current")
    }
    this.el.showModal()
    const chosen = this.el.querySelector("[aria-current]") as HTMLElement | null
    chosen?.focus()
  }

  /** Close it. */
  close() {
    this.el.close()
  }
  /** Remove it from the document. */
  remove() {
    this.el.remove()
  }
}
