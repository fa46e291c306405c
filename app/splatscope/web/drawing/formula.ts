// A formula with the numbers of the current step: a row of letters, one of numbers, one of bits, then sentences that contain
// values.
import {h, style} from "#web/runtime/dom.ts"
import {aloud} from "#web/recording/aloud.ts"
import {floatFromBits, text as valueText} from "#web/recording/values.ts"
import {bits, Look} from "./look.ts"
import {onMoments, stageOf} from "./moments.ts"
import {type Field, parseField, splitEquation, splitSentence} from "./formula_text.ts"
import type {Render} from "#web/types.ts"

type Column = {letter: HTMLElement; number: HTMLElement; sign: boolean}
type Line = {el: HTMLElement; columns?: Column[]; paint(look: Look, stops: number[]): void}

const NO_VALUE = "–"
const REST = 200 // ms without another moment, after which equations that follow a hand are measured

export function render({model, el}: Render<"Formula">) {
  style(el)
  const root = h("div", {class: "numbers", "aria-live": "off"})
  let lines: Line[] = []

  const build = () => {
    const texts = model.text.split("\n").map((line) => line.trim())
    lines = texts.filter(Boolean).map((text) => (text.startsWith("= ") ? equation(text.slice(2), model.bits) : sentence(text)))
    root.replaceChildren(...lines.map((line) => line.el))
  }
  build()
  model.on("text", build)
  /** An equation that is too wide can be scrolled with the keyboard. */
  const reach = () => {
    for (const row of root.querySelectorAll<HTMLElement>(".eq")) row.tabIndex = row.scrollWidth > row.clientWidth ? 0 : -1
  }
  let rests = 0 // the timer that measures the painted equations: while a hand moves, each frame would pay for a layout
  const stop = onMoments(el, (moment, stops) => {
    const look = new Look(moment)
    for (const line of lines) line.paint(look, stops)
    shareWidths(lines.flatMap((line) => (line.columns ? [line.columns] : [])))
    clearTimeout(rests)
    rests = setTimeout(reach, stageOf(root)?.dataset.live === "browser" ? REST : 0)
  })
  model.on("remove", () => {
    clearTimeout(rests)
    stop()
  })
  return root
}

/** The text of a field now; null while it has no value. */
function textOf(field: Field, look: Look) {
  const value = look.value(field.expression)
  if (value === null) return null
  if (field.choice) return value ? field.choice[0] : field.choice[1]
  if (field.format?.startsWith("b")) return bits(value, +field.format.slice(1))
  if (field.format?.startsWith("x")) return `0x${(value >>> 0).toString(16).toUpperCase().padStart(8, "0")}`
  const digits = field.format ? +field.format : 4
  const text = look.text(field.expression, look.thread, digits)
  // 0.620 beside 0.507: as many digits, even zeros, unless the number is an integer or has an exponent
  const padded = field.format && text && /^−?[\d.]+$/.test(text) && !Number.isInteger(value)
  return padded ? value.toPrecision(digits).replace("-", "−") : text
}

/**
 * The texts of an equation's fields. All are from one moment, because numbers from two moments would not make an equation: from
 * now, or if one of them is not known yet, from the first moment when all are. `later` marks those that differ from now. If they
 * are never all known for the thread, nothing is shown.
 */
export function numbersAt(fields: Field[], look: Look, stops: number[]) {
  const expressions = fields.map(({expression}) => expression)
  const known = (at: Look) => expressions.every((expression) => at.value(expression) !== null)
  const shown = known(look) ? look : look.firstWith(expressions, stops)
  if (!known(shown)) return fields.map(() => ({text: null, value: null, later: true}))
  return fields.map((field) => {
    const text = textOf(field, shown)
    return {text, value: shown.value(field.expression), later: textOf(field, look) !== text}
  })
}

/** Give equations of the same shape the same columns: R′ above G′ above B′. */
function shareWidths(equations: Column[][]) {
  const shape = (columns: Column[]) => columns.map((column) => (column.sign ? "." : "#")).join("")
  const groups = new Map<string, Column[][]>()
  for (const columns of equations) groups.set(shape(columns), [...(groups.get(shape(columns)) ?? []), columns])
  for (const alike of groups.values())
    for (const at of alike[0].keys())
      for (const part of ["letter", "number"] as const) {
        const cells = alike.map((columns) => columns[at][part])
        const longest = Math.max(...cells.map((cell) => [...(cell.textContent ?? "")].length))
        for (const cell of cells) cell.style.minWidth = cells.length > 1 ? `${longest}ch` : ""
      }
}

