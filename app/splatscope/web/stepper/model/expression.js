// What a reader types to find, to watch or to stop at: names, subscripts, members, numbers, and C's operators over them.
// Numbers are real numbers, so that T < 1/255 means what it says; a subscript is rounded down.

export {lookup} from "./lookup.js"
const TOKEN =
  /\s*(?:(0x[\da-f]+|\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)[fu]*|([A-Za-z_]\w*)|(<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>&|^!~()[\].,]))/iy
const LEVELS = [
  ["||"],
  ["&&"],
  ["|"],
  ["^"],
  ["&"],
  ["==", "!="],
  ["<", "<=", ">", ">="],
  ["<<", ">>"],
  ["+", "-"],
  ["*", "/", "%"],
]
const same = (a, b) => a === b || (Number.isNaN(a) && Number.isNaN(b))
const DO = {
  "||": (a, b) => +(a || b),
  "&&": (a, b) => +(a && b),
  "|": (a, b) => (a | b) >>> 0,
  "^": (a, b) => (a ^ b) >>> 0,
  "&": (a, b) => (a & b) >>> 0,
  "==": (a, b) => +same(a, b),
  "!=": (a, b) => +!same(a, b),
  "<": (a, b) => +(a < b),
  "<=": (a, b) => +(a <= b),
  ">": (a, b) => +(a > b),
  ">=": (a, b) => +(a >= b),
  "<<": (a, b) => (a << b) >>> 0,
  ">>": (a, b) => a >> b,
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "%": (a, b) => a % b,
}
const BITS = new DataView(new ArrayBuffer(4))
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
const EXAMPLES = "T < 1/255, keys[i] + 1, NaN"

// {names, value(look)}; `look(name, steps)` gives a number or null, steps being what follows the name: 3 for [3], ".x" for .x.
// Throws one line for what it cannot read.
export function parse(text) {
  const tokens = [],
    names = new Set()
  TOKEN.lastIndex = 0
  const end = text.trimEnd().length
  while (TOKEN.lastIndex < end) {
    const at = TOKEN.lastIndex,
      match = TOKEN.exec(text)
    if (!match) throw new Error(`“${text.slice(at).trim()[0]}” is not understood here. Try: ${EXAMPLES}.`)
    tokens.push(match[1] !== undefined ? {number: Number(match[1])} : match[2] !== undefined ? {name: match[2]} : {sign: match[3]})
  }
  let at = 0
  const sign = (...wanted) => (wanted.includes(tokens[at]?.sign) ? tokens[at++].sign : null)
  const need = (wanted) => {
    if (!sign(wanted)) throw new Error(`A “${wanted}” is missing.`)
  }

  const binary = (level) => {
    if (level === LEVELS.length) return unary()
    let left = binary(level + 1)
    for (let op; (op = sign(...LEVELS[level])); ) {
      const a = left,
        b = binary(level + 1),
        act = DO[op]
      left = (look) => {
        const x = a(look),
          y = b(look)
        return x === null || y === null ? null : act(x, y)
      }
    }
    return left
  }
  const unary = () => {
    const op = sign("-", "!", "~")
    if (!op) return primary()
    const of = unary(),
      act = {"-": (x) => -x, "!": (x) => +!x, "~": (x) => ~x >>> 0}[op]
    return (look) => {
      const x = of(look)
      return x === null ? null : act(x)
    }
  }
  const primary = () => {
    const token = tokens[at++]
    if (token?.number !== undefined) return () => token.number
    if (token?.sign === "(") {
      const inner = binary(0)
      need(")")
      return inner
    }
    if (!token?.name) throw new Error(`Something is missing: write a name or a number, as in ${EXAMPLES}.`)
    const constant = {nan: NaN, inf: Infinity, true: 1, false: 0}[token.name.toLowerCase()]
    if (constant !== undefined) return () => constant
    if (tokens[at]?.sign === "(") return call(token.name)
    names.add(token.name)
    const steps = []
    for (let op; (op = sign("[", ".")); ) {
      if (op === "[") {
        steps.push(binary(0))
        need("]")
        continue
      }
      if (!tokens[at]?.name) throw new Error("After a “.” a member is missing, as in w.x.")
      steps.push(`.${tokens[at++].name}`)
    }
    const fixed = steps.every((step) => typeof step === "string")
    return (look) => {
      if (fixed) return look(token.name, steps)
      const reached = steps.map((step) => (typeof step === "string" ? step : step(look)))
      return reached.includes(null)
        ? null
        : look(
            token.name,
            reached.map((step) => (typeof step === "string" ? step : Math.floor(step))),
          )
    }
  }
  const call = (name) => {
    const act = CALLS[name],
      given = []
    if (!act) throw new Error(`${name}() is not known here: ${Object.keys(CALLS).join(", ")} are.`)
    need("(")
    do given.push(binary(0))
    while (sign(","))
    need(")")
    return (look) => {
      const values = given.map((one) => one(look))
      return values.includes(null) ? null : act(...values)
    }
  }
  const value = binary(0)
  if (at < tokens.length) throw new Error("There is more after the end of the expression.")
  return {names, value}
}

// Throws one line if a name in it means nothing in this recording.
export function known(question, recording) {
  const there = new Set([...recording.variables.map((v) => v.name.split(/[.[]/)[0]), ...recording.memories.map((m) => m.name)])
  const stranger = [...question.names].find((name) => !there.has(name))
  if (stranger) throw new Error(`No variable or memory is called ${stranger}.`)
  return question
}
