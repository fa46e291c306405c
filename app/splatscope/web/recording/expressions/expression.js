// The expressions that a reader types to find, watch or stop: names, subscripts, members, numbers and C's operators, with Slang's
// casts, swizzles and functions. Subscripts are rounded down.
import {FUNCTIONS, LEVELS, UNARY, cast, isTrue, scalar, select} from "./quantities.js"
import {ids} from "./ids.js"
import {shape} from "#web/recording/values.js"

/**
 * @import {Lookup, Step} from "./lookup.js"
 * @import {Format, Quantity} from "./quantities.js"
 * @import {Recording} from "#web/recording/recording.js"
 */

/** @typedef {(look: Lookup) => Quantity | null} Evaluate  null if something in it has no value */
/**
 * A parsed expression.
 * @typedef {object} Expression
 * @property {Set<string>} names  variables, memories, constants and ids in it
 * @property {Evaluate} quantity
 * @property {(look: Lookup) => number | null} value  its number; for a vector the first, for a condition over a vector whether all are true
 * @property {Format} format  the format given after it, as in `, x`
 */
/** @typedef {{number?: number, name?: string, sign?: string}} Token  one of the three */

const TOKEN =
  /\s*(?:(0x[\da-f]+|0b[01]+|\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)[fuh]*|([A-Za-z_]\w*)|(<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>&|^!~()[\].,?:]))/iy
/** @type {Record<string, number>} */
const CONSTANTS = {nan: NaN, inf: Infinity, true: 1, false: 0}
/** @type {Record<string, string>} */
const ID_CALLS = {WaveGetLaneIndex: "lane", WaveGetLaneCount: "wave_size"}
const FORMATS = ["x", "b", "d"]
const EXAMPLES = "T < 1/255, keys[i] + 1, NaN"

/**
 * Parse an expression.
 * @param {string} text
 * @returns {Expression}
 * @throws {Error} one line for the reader, if it cannot be parsed
 */
export function parse(text) {
  const parser = new Parser(text)
  const quantity = parser.choice(),
    format = parser.format()
  if (!parser.done) throw new Error("There is extra text after the end of the expression.")
  return {
    names: parser.names,
    quantity,
    value: (look) => {
      const found = quantity(look)
      if (!found) return null
      return found.parts.length > 1 && found.kinds[0] === "bool" ? +isTrue(found) : found.parts[0]
    },
    format,
  }
}

/**
 * Split a text into tokens.
 * @param {string} text
 */
function tokenize(text) {
  /** @type {Token[]} */
  const tokens = []
  const end = text.trimEnd().length
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < end) {
    const at = TOKEN.lastIndex,
      match = TOKEN.exec(text)
    if (!match) throw new Error(`“${text.slice(at).trim()[0]}” is not understood here. Try: ${EXAMPLES}.`)
    tokens.push(match[1] !== undefined ? {number: Number(match[1])} : match[2] !== undefined ? {name: match[2]} : {sign: match[3]})
  }
  return tokens
}

/** A recursive descent parser. Each method parses what it is named after and returns the function that evaluates it. */
class Parser {
  /** @type {Set<string>} */
  names = new Set()
  #at = 0

  /** @param {string} text */
  constructor(text) {
    this.tokens = tokenize(text)
  }

  get done() {
    return this.#at >= this.tokens.length
  }

  /**
   * Consume one of these signs, if it comes next.
   * @param {string[]} wanted
   */
  #sign(...wanted) {
    const sign = this.tokens[this.#at]?.sign
    if (sign === undefined || !wanted.includes(sign)) return null
    this.#at++
    return sign
  }

  /** @param {string} wanted */
  #need(wanted) {
    if (!this.#sign(wanted)) throw new Error(`A “${wanted}” is missing.`)
  }

