// What may be opened: the examples, or a file of one's own.
import {h} from "#web/shell/dom.js"
import {severity} from "#web/stepper/panes/icons.js"

/** @typedef {[name: string, title: string, about: string, broken: boolean]} Example */

export class Gallery {
  /**
   * @param {[title: string, entries: Example[]][]} groups
   * @param {(name: string) => void} open  takes an example
   * @param {(file: File) => void} take  takes a file
   */
  constructor(groups, open, take) {
    const file = h("input", {type: "file", accept: ".slang,.hlsl,.npz", hidden: true})
    file.onchange = () => {
      const chosen = file.files?.[0]
      if (chosen) {
        take(chosen)
        this.close()
      }
      file.value = ""
    }
    const entry = (/** @type {Example} */ [name, title, about, broken]) =>
      h(
        "button",
        {
          type: "button",
          "data-example": name,
          onclick: () => {
            open(name)
            this.close()
          },
        },
        h("b", {}, broken ? severity("error") : null, title),
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
        h("button", {type: "button", class: "btn", onclick: () => file.click()}, "A file of yours …"),
        h("span", {class: "dim wide"}, ".slang, or a recording .npz"),
        h("span", {class: "sp"}),
        h("button", {type: "button", class: "btn quiet", onclick: () => this.close()}, "Close"),
      ),
      h("p", {class: "dim lead"}, severity("error"), "has something wrong with it, and the fix is one click away."),
      h("div", {class: "shelves"}, ...sections),
      file,
    )
    this.el.onclick = (event) => {
      if (event.target === this.el) this.close()
    }
    this.input = file
    document.body.append(this.el) // where the keys of the page look for an open dialog
  }

  /**
   * Open it.
   * @param {string} current  name of the example in the editor
   */
  show(current) {
    for (const button of this.el.querySelectorAll("[data-example]")) {
      if (button.getAttribute("data-example") === current) button.setAttribute("aria-current", "true")
      else button.removeAttribute("aria-current")
    }
    this.el.showModal()
    const chosen = /** @type {HTMLElement | null} */ (this.el.querySelector("[aria-current]"))
    chosen?.focus()
  }

  /** Close it. */
  close() {
    this.el.close()
  }
  /** Take it out of the document. */
  remove() {
    this.el.remove()
  }
}
