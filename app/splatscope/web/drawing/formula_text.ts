// Parses the text of a formula: `{expression}` with a format for its value.
//
// `{i ^ j}` the value, `{T:6}` with 6 digits, `{l:b4}` in base 2, `{l:x}` in base 16, `{l:xf}` in base 16 and spoken as the
// float whose bits it is, `{l*}` in the colour of the chosen thread, `{l = i ^ j}` shown as l, `{i < l ? goes up | goes down}`
// one of two texts, `{< = T < 1/255 ? < | ≥}` that with a label.

export interface Field {
  expression: string
  /** Its name in the row of letters. */
  label: string
  /** Whether it has the colour of the chosen thread. */
  mine: boolean
  /** Digits, `b` and digits in base 2, `x` or `xf`. */
  format?: string
  choice?: [yes: string, no: string]
}

const FIELD = /\{([^{}]+)\}/

/** Parse the text between braces. */
export function parseField(text: string): Field {
  const [, condition, yes, no] = /^(.+?)\?([^|]*)\|(.*)$/.exec(text) ?? []
  if (condition) {
    const [, label = "", expression] = /^\s*(?:(\S+) = )?(.+)$/.exec(condition) ?? []
    return {expression, label, mine: false, choice: [yes.trim(), no.trim()]}
  }
  const [, before, format] = /^(.*?)(?::(b?\d+|xf?))?$/.exec(text) as RegExpExecArray
  const mine = before.trimEnd().endsWith("*")
  const body = mine ? before.trimEnd().slice(0, -1) : before
  const [, label, expression] = /^\s*([^=!<>]+?)\s*=(?!=)\s*(.+)$/.exec(body) ?? [null, body.trim(), body.trim()]
  return {expression, label, mine, format}
}

/** Split an equation, `{l*} = {i*} ⊕ {j}`, into fields and signs. */
export function splitEquation(text: string): (Field | string)[] {
  return (text.match(/\{[^{}]+\}|[^\s{}]+/g) ?? []).map((word) => {
    const field = FIELD.exec(word)
    return field ? parseField(field[1]) : word
  })
}

/** Split a sentence into text, `{fields}` and `code`, each with its braces or backticks. */
export const splitSentence = (text: string) => text.split(/(\{[^{}]+\}|`[^`]+`)/).filter(Boolean)