  /**
   * The format after an expression, as in `bits, x`.
   * @returns {Format}
   */
  format() {
    const [comma, after] = this.tokens.slice(this.#at)
    if (comma?.sign !== "," || this.tokens.length !== this.#at + 2) return ""
    if (!after.name || !FORMATS.includes(after.name))
      throw new Error("After “,” write a format: x for hexadecimal, b for binary, d for decimal.")
    this.#at += 2
    return /** @type {Format} */ (after.name)
  }

  /**
   * `a ? b : c`, or an expression that binds more tightly.
   * @returns {Evaluate}
   */
  choice() {
    const condition = this.#binary(0)
    if (!this.#sign("?")) return condition
    const then = this.choice()
    this.#need(":")
    const otherwise = this.choice()
    return (look) => {
      const found = condition(look)
      return found && (isTrue(found) ? then : otherwise)(look)
    }
  }

  /**
   * Operators of at least this precedence, from left to right.
   * @param {number} level
   * @returns {Evaluate}
   */
  #binary(level) {
    if (level === LEVELS.length) return this.#unary()
    let left = this.#binary(level + 1)
    for (;;) {
      const sign = this.#sign(...Object.keys(LEVELS[level]))
      if (!sign) return left
      const a = left,
        b = this.#binary(level + 1),
        act = LEVELS[level][sign]
      left = (look) => {
        const x = a(look),
          y = b(look)
        return x && y && act(x, y)
      }
    }
  }

  /** @returns {Evaluate} */
  #unary() {
    const sign = this.#sign("-", "+", "!", "~")
    const type = sign ? null : this.#castType()
    if (!sign && !type) return this.#selected(this.#primary())
    const operand = this.#unary()
    return (look) => {
      const x = operand(look)
      return x && (type ? cast([x], type) : UNARY[/** @type {string} */ (sign)](x))
    }
  }

  /** The type of `(int)`, if a cast comes next; otherwise null. */
  #castType() {
    const [open, type, shut] = this.tokens.slice(this.#at)
    if (open?.sign !== "(" || shut?.sign !== ")" || !type?.name || !shape(type.name)) return null
    this.#at += 3
    return type.name
  }

  /** @returns {Evaluate} */
  #primary() {
    const token = this.tokens[this.#at++] ?? {}
    const {number, name} = token
    if (number !== undefined) return () => scalar(number)
    if (token.sign === "(") {
      const inner = this.choice()
      this.#need(")")
      return inner
    }
    if (!name) throw new Error(`Something is missing: write a name or a number, as in ${EXAMPLES}.`)
    const constant = CONSTANTS[name.toLowerCase()]
    if (constant !== undefined) return () => scalar(constant, name.toLowerCase() === "true" || constant === 0 ? "bool" : "")
    if (this.tokens[this.#at]?.sign === "(") return this.#call(name)
    this.names.add(name)
    const steps = this.#steps()
    return (look) => {
      const reached = steps(look)
      return reached && look(name, reached)
    }
  }

  /**
   * Subscripts and swizzles after a parenthesis or a call.
   * @param {Evaluate} inner
   * @returns {Evaluate}
   */
  #selected(inner) {
    const sign = this.tokens[this.#at]?.sign
    if (sign !== "[" && sign !== ".") return inner
    const steps = this.#steps()
    return (look) => {
      const reached = steps(look)
      let found = reached && inner(look)
      for (const step of reached ?? []) found = found && select(found, step)
      return found
    }
  }

  /**
   * Any number of subscripts and members.
   * @returns {(look: Lookup) => Step[] | null}
   */
  #steps() {
    /** @type {(string | Evaluate)[]} */
    const steps = []
    for (;;) {
      const sign = this.#sign("[", ".")
      if (!sign) break
      if (sign === "[") {
        steps.push(this.choice())
        this.#need("]")
        continue
      }
      const member = this.tokens[this.#at]?.name
      if (!member) throw new Error("After “.” write a member, as in w.x.")
      this.#at++
      steps.push(`.${member}`)
    }
    return (look) => {
      /** @type {Step[]} */
      const reached = []
      for (const step of steps) {
        const value = typeof step === "string" ? step : step(look)?.parts
        if (value === undefined) return null
        reached.push(...(typeof value === "string" ? [value] : value.map(Math.floor)))
      }
      return reached
    }
  }

  /**
   * @param {string} name
   * @returns {Evaluate}
   */
  #call(name) {
    this.#need("(")
    /** @type {Evaluate[]} */
    const given = []
    if (!this.#sign(")")) {
      do given.push(this.choice())
      while (this.#sign(","))
      this.#need(")")
    }
    if (Object.hasOwn(ID_CALLS, name) && !given.length) return (look) => look(ID_CALLS[name], [])
    const act = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : null
    if (!act && !shape(name)) throw new Error(`${name}() is not known here. Known functions: ${Object.keys(FUNCTIONS).join(", ")}.`)
    if (!given.length) throw new Error(`Something is missing: ${name}() takes a value.`)
    return (look) => {
      /** @type {Quantity[]} */
      const values = []
      for (const one of given) {
        const value = one(look)
        if (!value) return null
        values.push(value)
      }
      return act ? act(...values) : cast(values, name)
    }
  }
}

/**
 * Check that all names of an expression exist in a recording.
 * @template {Expression} Question
 * @param {Question} question
 * @param {Recording} recording
 * @returns {Question}
 * @throws {Error} one line for the reader, if a name does not exist
 */
export function known(question, recording) {
  const there = new Set([
    ...recording.variables.map((v) => v.name.split(/[.[]/)[0]),
    ...recording.memories.map((m) => m.name.split(".")[0]),
    ...recording.uniforms.flatMap(({name}) => [name.split(/[.[]/)[0], name.split(".")[1]?.split("[")[0] ?? ""]),
    ...recording.constants.keys(),
    ...ids,
  ])
  const stranger = [...question.names].find((name) => !there.has(name))
  if (stranger) throw new Error(`No variable or memory is called ${stranger}.`)
  return question
}
