// What may be opened: the examples, or a file of one's own.
import {h} from "#web/shell/dom.js"
import {severity} from "#web/stepper/panes/icons.js"

export class Gallery {
  // `open(name)` takes an example, `take(file)` a file.
  constructor(groups, open, take) {
    const file = h("input", {type: "file", accept: ".slang,.hlsl,.npz", hidden: true})
    file.onchange = () => {
      if (file.files[0]) {
        take(file.files[0])
        this.close()
      }
      file.value = ""
    }
    const entry = ([name, title, about, broken]) =>
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

  show(current) {
    for (const button of this.el.querySelectorAll("[data-example]")) {
      if (button.dataset.example === current) button.setAttribute("aria-current", "true")
      else button.removeAttribute("aria-current")
    }
    this.el.showModal()
    this.el.querySelector("[aria-current]")?.focus()
  }

  close() {
    this.el.close()
  }
  remove() {
    this.el.remove()
  }
}
