// The stop that a lone reader has reached, by walk.
import {remember, rememberedJson} from "#web/runtime/stored.js"

/** @typedef {{stop: number, at: number}} Reached  `at`: when, ms */

/** @param {string} walk */
const placeOf = (walk) => `splatscope-walk-${walk}`

/**
 * Where this browser's reader has left a walk; null if they have not begun it.
 * @param {string} walk
 * @returns {Reached | null}
 */
export const lastReached = (walk) => rememberedJson(placeOf(walk))

/**
 * Note the stop that a lone reader is at. A walk that is at its end is not resumed.
 * @param {string} walk
 * @param {number} stop
 * @param {number} count  of all stops
 */
export function noteReached(walk, stop, count) {
  remember(placeOf(walk), JSON.stringify({stop: stop < count - 1 ? stop : 0, at: Date.now()}))
}
