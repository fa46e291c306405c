// Values as a recording holds them, in words of 32 bits: what a type's words are, as numbers and as text.

/**
 * @import {Column, Scalar} from "#web/types.d.ts"
 * @typedef {object} Shape
 * @property {Scalar} scalar
 * @property {number} count  scalars in a value
 * @property {number} size  words a scalar
 */

const F32 = new Float32Array(1),
  BITS = new Uint32Array(F32.buffer),
  F64 = new Float64Array(1),
  PAIR = new Uint32Array(F64.buffer)
const SHAPE = /^(bool|u?int(?:8|16|64)_t|u?int|float|half|double)(?:(\d)x(\d)|(\d))?$/
/** @type {Map<string | undefined, Shape | null>} */
const shapes = new Map()

/**
 * The scalars of a numeric type, `float3x3` or `uint`; null for other types, whose values are not recorded.
 * @param {string | undefined} type
 * @returns {Shape | null}
 */
export function shape(type) {
  const known = shapes.get(type)
  if (known !== undefined) return known
  const match = SHAPE.exec(type ?? "")
  const made = match && {
    scalar: /** @type {Scalar} */ (match[1]),
    count: match[2] ? +match[2] * +match[3] : +(match[4] ?? 1),
    size: /64|double/.test(match[1]) ? 2 : 1,
  }
  shapes.set(type, made)
  return made
}

/**
 * Whether a type is made of floating-point scalars.
 * @param {string | undefined} type
 */
export const isFloat = (type) => /^(float|half|double)/.test(type ?? "")

/**
 * One scalar as a number. 64-bit integers beyond 2⁵³ are rounded.
 * @param {Column} words
 * @param {number} at  index of its first word
 * @param {Scalar} scalar
 */
export function number(words, at, scalar) {
  switch (scalar) {
    case "float":
    case "half":
      BITS[0] = words[at]
      return F32[0]
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

/**
 * All scalars of a value, empty for a type whose values are not recorded.
 * @param {Column} words
 * @param {number} at
 * @param {string | undefined} type
 */
export function numbers(words, at, type) {
  const form = shape(type)
  return form ? Array.from({length: form.count}, (_, i) => number(words, at + i * form.size, form.scalar)) : []
}

/**
 * A number as it is shown: floats to so many significant digits, with real minus signs.
 * @param {number} value
 * @param {string} scalar
 */
export function text(value, scalar, digits = 4) {
  if (scalar === "bool") return value ? "true" : "false"
  if (!isFloat(scalar)) return String(value)
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "−∞"
  const size = Math.abs(value)
  if (size !== 0 && (size < 1e-3 || size >= 1e6))
    return value.toExponential(2).replace("e+", "e").replace("-", "−").replace("e-", "e−")
  return String(Number(value.toPrecision(digits))).replace("-", "−")
}

/**
 * A value as it is shown, `30` or `(1, 0.5, 0)`; "" for a type whose values are not recorded.
 * @param {Column} words
 * @param {number} at
 * @param {string | undefined} type
 */
export function show(words, at, type) {
  const form = shape(type)
  if (!form) return ""
  if (form.count === 1) return text(number(words, at, form.scalar), form.scalar)
  const parts = numbers(words, at, type).map((n) => text(n, form.scalar, 3))
  return `(${parts.join(", ")})`
}
