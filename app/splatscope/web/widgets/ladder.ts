// The values at which the arrow keys stop on a slider: round numbers, and the value that the keys began with, so that as many
// presses back as forward lead back to it exactly.

interface Span {
  /** The left end of the slider. */
  from: number
  to: number
  log: boolean
  whole: boolean
}

const PRESSES = 40 // about so many lead from one end of a linear slider to the other
const DECADE = [10, 12, 14, 16, 18, 20, 25, 30, 35, 40, 45, 50, 60, 70, 80, 90] // the values of a logarithmic slider, times a power of ten

/** A number without the errors of its binary fraction: 0.1 + 0.2 becomes 0.3. */
const exact = (value: number) => Number(value.toPrecision(12))

/** Ten to a whole power, without the errors of multiplication. */
const ten = (power: number) => Number(`1e${power}`)

/** All stops of a slider, ascending: its ends, `origin` and the round numbers between. */
export function ladder({from, to, log, whole}: Span, origin: number) {
  const stops = log ? powers(from, to) : multiples(from, to, whole)
  const inside = stops.filter((value) => value > from && value < to && (!whole || Number.isInteger(value)))
  return [...new Set([from, ...inside, to, origin])].sort((a, b) => a - b)
}

function powers(from: number, to: number) {
  const [first, last] = [from, to].map((end) => Math.floor(Math.log10(end)) - 1)
  return Array.from({length: last - first + 1}, (_, i) => DECADE.map((digits) => exact(digits * ten(first + i)))).flat()
}

function multiples(from: number, to: number, whole: boolean) {
  const size = (to - from) / PRESSES
  const power = Math.floor(Math.log10(size))
  const digit = [5, 2, 1].find((one) => one * ten(power) <= size * 1.000001) ?? 1
  const step = whole ? Math.max(1, digit * ten(power)) : digit * ten(power)
  const first = Math.ceil(from / step)
  return Array.from({length: Math.floor(to / step) - first + 1}, (_, i) => exact((first + i) * step))
}

/** The arrow keys of one slider: it remembers with which value they began. */
export class Ladder {
  span: Span
  origin: number

  constructor(span: Span) {
    this.span = span
    this.origin = span.from
  }

  /**
   * The value after one press.
   * @param value  the current one; if it is no stop, the keys begin here
   * @param way  1 for more, -1 for less
   */
  next(value: number, way: number) {
    if (!ladder(this.span, this.origin).includes(value)) this.origin = value
    const stops = ladder(this.span, this.origin)
    return stops[Math.min(stops.length - 1, Math.max(0, stops.indexOf(value) + way))]
  }
}
