// Random numbers from a seed: mulberry32 (Tommy Ettinger, 2017, in the public domain).

/** Numbers in [0, 1), the same for the same seed. */
export function randomFrom(seed: number) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Put an array into a random order. */
export function shuffle<Item>(items: Item[], random: () => number) {
  for (let i = items.length - 1; i > 0; i--) {
    const other = Math.floor(random() * (i + 1))
    const item = items[i]
    items[i] = items[other]
    items[other] = item
  }
  return items
}

/** Sums of all up to each, to draw an index by its odds. */
export function sumsOf(odds: ArrayLike<number>) {
  const sums = new Float64Array(odds.length)
  let sum = 0
  for (let i = 0; i < odds.length; i++) {
    sum += odds[i]
    sums[i] = sum
  }
  return sums
}

/** The first index whose sum exceeds a number. */
export function drawFrom(sums: Float64Array, drawn: number) {
  let [low, high] = [0, sums.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if (sums[middle] > drawn) high = middle
    else low = middle + 1
  }
  return low
}
