// Widgets for textures, with a preview, and for samplers.
import {h} from "#web/runtime/dom.ts"
import type {PublicTexture, Spec} from "#components"

const WORDS: Record<string, string> = {
  zeros: "zeros",
  gradient: "a gradient",
  random: "random",
  picture: "a picture",
  file: "an array file",
}
const EDGES = [64, 64, 4]

/** A field for the seed of a random fill. */
export const seedField = (name: string, spec: Spec) =>
  h("input", {type: "number", min: 0, step: 1, value: spec.seed ?? 1, "aria-label": `Seed of ${name}`, title: "Seed"})

const axesOf = (shape: string) => (shape.startsWith("1d") ? 1 : shape.startsWith("3d") || shape.endsWith("_array") ? 3 : 2)

/**
 * Rows for a texture: its fill, size and options, and a preview.
 * @param spec  changed by the widgets
 * @param file  the part that chooses a picture or an array
 */
export function textureRow(
  {name, type, shape, components, writable, preview}: PublicTexture,
  spec: Spec,
  fills: string[],
  file: HTMLElement,
  changed: () => void,
) {
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
  const option = (key: "mips" | "srgb", label: string, title: string) => {
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
    for (const key of ["array", "file", "words"] as const) delete spec[key]
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
 * @param spec  changed by the widgets
 */
export function samplerRow(name: string, spec: Spec, changed: () => void) {
  const choice = (key: "filter" | "address", values: string[], label: string) => {
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
