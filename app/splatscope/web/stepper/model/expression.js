// What a reader types to find, to watch or to stop at: names, subscripts, members, numbers, and C's operators over them.
// Numbers are real numbers, so that T < 1/255 means what it says; a subscript is rounded down.

/**
 * @import {Lookup} from "./lookup.js"
 * @import {Recording} from "./recording.js"
 */

/** @typedef {(look: Lookup) => number | null} Value  null where something it names has no value */
/**
 * An expression that was understood.
 * @typedef {object} Expression
 * @property {Set<string>} names  variables and memories in it
 * @property {Value} value
 */
/** @typedef {{number?: number, name?: string, sign?: string}} Token  one of the three */

const TOKEN =
  /\s*(?:(0x[\da-f]+|\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)[fu]*|([A-Za-z_]\w*)|(<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>&|^!~()[\].,]))/iy
const same = (/** @type {number} */ a, /** @type {number} */ b) => a === b || (Number.isNaN(a) && Number.isNaN(b))

/**
 * Operators of two operands by how tightly they bind, the loosest first, as in C.
 * @type {Record<string, (a: number, b: number) => number>[]}
 */
const LEVELS = [
  {"||": (a, b) => +(a || b)},
  {"&&": (a, b) => +(a && b)},
  {"|": (a, b) => (a | b) >>> 0},
  {"^": (a, b) => (a ^ b) >>> 0},
  {"&": (a, b) => (a & b) >>> 0},
  {"==": (a, b) => +same(a, b), "!=": (a, b) => +!same(a, b)},
  {"<": (a, b) => +(a < b), "<=": (a, b) => +(a <= b), ">": (a, b) => +(a > b), ">=": (a, b) => +(a >= b)},
  {"<<": (a, b) => (a << b) >>> 0, ">>": (a, b) => a >> b},
  {"+": (a, b) => a + b, "-": (a, b) => a - b},
  {"*": (a, b) => a * b, "/": (a, b) => a / b, "%": (a, b) => a % b},
]
/** @type {Record<string, (x: number) => number>} */
const UNARY = {"-": (x) => -x, "!": (x) => +!x, "~": (x) => ~x >>> 0}
const BITS = new DataView(new ArrayBuffer(4))
/** @type {Record<string, (...values: number[]) => number>} */
const CALLS = {
  min: Math.min,
  max: Math.max,
  abs: Math.abs,
  floor: Math.floor,
  sqrt: Math.sqrt,
  exp: Math.exp,
  isnan: (x) => +Number.isNaN(x),
  asuint: (x) => {
    BITS.setFloat32(0, x)
    return BITS.getUint32(0)
  },
  asfloat: (x) => {
    BITS.setUint32(0, x)
    return BITS.getFloat32(0)
  },
}
/** @type {Record<string, number>} */
const CONSTANTS = {nan: NaN, inf: Infinity, true: 1, false: 0}
const EXAMPLES = "T < 1/255, keys[i] + 1, NaN"

/**
 * Parse an expression.
 * @param {string} text
 * @returns {Expression}
 * @throws {Error} one line for the reader, for what cannot be read
 */
export function parse(text) {
  const parser = new Parser(text)
  const value = parser.binary(0)
  if (!parser.done) throw new Error("There is more after the end of the expression.")
  return {names: parser.names, value}
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

/** Recursive descent over the tokens; each method reads what it is called after and returns what evaluates it. */
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
   * Read one of these signs, if it comes next.
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
   * Operators that bind as tightly as a level or tighter, from left to right.
   * @param {number} level
   * @returns {Value}
   */
  binary(level) {
    if (level === LEVELS.length) return this.#unary()
    let left = this.binary(level + 1)
    for (;;) {
      const sign = this.#sign(...Object.keys(LEVELS[level]))
      if (!sign) return left
      const a = left,
        b = this.binary(level + 1),
        act = LEVELS[level][sign]
      left = (look) => {
        const x = a(look),
          y = b(look)
        return x === null || y === null ? null : act(x, y)
      }
    }
  }

  /** @returns {Value} */
  #unary() {
    const sign = this.#sign("-", "!", "~")
    if (!sign) return this.#primary()
    const operand = this.#unary()
    return (look) => {
      const x = operand(look)
      return x === null ? null : UNARY[sign](x)
    }
  }

  /** @returns {Value} */
  #primary() {
    const token = this.tokens[this.#at++] ?? {}
    const {number, name} = token
    if (number !== undefined) return () => number
    if (token.sign === "(") {
      const inner = this.binary(0)
      this.#need(")")
      return inner
    }
    if (!name) throw new Error(`Something is missing: write a name or a number, as in ${EXAMPLES}.`)
    const constant = CONSTANTS[name.toLowerCase()]
    if (constant !== undefined) return () => constant
    if (this.tokens[this.#at]?.sign === "(") return this.#call(name)
    this.names.add(name)
    return this.#steps(name)
  }

  /**
   * Subscripts and members behind a name.
   * @param {string} name
   * @returns {Value}
   */
  #steps(name) {
    /** @type {(string | Value)[]} */
    const steps = []
    for (;;) {
      const sign = this.#sign("[", ".")
      if (!sign) break
      if (sign === "[") {
        steps.push(this.binary(0))
        this.#need("]")
        continue
      }
      const member = this.tokens[this.#at]?.name
      if (!member) throw new Error("After a “.” a member is missing, as in w.x.")
      this.#at++
      steps.push(`.${member}`)
    }
    const members = steps.filter((step) => typeof step === "string")
    if (members.length === steps.length) return (look) => look(name, members)
    return (look) => {
      /** @type {(string | number)[]} */
      const reached = []
      for (const step of steps) {
        const value = typeof step === "string" ? step : step(look)
        if (value === null) return null
        reached.push(typeof value === "string" ? value : Math.floor(value))
      }
      return look(name, reached)
    }
  }

  /**
   * @param {string} name
   * @returns {Value}
   */
  #call(name) {
    const act = Object.hasOwn(CALLS, name) ? CALLS[name] : null
    if (!act) throw new Error(`${name}() is not known here: ${Object.keys(CALLS).join(", ")} are.`)
    this.#need("(")
    const given = [this.binary(0)]
    while (this.#sign(",")) given.push(this.binary(0))
    this.#need(")")
    return (look) => {
      const values = given.map((one) => one(look))
      return values.some((value) => value === null) ? null : act(.../** @type {number[]} */ (values))
    }
  }
}

/**
 * Check that an expression means something in a recording.
 * @template {Expression} Question
 * @param {Question} question
 * @param {Recording} recording
 * @returns {Question}
 * @throws {Error} one line for the reader, if a name in it means nothing
 */
export function known(question, recording) {
  const there = new Set([...recording.variables.map((v) => v.name.split(/[.[]/)[0]), ...recording.memories.map((m) => m.name)])
  const stranger = [...question.names].find((name) => !there.has(name))
  if (stranger) throw new Error(`No variable or memory is called ${stranger}.`)
  return question
}