/** Join what opens or closes a bracket, and an exponent, to the term that it stands at, so that they are close to it. */
function terms(words: (Field | string)[]) {
  const joined: {before: string; word: Field | string; after: string}[] = []
  let before = ""
  for (const word of words)
    if (typeof word === "string" && /^exp$|[(]$/.test(word)) before += word
    else if (typeof word === "string" && /^[),²]/.test(word)) joined[joined.length - 1].after += word
    else {
      joined.push({before, word, after: ""})
      before = ""
    }
  return joined
}

/**
 * An equation: a column for each of its terms, and a row each for letters, numbers and bits. Its left side and equals sign are
 * aligned with those of the equation above. Values that are not known yet are pale, and shown as they will be.
 * @param bitCount  0 for no row of bits
 */
function equation(text: string, bitCount: number): Line {
  const columns = terms(splitEquation(text)).map(({before, word, after}) => {
    const field = typeof word === "string" ? null : word
    const mine = field?.mine ? "mine" : ""
    const [label, value, digits] = [field ? field.label : word, field ? NO_VALUE : word, field ? "" : word].map((content) =>
      h("span", {class: mine}, String(content)),
    )
    const cell = (name: string, content: HTMLElement) => h("span", {class: name}, before, content, after)
    return {
      field,
      value,
      digits,
      sign: !field || Boolean(field.choice),
      letter: cell("s", label),
      number: cell(field?.format ? "d float" : "d", value),
      binary: cell("b", digits),
    }
  })
  const fields = columns.flatMap(({field}) => field ?? [])
  const rows = (some: typeof columns) => [
    ...some.map((column) => column.letter),
    ...some.map((column) => column.number),
    ...(bitCount ? some.map((column) => column.binary) : []),
  ]
  const right = columns.slice(2)
  const rest = h("div", {class: "right-side", style: `grid-template-columns: repeat(${right.length}, max-content)`}, ...rows(right))
  const alone = right.length ? "" : " alone"
  const el = h("div", {class: `eq${alone}${bitCount ? " with-bits" : ""}`, role: "math"}, ...rows(columns.slice(0, 2)), rest)
  const letters = columns.map(({letter}) => letter.textContent).join(" ")
  return {
    el,
    columns: right,
    paint(look, stops) {
      const now = numbersAt(fields, look, stops)
      const missing = now.some(({later}) => later)
      for (const {field, value, digits, number, binary} of columns) {
        const shown = field && now[fields.indexOf(field)]
        if (shown) {
          value.textContent = shown.text ?? NO_VALUE
          digits.textContent = shown.value === null ? "" : bits(shown.value, bitCount)
        }
        for (const el of [number, binary]) el.classList.toggle("later", shown ? shown.later : missing)
      }
      // read out cell by cell, its rows would run together
      const spoken = columns.map(({field, number}) => {
        const value = field?.format === "xf" ? now[fields.indexOf(field)].value : null
        return value === null ? number.textContent : `${number.textContent} (${valueText(floatFromBits(value), "float", 7)})`
      })
      el.ariaLabel = aloud(`${letters}, here ${spoken.join(" ")}`)
    },
  }
}

/** A sentence with values and `code` in it. */
function sentence(text: string): Line {
  const el = h("p")
  const fields: {field: Field; node: HTMLElement}[] = []
  for (const piece of splitSentence(text)) {
    if (piece.startsWith("`")) el.append(h("code", {}, piece.slice(1, -1)))
    else if (piece.startsWith("{")) {
      const field = parseField(piece.slice(1, -1))
      const node = field.choice ? h("span") : h("code", {class: field.mine ? "mine" : ""})
      fields.push({field, node})
      el.append(node)
    } else el.append(piece)
  }
  return {
    el,
    paint(look) {
      let known = true
      for (const {field, node} of fields) {
        const shown = textOf(field, look)
        if (shown === null) known = false
        node.textContent = shown ?? NO_VALUE
      }
      el.classList.toggle("unknown", !known) // hidden but still taking up space, so that nothing below moves
    },
  }
}
