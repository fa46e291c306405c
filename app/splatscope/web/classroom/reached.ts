// The stop that a lone reader has reached, by walk.
import {remember, rememberedJson} from "#web/runtime/stored.ts"

/** `at`: when, ms. */
type Reached = {stop: number; at: number}

const placeOf = (walk: string) => `splatscope-walk-${walk}`

/** Where this browser's reader has left a walk; null if they have not begun it. */
export const lastReached = (walk: string): Reached | null => rememberedJson(placeOf(walk))

/**
 * Note the stop that a lone reader is at. A walk that is at its end is not resumed.
 * @param count  of all stops
 */
export function noteReached(walk: string, stop: number, count: number) {
  remember(placeOf(walk), JSON.stringify({stop: stop < count - 1 ? stop : 0, at: Date.now()}))
}
