// The quantities of expressions: scalars, vectors and matrices, as numbers with their scalar types; and C's and Slang's operators
// and functions on them. Numbers are real numbers, so that T < 1/255 is exact. Only casts round or wrap.
import {floatFromBits, isFloat, shape, text} from "#web/recording/values.ts"
import type {Scalar} from "#web/types.ts"

/** "" for a literal number, "?" for a part that has no value yet. */
type Kind = Scalar | "" | "?"

export interface Quantity {
  /** One for a scalar, row by row for a matrix. */
  parts: number[]
  /** Scalar type of each part. */
  kinds: Kind[]
  /** For a matrix. */
  columns?: number
}

const XYZW = "xyzw",
  RGBA = "rgba"
const BITS = new DataView(new ArrayBuffer(4))

/** A scalar. */
export const scalar = (value: number, kind: Kind = ""): Quantity => ({parts: [value], kinds: [kind]})

/** A vector of one type. */
export const vector = (parts: number[], kind: Kind): Quantity => ({parts, kinds: parts.map(() => kind)})

/** A quantity as one truth value: for a vector, whether all parts are true. */
export const isTrue = ({parts, kinds}: Quantity) => parts.every((value, i) => kinds[i] !== "?" && Boolean(value))

/** The part of a vector or matrix that a step leads to, `.zyx` or `[2]`; null if there is none. */
export function select({parts, kinds, columns}: Quantity, step: string | number): Quantity | null {
  if (typeof step === "number") {
    const width = columns ?? 1,
      from = step * width
    if (step < 0 || from + width > parts.length) return null
    return {parts: parts.slice(from, from + width), kinds: kinds.slice(from, from + width)}
  }
  const letters = step.slice(1)
  const names = [...letters].every((c) => XYZW.includes(c)) ? XYZW : RGBA
  const at = [...letters].map((c) => names.indexOf(c))
  if (columns || letters.length > 4 || at.some((i) => i < 0 || i >= parts.length)) return null
  return {parts: at.map((i) => parts[i]), kinds: at.map((i) => kinds[i])}
}

/** The type of the result of two operands. */
const common = (a: Kind, b: Kind): Kind => {
  if (a === "?" || b === "?") return "?"
  if (a === b || !b) return a
  if (!a) return b
  const both = [a, b]
  return (both.find(isFloat) ?? both.find((kind) => kind.startsWith("u")) ?? "int") as Scalar
}

/**
 * Apply a function to the parts of quantities. A scalar is used for each part of a vector. Null if two vectors differ in length.
 * @param kind  of the result; by default that of the arguments
 */
export function each(given: Quantity[], act: (...values: number[]) => number, kind?: Kind): Quantity | null {
  const count = Math.max(...given.map(({parts}) => parts.length))
  if (given.some(({parts}) => parts.length !== 1 && parts.length !== count)) return null
  const at = (parts: number[], i: number) => parts[parts.length === 1 ? 0 : i]
  const parts = Array.from({length: count}, (_, i) => act(...given.map((one) => at(one.parts, i))))
  const kinds = parts.map((_, i) => {
    const found = given.map((one) => one.kinds[one.kinds.length === 1 ? 0 : i]).reduce((a, b) => common(a, b))
    return found === "?" ? found : (kind ?? found)
  })
  return {parts, kinds, columns: given.find(({columns}) => columns)?.columns}
}

/** Cast to a type, as `(int) x` and `float3(x, y, z)` do. A scalar fills a vector. Null if the parts do not fit. */
export function cast(given: Quantity[], type: string): Quantity | null {
  const form = shape(type)
  if (!form) return null
  let parts = given.flatMap((one) => one.parts)
  if (parts.length === 1) parts = Array(form.count).fill(parts[0])
  if (parts.length < form.count || (given.length > 1 && parts.length > form.count)) return null
  const to = form.scalar
  const columns = /\dx(\d)$/.exec(type)?.[1]
  return {
    ...vector(
      parts.slice(0, form.count).map((value) => asScalar(value, to)),
      to,
    ),
    columns: columns ? +columns : undefined,
  }
}

/** A number converted to a scalar type. */
function asScalar(value: number, to: Scalar) {
  if (to === "bool") return +Boolean(value)
  if (to === "float") return Math.fround(value)
  if (isFloat(to)) return value
  const size = Number(/\d+/.exec(to)?.[0] ?? 32),
    whole = BigInt(Number.isFinite(value) ? Math.trunc(value) : 0)
  return Number(to.startsWith("u") ? BigInt.asUintN(size, whole) : BigInt.asIntN(size, whole))
}

const same = (a: number, b: number) => a === b || (Number.isNaN(a) && Number.isNaN(b))
type Binary = (a: number, b: number) => number
const plain =
  (act: Binary): ((a: Quantity, b: Quantity) => Quantity | null) =>
  (a, b) =>
    each([a, b], act)
const truth =
  (act: Binary): ((a: Quantity, b: Quantity) => Quantity | null) =>
  (a, b) =>
    each([a, b], act, "bool")
const bitwise =
  (act: Binary): ((a: Quantity, b: Quantity) => Quantity | null) =>
  (a, b) => {
    const found = each([a, b], act)
    return found && {...found, parts: found.parts.map((value, i) => (found.kinds[i] === "int" ? value | 0 : value >>> 0))}
  }

