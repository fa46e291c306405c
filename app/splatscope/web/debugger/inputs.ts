// The inputs of a kernel: its entry point, groups, and a small widget for each buffer and uniform.
import {h} from "#web/runtime/dom.ts"
import {send} from "#web/widgets/upload.ts"
import {samplerRow, seedField, textureRow} from "./texture_widgets.ts"
import type {Arrival, NamedType, PublicBuffer, PublicTexture, Spec} from "#components"
import type {Draft} from "#web/runtime/draft.ts"
import type {Model} from "#web/types.ts"

const WORDS: Record<string, string> = {
  zeros: "zeros",
  ramp: "0, 1, 2, …",
  shuffle: "shuffled",
  random: "random",
  values: "typed values",
  file: "an array file",
}
/** @param values  numbers as typed */
const amount = (values: unknown) => `${values ?? ""}`.split(/[\s,;]+/).filter(Boolean).length

const MOST_FILE = 32 * 2 ** 20

export class Inputs {
  specs: Record<string, Spec> = {} // by name
  said: number[] | null = null // the groups set by an attribute
  files = new Map<string, (arrival: Arrival) => void>() // by buffer, the function that receives its array file
  pictures = new Map<string, HTMLImageElement>() // previews of textures, by name
  shown = ""
  stale = false // whether what the compiler found belongs to another source
  model: Model<"Debugger">
  changed: () => void
  groups: number[]
  group: number[]
  entry: string
  select: HTMLSelectElement
  size: HTMLSpanElement
  groupInputs: HTMLInputElement[]
  chosenInputs: HTMLInputElement[]
  list: HTMLDivElement
  comment: HTMLParagraphElement
  one: HTMLDivElement
  el: HTMLElement

  constructor(model: Model<"Debugger">, changed: () => void) {
    this.model = model
    this.changed = changed
    this.groups = [1, 1, 1]
    this.group = [0, 0, 0]
    this.entry = ""
    this.select = h("select", {"aria-label": "Entry point"})
    this.select.onchange = () => {
      this.entry = this.select.value
      changed()
    }
    this.size = h("span", {class: "dim num"})
    this.groupInputs = this.#triple("Groups", this.groups, 1)
    this.chosenInputs = this.#triple("Recorded group", this.group, 0)
    this.list = h("div", {class: "bufs"})
    this.comment = h("p", {class: "hint", "data-testid": "comment-hint", hidden: true})
    this.one = h("div", {class: "rowf"}, h("span", {}, "Recorded group"), h("span", {class: "three"}, ...this.chosenInputs))
    this.el = h(
      "section",
      {class: "panel inputs", "data-testid": "controls", "aria-label": "What it runs on"},
      h("div", {class: "ph"}, h("h2", {}, "Runs on"), h("span", {class: "sp"}), this.size),
      this.comment,
      h("div", {class: "rowf"}, h("label", {}, "Entry point"), this.select),
      h("div", {class: "rowf"}, h("span", {}, "Groups"), h("span", {class: "three"}, ...this.groupInputs)),
      this.one,
      this.list,
    )
  }

