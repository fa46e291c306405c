// Values of a recording, in 32-bit words: the layout of types, and conversion to numbers and text.
import type {Column, Scalar} from "#web/types.ts"

interface Shape {
  scalar: Scalar
  /** Number of scalars in a value. */
  count: number
  /** Words per scalar. */
  size: number
}

const F32 = new Float32Array(1),
  BITS = new Uint32Array(F32.buffer),
  F64 = new Float64Array(1),
  PAIR = new Uint32Array(F64.buffer)
/** The float whose bits a word holds. */
export function floatFromBits(bits: number) {
  BITS[0] = bits
  return F32[0]
}

const SHAPE = /^(bool|u?int(?:8|16|64)_t|u?int|float|half|double)(?:(\d)x(\d)|(\d))?$/
const shapes = new Map<string | undefined, Shape | null>()

/** The scalars of a numeric type, `float3x3` or `uint`; null for other types, whose values are not recorded. */
export function shape(type: string | undefined): Shape | null {
  const known = shapes.get(type)
  if (known !== undefined) return known
  const match = SHAPE.exec(type ?? "")
  const made = match && {
    scalar: match[1] as Scalar,
    count: match[2] ? +match[2] * +match[3] : +(match[4] ?? 1),
    size: /64|double/.test(match[1]) ? 2 : 1,
  }
  shapes.set(type, made)
  return made
}

/** Whether a type is made of floating-point scalars. */
export const isFloat = (type: string | undefined) => /^(float|half|double)/.test(type ?? "")

/**
 * One scalar as a number. 64-bit integers beyond 2⁵³ are rounded.
 * @param at  index of its first word
 */
export function number(words: Column, at: number, scalar: Scalar) {
  switch (scalar) {
    case "float":
    case "half":
      return floatFromBits(words[at])
    case "double":
      PAIR[0] = words[at]
      PAIR[1] = words[at + 1]
      return F64[0]
    case "int":
    case "int16_t":
    case "int8_t":
      return words[at] | 0
    case "int64_t":
      return Number(BigInt.asIntN(64, BigInt(words[at]) | (BigInt(words[at + 1]) << 32n)))
    case "uint64_t":
      return Number(BigInt(words[at]) | (BigInt(words[at + 1]) << 32n))
    default:
      return words[at]
  }
}

/** All scalars of a value, empty for a type whose values are not recorded. */
export function numbers(words: Column, at: number, type: string | undefined) {
  const form = shape(type)
  const found: number[] = []
  if (form) for (let i = 0; i < form.count; i++) found.push(number(words, at + i * form.size, form.scalar))
  return found
}

const POWERS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
const [SMALLEST, LARGEST] = [1e-4, 1e6] // smaller numbers, and those from the second on, are shown with a power of ten

/** A power of ten as text: 10⁻³. */
export const powerOfTen = (exponent: number) =>
  `10${[...String(exponent)].map((sign) => (sign === "-" ? "⁻" : POWERS[+sign])).join("")}`

/**
 * A number as text: floats with a given number of significant digits, with proper minus signs and powers of ten.
 * textbook/numbers.py formats numbers in the same way.
 */
export function text(value: number, scalar: string, digits = 4) {
  if (scalar === "bool") return value ? "true" : "false"
  if (!isFloat(scalar)) return String(value).replace("-", "−")
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "−∞"
  const rounded = Number(value.toPrecision(digits))
  const size = Math.abs(rounded)
  const sign = value < 0 ? "−" : ""
  if (size === 0 || (size >= SMALLEST && size < LARGEST)) return sign + size
  const [mantissa, exponent] = Number(value.toPrecision(Math.min(digits, 3)))
    .toExponential()
    .split("e")
  return `${sign}${mantissa.replace("-", "")}\u202f×\u202f${powerOfTen(+exponent)}`
}

/** A value as text, `30` or `(1, 0.5, 0)`; "" for a type whose values are not recorded. */
export function show(words: Column, at: number, type: string | undefined) {
  const form = shape(type)
  if (!form) return ""
  if (form.count === 1) return text(number(words, at, form.scalar), form.scalar)
  const parts = numbers(words, at, type).map((n) => text(n, form.scalar, 3))
  return `(${parts.join(", ")})`
}
