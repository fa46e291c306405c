// What a reader types to find or watch: names, subscripts, numbers, and C's operators over them.

const TOKEN = /\s*(?:(0x[\da-f]+|\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)[fu]*|([A-Za-z_][\w.]*)|(<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>&|^!~()[\]]))/iy
const LEVELS = [["||"], ["&&"], ["|"], ["^"], ["&"], ["==", "!="], ["<", "<=", ">", ">="], ["<<", ">>"], ["+", "-"], ["*", "/", "%"]]
const same = (a, b) => a === b || (Number.isNaN(a) && Number.isNaN(b))
const DO = {
  "||": (a, b) => +(a || b), "&&": (a, b) => +(a && b), "|": (a, b) => (a | b) >>> 0, "^": (a, b) => (a ^ b) >>> 0, "&": (a, b) => (a & b) >>> 0,
  "==": (a, b) => +same(a, b), "!=": (a, b) => +!same(a, b), "<": (a, b) => +(a < b), "<=": (a, b) => +(a <= b), ">": (a, b) => +(a > b),
  ">=": (a, b) => +(a >= b), "<<": (a, b) => a << b, ">>": (a, b) => a >> b, "+": (a, b) => a + b, "-": (a, b) => a - b,
  "*": (a, b) => a * b, "/": (a, b) => a / b, "%": (a, b) => a % b,
}

// {names, value(lookup)}; `lookup(name, index)` gives a number or null. Throws one line for what it cannot read.
export function parse(text) {
  const tokens = [], names = new Set()
  TOKEN.lastIndex = 0
  const end = text.trimEnd().length
  while (TOKEN.lastIndex < end) {
    const at = TOKEN.lastIndex, match = TOKEN.exec(text)
    if (!match) throw new Error(`“${text.slice(at).trim()[0]}” is not understood here. Try: T < 1/255, blobs[10] == 30, NaN.`)
    tokens.push(match[1] !== undefined ? {number: Number(match[1])} : match[2] !== undefined ? {name: match[2]} : {sign: match[3]})
  }
  let at = 0
  const sign = (...wanted) => wanted.includes(tokens[at]?.sign) ? tokens[at++].sign : null
  const need = (wanted) => { if (!sign(wanted)) throw new Error(`A “${wanted}” is missing.`) }

  const binary = (level) => {
    if (level === LEVELS.length) return unary()
    let left = binary(level + 1)
    for (let op; (op = sign(...LEVELS[level]));) {
      const a = left, b = binary(level + 1), act = DO[op]
      left = (look) => { const x = a(look), y = b(look); return x === null || y === null ? null : act(x, y) }
    }
    return left
  }
  const unary = () => {
    const op = sign("-", "!", "~")
    if (!op) return primary()
    const of = unary(), act = {"-": (x) => -x, "!": (x) => +!x, "~": (x) => ~x >>> 0}[op]
    return (look) => { const x = of(look); return x === null ? null : act(x) }
  }
  const primary = () => {
    const token = tokens[at++]
    if (token?.number !== undefined) return () => token.number
    if (token?.sign === "(") { const inner = binary(0); need(")"); return inner }
    if (!token?.name) throw new Error("Something is missing: write a name or a number, as in T < 1/255.")
    const constant = {nan: NaN, inf: Infinity, true: 1, false: 0}[token.name.toLowerCase()]
    if (constant !== undefined) return () => constant
    names.add(token.name.split(".")[0])
    if (!sign("[")) return (look) => look(token.name, null)
    const index = binary(0)
    need("]")
    return (look) => { const i = index(look); return i === null ? null : look(token.name, i) }
  }
  const value = binary(0)
  if (at < tokens.length) throw new Error("There is more after the end of the expression.")
  return {names, value}
}

// What a name means to a thread in a state: its variable, else a cell.
export function lookup(run, state, thread) {
  const function_ = run.about(Math.max(0, state.last(thread) - 1)).function
  return (name, index) => {
    const [base, ...rest] = name.split("."), part = rest.join(".")
    if (index === null) {
      const found = variable(run, state, thread, function_, name) ?? variable(run, state, thread, function_, base, part)
      if (found !== undefined) return found
    }
    const local = index === null ? undefined : variable(run, state, thread, function_, `${base}[${index}]`)
    if (local !== undefined) return local
    const m = run.memories.findIndex((memory) => memory.name === base)
    if (m < 0) return null
    const cell = run.memories[m].cell(index ?? 0)
    const p = Math.max(0, run.memories[m].parts.findIndex(([label]) => label === (part ? `.${part}` : "")))
    return cell < 0 ? null : state.cellNumber(m, cell, p)
  }
}

function variable(run, state, thread, function_, name, part = "") {
  const fits = (v) => v.name === name
  let v = run.variables.findIndex((entry) => fits(entry) && entry.function === function_)
  if (v < 0) v = run.variables.findIndex(fits)
  if (v < 0) return undefined
  const values = state.numbers(thread, v)
  if (!values) return null
  return values[part ? "xyzw".indexOf(part) : 0] ?? null
}