  #triple(label: string, values: number[], low: number) {
    return ["x", "y", "z"].map((axis, i) => {
      const input = h("input", {type: "number", min: low, max: 65535, step: 1, value: values[i], "aria-label": `${label}, ${axis}`})
      input.onchange = () => {
        values[i] = +input.value
        this.#arrange()
        this.changed()
      }
      return input
    })
  }

  #arrange() {
    this.one.hidden = this.groups.every((n) => n === 1) && this.group.every((n) => n === 0)
  } // one group is the one

  /** The inputs as part of a draft. */
  get draft() {
    return {inputs: this.specs, groups: this.groups, group: this.group, entry: this.entry, groups_said: this.said}
  }

  /** Whether one of them is a file, which only the server holds. */
  get uploaded() {
    return Object.values(this.specs).some((spec) => "array" in spec && spec.array)
  }

  /** Load the inputs of a draft. */
  open({inputs, groups, group, entry, groups_said: said}: Draft) {
    this.specs = structuredClone(inputs ?? {})
    const put = (values: number[], given: number[] | undefined, fallback: number, els: HTMLInputElement[]) => {
      els.forEach((el, i) => {
        values[i] = given?.[i] ?? fallback
        el.value = String(values[i])
      })
    }
    put(this.groups, groups, 1, this.groupInputs)
    put(this.group, group, 0, this.chosenInputs)
    this.entry = entry ?? ""
    this.said = said ?? null
    this.#arrange()
    this.show(true)
  }

  /**
   * Make the widgets for what the compiler found. Widgets that remain keep what was typed, unless an attribute has changed.
   * @param anew  rebuild them in any case
   */
  show(anew = false) {
    const {interface: found} = this.model
    if (!found.entries || this.stale) {
      this.shown = ""
      this.size.textContent = ""
      this.comment.hidden = true
      this.select.replaceChildren()
      return this.list.replaceChildren()
    }
    if (!found.entries.includes(this.entry)) this.entry = found.entry
    this.select.replaceChildren(...found.entries.map((name) => h("option", {value: name}, name)))
    this.select.value = this.entry
    this.select.disabled = found.entries.length === 1
    this.size.textContent = `${found.group_size.join(" × ")} threads per group`
    this.comment.textContent = found.comment
    this.comment.hidden = !found.comment
    if (found.groups && JSON.stringify(found.groups) !== JSON.stringify(this.said)) {
      this.said = found.groups
      found.groups.forEach((n, i) => {
        this.groups[i] = n
        this.groupInputs[i].value = String(n)
      })
      found.group?.forEach((n, i) => {
        this.group[i] = n
        this.chosenInputs[i].value = String(n)
      })
      this.#arrange()
    }
    for (const [name, spec] of Object.entries(found.said))
      if (this.specs[name]?.from !== spec.from) this.specs[name] = structuredClone(spec)
    for (const {name, preview} of found.textures) {
      const picture = this.pictures.get(name)
      if (picture) picture.hidden = !preview
      if (picture && preview) picture.src = preview
    }
    const textures = found.textures.map((texture) => ({...texture, preview: ""}))
    const key = JSON.stringify([found.buffers, found.uniforms, textures, found.samplers, found.unfit, found.said])
    if (key === this.shown && !anew) return
    this.shown = key
    this.files.clear()
    this.pictures.clear()
    this.list.replaceChildren(
      ...found.buffers.map((buffer) => this.#buffer(buffer)),
      ...found.textures.map((texture) => this.#texture(texture)),
      ...found.samplers.map((name) => samplerRow(name, this.#spec(name), this.changed)),
      ...found.uniforms.map((uniform) => this.#uniform(uniform)),
      ...found.unfit.map(({name, type}) =>
        h("p", {class: "hint"}, h("code", {}, name), ` is a ${type}, which cannot be set here.`),
      ),
    )
  }

  #spec(name: string) {
    this.specs[name] ??= {}
    return this.specs[name]
  }

  #texture(texture: PublicTexture) {
    const spec = this.#spec(texture.name),
      kinds = "PNG, JPEG or WebP; or .npy, (rows, columns, components)",
      file = this.#file(texture.name, spec, ".png,.jpg,.jpeg,.webp,.npy,.npz", kinds)
    const row = textureRow(texture, spec, this.model.texture_fills, file, this.changed)
    this.pictures.set(texture.name, row.picture)
    return row.el
  }

  #buffer({name, type, count, parts}: PublicBuffer) {
    this.specs[name] ??= {fill: "zeros", count}
    const spec = this.specs[name]
    spec.count ??= spec.fill === "values" ? Math.max(1, Math.ceil(amount(spec.values) / parts)) : count
    const many = h("input", {
      type: "number",
      min: 1,
      max: 1048576,
      step: 1,
      value: spec.count,
      "aria-label": `Number of elements of ${name}`,
    })
    const fill = h(
      "select",
      {"aria-label": `${name} is filled with`},
      ...this.model.fills.map((value) => h("option", {value}, WORDS[value] ?? value)),
    )
    const seed = seedField(name, spec)
    const values = h(
      "textarea",
      {rows: 2, "aria-label": `Values of ${name}`, placeholder: "1 2 3 … (the rest is 0)", spellcheck: "false"},
      spec.values ?? "",
    )
    const file = this.#file(name, spec)
    const arrange = () => {
      seed.hidden = spec.fill !== "random" && spec.fill !== "shuffle"
      values.hidden = spec.fill !== "values"
      file.hidden = spec.fill !== "file"
      many.disabled = spec.fill === "file" // the file determines the count
    }
    fill.value = spec.fill ?? ""
    many.onchange = () => {
      spec.count = +many.value
      this.changed()
    }
    fill.onchange = () => {
      spec.fill = fill.value
      arrange()
      this.changed()
      if (spec.fill === "file" && !spec.array) file.querySelector("button")?.click()
    }
    seed.onchange = () => {
      spec.seed = +seed.value
      this.changed()
    }
    values.onchange = () => {
      spec.values = values.value
      this.changed()
    }
    arrange()
    return h(
      "div",
      {class: "buf", "data-buffer": name},
      h("p", {}, h("code", {title: name}, name), h("span", {class: "dim"}, type), many, fill, seed),
      values,
      file,
    )
  }

  /**
   * @param accept  extensions of such files
   * @param kinds  a description of such files
   */
  #file(name: string, spec: Spec, accept = ".npy,.npz", kinds = ".npy or .npz, numbers row by row") {
    const words = h("span", {class: "dim"}),
      picker = h("input", {type: "file", accept, hidden: true, "aria-label": `Array file of ${name}`})
    const say = () => {
      words.textContent = spec.file
        ? `${spec.file}${spec.words ? `: ${spec.words}` : ""}`
        : spec.wanted
          ? `The source names ${spec.wanted}`
          : kinds
    }
    picker.onchange = async () => {
      const chosen = picker.files?.[0]
      picker.value = ""
      if (!chosen) return
      words.textContent = `${chosen.name} …`
      const wrong = await send(this.model, {name: `array:${name}`, most: MOST_FILE}, chosen)
      if (wrong) words.textContent = wrong
    }
    say()
    const line = h(
      "p",
      {class: "filed", "data-file": name},
      h("button", {type: "button", class: "btn", onclick: () => picker.click()}, "Choose a file …"),
      words,
      picker,
    )
    this.files.set(name, ({array, file, words: about, error}) => {
      words.classList.toggle("wrong", Boolean(error))
      if (error) {
        words.textContent = error
        return
      }
      Object.assign(spec, {array, file, words: about})
      say()
      this.changed()
    })
    return line
  }

  /** Handle the result of uploading an array file. */
  arrived(arrival: Arrival) {
    this.files.get(arrival.buffer ?? "")?.(arrival)
  }

  #uniform({name, type}: NamedType) {
    this.specs[name] ??= {values: "0"}
    const spec = this.specs[name]
    const values = h("input", {type: "text", value: spec.values ?? "", "aria-label": `Value of ${name}`, spellcheck: "false"})
    values.onchange = () => {
      spec.values = values.value
      this.changed()
    }
    return h("div", {class: "buf"}, h("p", {class: "one"}, h("code", {title: name}, name), h("span", {class: "dim"}, type), values))
  }
}
