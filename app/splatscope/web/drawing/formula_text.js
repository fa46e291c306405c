// Parses the text of a formula: `{expression}` with a format for its value.
//
// `{i ^ j}` the value, `{T:6}` with 6 digits, `{l:b4}` in base 2, `{l:x}` in base 16, `{l:xf}` in base 16 and spoken as the
// float whose bits it is, `{l*}` in the colour of the chosen thread, `{l = i ^ j}` shown as l, `{i < l ? goes up | goes down}`
// one of two texts, `{< = T < 1/255 ? < | ≥}` that with a label.

/**
 * @typedef {object} Field
 * @property {string} expression
 * @property {string} label  its name in the row of letters
 * @property {boolean} mine  whether it has the colour of the chosen thread
 * @property {string} [format]  digits, `b` and digits in base 2, `x` or `xf`
 * @property {[yes: string, no: string]} [choice]
 */

const FIELD = /\{([^{}]+)\}/

/**
 * Parse the text between braces.
 * @param {string} text
 * @returns {Field}
 */
export function parseField(text) {
  const [, condition, yes, no] = /^(.+?)\?([^|]*)\|(.*)$/.exec(text) ?? []
  if (condition) {
    const [, label = "", expression] = /^\s*(?:(\S+) = )?(.+)$/.exec(condition) ?? []
    return {expression, label, mine: false, choice: [yes.trim(), no.trim()]}
  }
  const [, before, format] = /** @type {RegExpExecArray} */ (/^(.*?)(?::(b?\d+|xf?))?$/.exec(text))
  const mine = before.trimEnd().endsWith("*")
  const body = mine ? before.trimEnd().slice(0, -1) : before
  const [, label, expression] = /^\s*([^=!<>]+?)\s*=(?!=)\s*(.+)$/.exec(body) ?? [null, body.trim(), body.trim()]
  return {expression, label, mine, format}
}

/**
 * Split an equation, `{l*} = {i*} ⊕ {j}`, into fields and signs.
 * @param {string} text
 * @returns {(Field | string)[]}
 */
export function splitEquation(text) {
  return (text.match(/\{[^{}]+\}|[^\s{}]+/g) ?? []).map((word) => {
    const field = FIELD.exec(word)
    return field ? parseField(field[1]) : word
  })
}

/**
 * Split a sentence into text, `{fields}` and `code`, each with its braces or backticks.
 * @param {string} text
 */
export const splitSentence = (text) => text.split(/(\{[^{}]+\}|`[^`]+`)/).filter(Boolean)
