// The expressions that a reader types to find, watch or stop: names, subscripts, members, numbers and C's operators, with Slang's
// casts, swizzles and functions. Subscripts are rounded down.
import {FUNCTIONS, LEVELS, UNARY, cast, isTrue, scalar, select, type Format, type Quantity} from "./quantities.ts"
import {ids} from "./ids.ts"
import {shape} from "#web/recording/values.ts"
import type {Recording} from "#web/recording/recording.ts"
import type {Lookup, Step} from "./lookup.ts"

/** Null if something in it has no value. */
export type Evaluate = (look: Lookup) => Quantity | null

/** A parsed expression. */
export interface Expression {
  /** Variables, memories, constants and ids in it. */
  names: Set<string>
  quantity: Evaluate
  /** Its number; for a vector the first, for a condition over a vector whether all are true. */
  value: (look: Lookup) => number | null
  /** The format given after it, as in `, x`. */
  format: Format
}

/** One of the three. */
type Token = {number?: number; name?: string; sign?: string}

const TOKEN =
  /\s*(?:(0x[\da-f]+|0b[01]+|\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)[fuh]*|([A-Za-z_]\w*)|(<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>&|^!~()[\].,?:]))/iy
const CONSTANTS: Record<string, number> = {nan: NaN, inf: Infinity, true: 1, false: 0}
const ID_CALLS: Record<string, string> = {WaveGetLaneIndex: "lane", WaveGetLaneCount: "wave_size"}
const FORMATS = ["x", "b", "d"]
const EXAMPLES = "T < 1/255, keys[i] + 1, NaN"

/**
 * Parse an expression.
 * @throws {Error} one line for the reader, if it cannot be parsed
 */
export function parse(text: string): Expression {
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

/** Split a text into tokens. */
function tokenize(text: string) {
  const tokens: Token[] = []
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
  names = new Set<string>()
  #at = 0
  tokens: Token[]

  constructor(text: string) {
    this.tokens = tokenize(text)
  }

  get done() {
    return this.#at >= this.tokens.length
  }

  /** Consume one of these signs, if it comes next. */
  #sign(...wanted: string[]) {
    const sign = this.tokens[this.#at]?.sign
    if (sign === undefined || !wanted.includes(sign)) return null
    this.#at++
    return sign
  }

  #need(wanted: string) {
    if (!this.#sign(wanted)) throw new Error(`A “${wanted}” is missing.`)
  }

  /** The format after an expression, as in `bits, x`. */
  format(): Format {
    const [comma, after] = this.tokens.slice(this.#at)
    if (comma?.sign !== "," || this.tokens.length !== this.#at + 2) return ""
    if (!after.name || !FORMATS.includes(after.name))
      throw new Error("After “,” write a format: x for hexadecimal, b for binary, d for decimal.")
    this.#at += 2
    return after.name as Format
  }

  /** `a ? b : c`, or an expression that binds more tightly. */
  choice(): Evaluate {
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

  /** Operators of at least this precedence, from left to right. */
  #binary(level: number): Evaluate {
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

  #unary(): Evaluate {
    const sign = this.#sign("-", "+", "!", "~")
    const type = sign ? null : this.#castType()
    if (!sign && !type) return this.#selected(this.#primary())
    const operand = this.#unary()
    return (look) => {
      const x = operand(look)
      return x && (type ? cast([x], type) : UNARY[sign as string](x))
    }
  }

  /** The type of `(int)`, if a cast comes next; otherwise null. */
  #castType() {
    const [open, type, shut] = this.tokens.slice(this.#at)
    if (open?.sign !== "(" || shut?.sign !== ")" || !type?.name || !shape(type.name)) return null
    this.#at += 3
    return type.name
  }

  #primary(): Evaluate {
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

  /** Subscripts and swizzles after a parenthesis or a call. */
  #selected(inner: Evaluate): Evaluate {
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

  /** Any number of subscripts and members. */
  #steps(): (look: Lookup) => Step[] | null {
    const steps: (string | Evaluate)[] = []
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
      const reached: Step[] = []
      for (const step of steps) {
        const value = typeof step === "string" ? step : step(look)?.parts
        if (value === undefined) return null
        reached.push(...(typeof value === "string" ? [value] : value.map(Math.floor)))
      }
      return reached
    }
  }

  #call(name: string): Evaluate {
    this.#need("(")
    const given: Evaluate[] = []
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
      const values: Quantity[] = []
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
 * @throws {Error} one line for the reader, if a name does not exist
 */
export function known<Question extends Expression>(question: Question, recording: Recording): Question {
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
