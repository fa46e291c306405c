// Which functions are recorded, and what that costs, before anything runs.
import {h} from "#web/shell/dom.js"

export class Functions {
  constructor(changed) {
    this.changed = changed
    this.left = new Set() // names that are not recorded
    this.words = h("span", {class: "sp"})
    this.list = h("div", {class: "fns"})
    const all = (on) =>
      h("button", {type: "button", class: "btn quiet", onclick: () => this.#all(on)}, on ? "All" : "Only the entry point")
    this.el = h(
      "details",
      {class: "panel recorded", "data-testid": "functions"},
      h("summary", {}, h("h2", {}, "Records"), this.words),
      h("p", {class: "fn-acts"}, all(true), all(false)),
      this.list,
    )
  }

  // Names of the chosen, null for all.
  get draft() {
    return this.left.size ? this.found.filter(({name}) => !this.left.has(name)).map(({name}) => name) : null
  }

  open(names) {
    this.wanted = Array.isArray(names) ? new Set(names) : null
  }

  show({functions, seconds, entries}, entry) {
    this.found = functions ?? []
    this.seconds = seconds
    this.entry = entries.includes(entry) ? entry : entries[0]
    if (this.wanted !== undefined) {
      this.left = new Set(this.wanted ? this.found.filter(({name}) => !this.wanted.has(name)).map(({name}) => name) : [])
      this.wanted = undefined
    }
    this.left = new Set(this.found.filter(({name}) => this.left.has(name) && name !== this.entry).map(({name}) => name))
    const files = [...new Set(this.found.map(({file}) => file))]
    this.list.replaceChildren(
      ...files
        .flatMap((file) => [
          files.length > 1 ? h("h3", {}, file) : null,
          ...this.found.filter((one) => one.file === file).map((one) => this.#row(one)),
        ])
        .filter(Boolean),
    )
    this.#sum()
  }

  #row({name, places, why}) {
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

  #all(on) {
    this.left = new Set(on ? [] : this.found.map(({name}) => name).filter((name) => name !== this.entry))
    this.list.querySelectorAll("input").forEach((box) => {
      if (!box.disabled) box.checked = on
    })
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
    this.words.title = "On a software device, and once: what was compiled is kept"
  }
}