/** Binary operators by precedence, the lowest first, as in C. */
export const LEVELS: Record<string, (a: Quantity, b: Quantity) => Quantity | null>[] = [
  {"||": truth((a, b) => +(a || b ? 1 : 0))},
  {"&&": truth((a, b) => +(a && b ? 1 : 0))},
  {"|": bitwise((a, b) => a | b)},
  {"^": bitwise((a, b) => a ^ b)},
  {"&": bitwise((a, b) => a & b)},
  {"==": truth((a, b) => +same(a, b)), "!=": truth((a, b) => +!same(a, b))},
  {
    "<": truth((a, b) => +(a < b)),
    "<=": truth((a, b) => +(a <= b)),
    ">": truth((a, b) => +(a > b)),
    ">=": truth((a, b) => +(a >= b)),
  },
  {
    "<<": bitwise((a, b) => a << b),
    ">>": (a, b) => each([a, b], (x, n) => (x < 0 ? x >> n : (x >>> 0) >>> n)),
  },
  {"+": plain((a, b) => a + b), "-": plain((a, b) => a - b)},
  {"*": plain((a, b) => a * b), "/": plain((a, b) => a / b), "%": plain((a, b) => a % b)},
]

export const UNARY: Record<string, (x: Quantity) => Quantity | null> = {
  "-": (x) => each([x], (value) => -value),
  "+": (x) => x,
  "!": (x) => each([x], (value) => +!value, "bool"),
  "~": (x) => bitwise((value) => ~value)(x, x),
}

const of =
  (act: (...values: number[]) => number, kind?: Scalar): ((...given: Quantity[]) => Quantity | null) =>
  (...given) =>
    each(given, act, kind)
const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
const fixed = (x: number, low = 0, high = 1) => Math.min(Math.max(x, low), high)
const floatBits = (x: number): number => {
  BITS.setFloat32(0, x)
  return BITS.getUint32(0)
}

/** Functions by name. Too few or too many arguments have the same effect as in JavaScript. */
export const FUNCTIONS: Record<string, (...given: Quantity[]) => Quantity | null> = {
  min: of(Math.min),
  max: of(Math.max),
  clamp: of(fixed),
  saturate: of((x) => fixed(x)),
  abs: of(Math.abs),
  sign: of(Math.sign),
  floor: of(Math.floor),
  ceil: of(Math.ceil),
  round: of(Math.round),
  trunc: of(Math.trunc),
  frac: of((x) => x - Math.floor(x)),
  lerp: of((a, b, t) => a + (b - a) * t),
  step: of((edge, x) => +(x >= edge)),
  sqrt: of(Math.sqrt, "float"),
  rsqrt: of((x) => 1 / Math.sqrt(x), "float"),
  rcp: of((x) => 1 / x, "float"),
  pow: of((x, y) => x ** y, "float"),
  exp: of(Math.exp, "float"),
  exp2: of((x) => 2 ** x, "float"),
  log: of(Math.log, "float"),
  log2: of(Math.log2, "float"),
  sin: of(Math.sin, "float"),
  cos: of(Math.cos, "float"),
  tan: of(Math.tan, "float"),
  atan2: of(Math.atan2, "float"),
  dot: (a, b) => {
    const product = each([a, b], (x, y) => x * y)
    return product && scalar(sum(product.parts), product.kinds[0])
  },
  length: (v) => scalar(Math.hypot(...v.parts), "float"),
  any: (v) => scalar(+v.parts.some(Boolean), "bool"),
  all: (v) => scalar(+isTrue(v), "bool"),
  isnan: of((x) => +Number.isNaN(x), "bool"),
  isinf: of((x) => +(Math.abs(x) === Infinity), "bool"),
  isfinite: of((x) => +Number.isFinite(x), "bool"),
  asuint: (v) => each([v], v.kinds.some((kind) => kind === "int" || kind === "uint") ? (x) => x >>> 0 : floatBits, "uint"),
  asint: (v) =>
    each([v], v.kinds.some((kind) => kind === "int" || kind === "uint") ? (x) => x | 0 : (x) => floatBits(x) | 0, "int"),
  asfloat: of(floatFromBits, "float"),
  countbits: of((x) => (x >>> 0).toString(2).replaceAll("0", "").length, "uint"),
  firstbithigh: of((x) => 31 - Math.clz32(x), "int"),
  firstbitlow: of((x) => (x ? 31 - Math.clz32(x & -x) : -1), "int"),
}

/** A 32-bit word as two halves. */
export const halves = (word: number): [number, number] => [half(word & 0xffff), half(word >>> 16)]

function half(bits: number) {
  const sign = bits & 0x8000 ? -1 : 1,
    exponent = (bits >> 10) & 31,
    fraction = bits & 1023
  if (exponent === 31) return fraction ? NaN : sign * Infinity
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -14 * (fraction / 1024))
}

/** Hexadecimal, binary, decimal; "" for the type's default. */
export type Format = "" | "x" | "b" | "d"

/** A quantity as text: `3`, `(1, 0.5, 0)`, `0x1f`. In hex and binary, a float is shown as its 32 bits. */
export function showQuantity({parts, kinds, columns}: Quantity, format: Format = "") {
  const words = parts.map((value, i) => showNumber(value, kinds[i], format, parts.length > 1 ? 3 : 4))
  if (words.length === 1) return words[0]
  if (!columns) return `(${words.join(", ")})`
  const rows = Array.from({length: words.length / columns}, (_, r) => words.slice(r * columns, (r + 1) * columns))
  return `(${rows.map((row) => row.join(", ")).join("; ")})`
}

/** @param digits  significant digits of a float */
function showNumber(value: number, kind: Kind, format: Format, digits: number) {
  if (kind === "?") return "·"
  if (format === "x" || format === "b") {
    const bits = isFloat(kind) || !Number.isInteger(value) ? floatBits(value) : value >>> 0
    return format === "x" ? `0x${bits.toString(16).padStart(8, "0")}` : `0b${bits.toString(2)}`
  }
  if (kind === "bool" && format !== "d") return value ? "true" : "false"
  if (Number.isInteger(value)) return Object.is(value, -0) ? "−0" : String(value).replace("-", "−")
  return text(value, "float", digits)
}
