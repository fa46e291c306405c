// What a kernel runs on: its entry point, groups, and a small widget for each buffer and uniform.
import {h} from "./dom.js"

const WORDS = {zeros: "zeros", ramp: "0, 1, 2, …", shuffle: "shuffled", random: "random", values: "typed values"}

export class Inputs {
  constructor(model, changed) {
    this.model = model
    this.changed = changed
    this.specs = {} // by name: {fill, count, seed, values}
    this.groups = [1, 1, 1]
    this.group = [0, 0, 0]
    this.entry = ""
    this.select = h("select", {"aria-label": "Entry point"})
    this.select.onchange = () => { this.entry = this.select.value; changed() }
    this.size = h("span", {class: "dim num"})
    this.groupInputs = this.#triple("Groups", this.groups, 1)
    this.chosenInputs = this.#triple("Recorded group", this.group, 0)
    this.list = h("div", {class: "bufs"})
    this.el = h("section", {class: "panel inputs", "data-testid": "controls", "aria-label": "What it runs on"},
      h("div", {class: "ph"}, h("h2", {}, "Runs on"), h("span", {class: "sp"}), this.size),
      h("div", {class: "rowf"}, h("label", {}, "Entry point"), this.select),
      h("div", {class: "rowf"}, h("span", {}, "Groups"), h("span", {class: "three"}, ...this.groupInputs)),
      h("div", {class: "rowf"}, h("span", {}, "Recorded group"), h("span", {class: "three"}, ...this.chosenInputs)),
      this.list)
  }

  #triple(label, values, low) {
    return ["x", "y", "z"].map((axis, i) => {
      const input = h("input", {type: "number", min: low, max: 65535, step: 1, value: values[i], "aria-label": `${label}, ${axis}`})
      input.onchange = () => { values[i] = +input.value; this.changed() }
      return input
    })
  }

  get draft() { return {inputs: this.specs, groups: this.groups, group: this.group, entry: this.entry} }

  open({inputs, groups, group, entry}) {
    this.specs = structuredClone(inputs ?? {})
    const put = (values, given, fallback, els) => { els.forEach((el, i) => { values[i] = el.value = given?.[i] ?? fallback }) }
    put(this.groups, groups, 1, this.groupInputs)
    put(this.group, group, 0, this.chosenInputs)
    this.entry = entry ?? ""
    this.show(true)
  }

  // The widgets for what the compiler found; those that stay keep what was typed.
  show(anew = false) {
    const {interface: found} = this.model
    if (!found.entries) return
    if (!found.entries.includes(this.entry)) this.entry = found.entries[0]
    this.select.replaceChildren(...found.entries.map((name) => h("option", {value: name}, name)))
    this.select.value = this.entry
    this.size.textContent = `${found.group_size.join(" × ")} threads a group`
    const key = JSON.stringify([found.buffers, found.uniforms, found.unfit])
    if (key === this.shown && !anew) return
    this.shown = key
    this.list.replaceChildren(
      ...found.buffers.map((buffer) => this.#buffer(buffer)), ...found.uniforms.map((uniform) => this.#uniform(uniform)),
      ...found.unfit.map(({name, type}) => h("p", {class: "hint"}, h("code", {}, name), ` is a ${type}, which cannot be given here.`)))
  }

  #buffer({name, type, count}) {
    const spec = this.specs[name] ??= {fill: "zeros", count}
    spec.count ??= count
    const many = h("input", {type: "number", min: 1, max: 1048576, step: 1, value: spec.count, "aria-label": `Number of elements of ${name}`})
    const fill = h("select", {"aria-label": `${name} is filled with`}, ...this.model.fills.map((value) => h("option", {value}, WORDS[value] ?? value)))
    const seed = h("input", {type: "number", min: 0, step: 1, value: spec.seed ?? 1, "aria-label": `Seed of ${name}`, title: "Seed"})
    const values = h("textarea", {rows: 2, "aria-label": `Values of ${name}`, placeholder: "1 2 3 … what is missing is 0", spellcheck: "false"}, spec.values ?? "")
    const arrange = () => {
      seed.hidden = spec.fill !== "random" && spec.fill !== "shuffle"
      values.hidden = spec.fill !== "values"
    }
    fill.value = spec.fill
    many.onchange = () => { spec.count = +many.value; this.changed() }
    fill.onchange = () => { spec.fill = fill.value; arrange(); this.changed() }
    seed.onchange = () => { spec.seed = +seed.value; this.changed() }
    values.onchange = () => { spec.values = values.value; this.changed() }
    arrange()
    return h("div", {class: "buf", "data-buffer": name}, h("p", {}, h("code", {}, name), h("span", {class: "dim"}, type), many, fill, seed), values)
  }

  #uniform({name, type}) {
    const spec = this.specs[name] ??= {values: "0"}
    const values = h("input", {type: "text", value: spec.values ?? "", "aria-label": `Value of ${name}`, spellcheck: "false"})
    values.onchange = () => { spec.values = values.value; this.changed() }
    return h("div", {class: "buf"}, h("p", {}, h("code", {}, name), h("span", {class: "dim"}, type), values))
  }
}
