// Colours for numbers, the same in both themes.

const FIRE = [
  [10, 10, 30],
  [87, 16, 110],
  [188, 55, 84],
  [249, 142, 9],
  [252, 255, 164],
]
const BELOW = [0, 114, 178]
const MIDDLE = [236, 236, 231]
const ABOVE = [196, 74, 6]

const mix = (a: number[], b: number[], t: number): number[] => a.map((value, i) => value + (b[i] - value) * t)

/**
 * A colour map from dark to pale yellow.
 * @param share  from 0 to 1
 * @returns red, green, blue from 0 to 255
 */
export function fire(share: number): number[] {
  const at = Math.min(FIRE.length - 1.0001, share * (FIRE.length - 1))
  const i = Math.floor(at)
  return mix(FIRE[i], FIRE[i + 1], at - i)
}

/**
 * A colour map from blue through grey to vermilion.
 * @param share  from 0 to 1
 */
export const diverging = (share: number) => (share < 0.5 ? mix(BELOW, MIDDLE, share * 2) : mix(MIDDLE, ABOVE, share * 2 - 1))
