// Widgets for textures, with a preview, and for samplers.
import {h} from "#web/runtime/dom.js"

/** @import {Spec} from "#web/runtime/draft.js" */
/**
 * A texture that the compiler found, from `draft.public`.
 * @typedef {object} Texture
 * @property {string} name
 * @property {string} type
 * @property {string} shape  "1d", "2d", "3d", "cube", perhaps followed by "_array"
 * @property {number} components  per texel
 * @property {boolean} writable
 * @property {string} preview  the address of a small picture; "" for none
 */

/** @type {Record<string, string>} */
const WORDS = {zeros: "zeros", gradient: "a gradient", random: "random", picture: "a picture", file: "an array file"}
const EDGES = [64, 64, 4]

/**
 * A field for the seed of a random fill.
 * @param {string} name
 * @param {Spec} spec
 */
export const seedField = (name, spec) =>
  h("input", {type: "number", min: 0, step: 1, value: spec.seed ?? 1, "aria-label": `Seed of ${name}`, title: "Seed"})

/** @param {string} shape */
const axesOf = (shape) => (shape.startsWith("1d") ? 1 : shape.startsWith("3d") || shape.endsWith("_array") ? 3 : 2)

/**
 * Rows for a texture: its fill, size and options, and a preview.
 * @param {Texture} texture
 * @param {Spec} spec  changed by the widgets
 * @param {string[]} fills
 * @param {HTMLElement} file  the part that chooses a picture or an array
 * @param {() => void} changed
 */
export function textureRow({name, type, shape, components, writable, preview}, spec, fills, file, changed) {
  spec.fill ??= "zeros"
  spec.size ??= EDGES.slice(0, axesOf(shape))
  const {size} = spec
  const sizes = size.map((value, i) => {
    const input = h("input", {type: "number", min: 1, max: 2048, step: 1, value, "aria-label": `Size of ${name}, ${"xyz"[i]}`})
    input.onchange = () => {
      size[i] = +input.value
      changed()
    }
    return input
  })
  const fill = h(
    "select",
    {"aria-label": `${name} is filled with`},
    ...fills.map((value) => h("option", {value}, WORDS[value] ?? value)),
  )
  fill.value = spec.fill
  const seed = seedField(name, spec)
  const picture = h("img", {class: "texel-preview", alt: `Contents of ${name}`, src: preview || null, hidden: !preview})
  const option = (/** @type {"mips" | "srgb"} */ key, /** @type {string} */ label, /** @type {string} */ title) => {
    const box = h("input", {type: "checkbox"})
    box.checked = spec[key] === true
    box.onchange = () => {
      spec[key] = box.checked
      changed()
    }
    return h("label", {class: "texel-option", title}, box, label)
  }
  const mips = option("mips", "mips", "All smaller levels, each texel the mean of four"),
    srgb = option("srgb", "sRGB", "Its colours are decoded to linear numbers when they are read")
  const area = h("span", {class: "three", style: `grid-template-columns: repeat(${size.length}, minmax(0, 1fr))`}, ...sizes)
  const arrange = () => {
    const given = spec.fill === "picture" || spec.fill === "file"
    area.hidden = given // the file determines the size
    seed.hidden = spec.fill !== "random"
    file.hidden = !given
    mips.hidden = writable || shape !== "2d"
    srgb.hidden = writable || components < 3 || spec.fill !== "picture"
  }
  fill.onchange = () => {
    for (const key of /** @type {const} */ (["array", "file", "words"])) delete spec[key]
    spec.fill = fill.value
    arrange()
    changed()
    if (spec.fill === "picture" || spec.fill === "file") file.querySelector("button")?.click()
  }
  seed.onchange = () => {
    spec.seed = +seed.value
    changed()
  }
  arrange()
  const el = h(
    "div",
    {class: "buf", "data-texture": name},
    h("p", {class: "texture"}, h("code", {title: name}, name), h("span", {class: "dim", title: type}, type), area, fill, seed),
    file,
    h("p", {class: "texel-options"}, picture, mips, srgb),
  )
  return {el, picture}
}

/**
 * A row for a sampler.
 * @param {string} name
 * @param {Spec} spec  changed by the widgets
 * @param {() => void} changed
 */
export function samplerRow(name, spec, changed) {
  const choice = (/** @type {"filter" | "address"} */ key, /** @type {string[]} */ values, /** @type {string} */ label) => {
    const select = h("select", {"aria-label": `${label} of ${name}`}, ...values.map((value) => h("option", {value}, value)))
    select.value = spec[key] ?? values[0]
    select.onchange = () => {
      spec[key] = select.value
      changed()
    }
    return select
  }
  return h(
    "div",
    {class: "buf", "data-sampler": name},
    h(
      "p",
      {class: "sampler"},
      h("code", {title: name}, name),
      h("span", {class: "dim"}, "sampler"),
      choice("filter", ["linear", "point"], "Filter"),
      choice("address", ["wrap", "mirror", "clamp", "border"], "Address mode"),
    ),
  )
}
