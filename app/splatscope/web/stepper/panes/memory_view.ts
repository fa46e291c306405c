// Ways to display a memory: its words in hexadecimal or binary, as another type, as structs, as a picture.
import {h} from "#web/runtime/dom.ts"
import {halves} from "#web/recording/expressions/quantities.ts"
import {number, shape, text} from "#web/recording/values.ts"
import type {State} from "#web/recording/state.ts"
import type {Memory} from "#web/types.ts"

/** A way to display a memory. `columns` are applied to consecutive words. */
interface View {
  columns: {label: string; show: (word: number) => string}[]
  /** For words that are long, how many of them make a row of a memory without rows of its own. */
  perRow?: number
  /** Cells per row of a picture, 0 for no picture. */
  picture: number
}

const WORD = new Uint32Array(1)
const MOST_COLUMNS = 32
const SHOW: Record<string, (word: number) => string> = {
  hex: (word) => `0x${(word >>> 0).toString(16)}`,
  binary: (word) =>
    (word >>> 0)
      .toString(2)
      .padStart(32, "0")
      .replace(/(.{8})(?=.)/g, "$1 "),
  half: (word) =>
    halves(word)
      .map((value) => text(value, "float", 3))
      .join(", "),
}
const PER_ROW: Record<string, number> = {hex: 4, binary: 1}
const CHOICES: [value: string, label: string, asks?: string][] = [
  ["", "as declared"],
  ["hex", "hex"],
  ["binary", "binary"],
  ["uint", "uint"],
  ["int", "int"],
  ["float", "float"],
  ["half", "two halves"],
  ["struct", "structs …", "float3 place, uint id"],
  ["picture", "picture", "cells per row"],
]

/** The function that shows a word as a type of one word; null for other types. */
function shows(type: string) {
  if (SHOW[type]) return SHOW[type]
  const form = shape(type)
  if (form?.count !== 1 || form.size !== 1 || form.scalar === "half") return null
  return (word: number) => {
    WORD[0] = word
    return text(number(WORD, 0, form.scalar), form.scalar)
  }
}

/** The fields of a struct, `float3 place, uint id`, as a column for each word; null if the text is not valid. */
export function structView(fields: string) {
  const columns: View["columns"] = []
  for (const field of fields.split(/[,;]/)) {
    if (!field.trim()) continue
    const [, type, name = ""] = /^\s*(\w+)\s*(\w+)?\s*$/.exec(field) ?? []
    const form = shape(type)
    if (type === "half2" || type === "half") columns.push({label: name, show: SHOW.half})
    else {
      const show = form && form.size === 1 ? shows(form.scalar) : shows(type ?? "")
      if (!show) return null
      const count = form?.count ?? 1
      for (let i = 0; i < count; i++) columns.push({label: count > 1 ? `${name}.${"xyzw"[i] ?? i}` : name, show})
    }
  }
  return columns.length && columns.length <= MOST_COLUMNS ? columns : null
}

/** The control that chooses how a memory is displayed. */
export class ViewChoice {
  view: View | null = null // null: as declared
  memory: Memory
  square: number
  changed: () => void
  select: HTMLSelectElement
  input: HTMLInputElement
  el: HTMLSpanElement

  /** @param square  default for the cells per row of its picture */
  constructor(memory: Memory, square: number, changed: () => void) {
    this.memory = memory
    this.square = square
    this.changed = changed
    this.select = h(
      "select",
      {class: "view", "aria-label": `Show ${memory.name} as`, title: "How its words are displayed"},
      ...CHOICES.map(([value, label]) => h("option", {value}, label)),
    )
    this.input = h("input", {class: "view-in", spellcheck: "false", autocomplete: "off", hidden: true})
    this.el = h("span", {class: "views"}, this.select, this.input)
    this.select.onchange = () => {
      const asks = CHOICES.find(([value]) => value === this.select.value)?.[2]
      this.input.hidden = !asks
      this.input.placeholder = asks ?? ""
      this.input.ariaLabel = asks ? `${this.memory.name}: ${asks}` : ""
      this.input.value = this.select.value === "picture" ? String(this.square) : ""
      if (asks && this.select.value === "struct") this.input.focus()
      this.#read()
    }
    this.input.onchange = () => this.#read()
  }

  /** The current choice, so that it can be restored. */
  get chosen() {
    return [this.select.value, this.input.value]
  }

  /** Restore an earlier choice. */
  choose([value, words]: string[]) {
    this.select.value = value
    const asks = CHOICES.find(([one]) => one === value)?.[2]
    this.input.hidden = !asks
    this.input.value = words
    this.#read()
  }

  #read() {
    const {value} = this.select
    const columns = value === "struct" ? structView(this.input.value) : null
    const show = shows(value)
    this.input.setAttribute("aria-invalid", String(value === "struct" && this.input.value !== "" && !columns))
    this.view = columns
      ? {columns, picture: 0}
      : show
        ? {columns: [{label: "", show}], picture: 0, perRow: PER_ROW[value]}
        : value === "picture"
          ? {columns: [], picture: Math.max(1, Math.min(4096, Math.floor(+this.input.value) || this.square))}
          : null
    this.changed()
  }
}

/**
 * Draw a memory as a picture with a pixel for each cell: grey from its smallest to its largest number, or its first three floats as
 * red, green and blue from 0 to 1. Unknown values are transparent, NaN and infinity magenta.
 * @param m  its number
 * @param width  cells per row
 */
export function drawPicture(canvas: HTMLCanvasElement, memory: Memory, m: number, state: State, width: number) {
  const {count, parts} = memory
  const last = count ? memory.index(count - 1) : 0
  const height = Math.min(4096, Math.ceil((last + 1) / width))
  canvas.width = width
  canvas.height = Math.max(1, height)
  canvas.style.setProperty("--ratio", String(width / canvas.height))
  const pen = canvas.getContext("2d") as CanvasRenderingContext2D
  const image = pen.createImageData(width, Math.max(1, height))
  const coloured = parts.length >= 3 && parts.slice(0, 3).every(([, scalar]) => scalar === "float" || scalar === "half")
  let low = Infinity,
    high = -Infinity
  if (coloured) [low, high] = [0, 1]
  else
    for (let cell = 0; cell < count; cell++) {
      const value = state.cellNumber(m, cell)
      if (value === null || !Number.isFinite(value)) continue
      low = Math.min(low, value)
      high = Math.max(high, value)
    }
  for (let cell = 0; cell < count; cell++) {
    const values = (coloured ? [0, 1, 2] : [0, 0, 0]).flatMap((part) => state.cellNumber(m, cell, part) ?? [])
    const at = memory.index(cell) * 4
    if (values.length < 3 || at >= image.data.length) continue
    const wrong = values.some((value) => !Number.isFinite(value))
    values.forEach((value, i) => {
      image.data[at + i] = wrong ? [255, 0, 255][i] : high > low ? (((value - low) / (high - low)) as number) * 255 : 128
    })
    image.data[at + 3] = 255
  }
  pen.putImageData(image, 0, 0)
  return coloured
    ? "red, green and blue from 0 to 1"
    : high >= low
      ? `${text(low, "float")} black, ${text(high, "float")} white`
      : "nothing written yet"
}
