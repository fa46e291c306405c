// The class that this browser last presented, by walk.
import {UNNAMED, format} from "#web/runtime/address.js"
import {remember, rememberedJson} from "#web/runtime/stored.js"

/** @import {Place} from "#web/runtime/address.js" */
/** @typedef {Place & {key: string, code: string, stop: number, kernel: string, at?: number}} Presenting  a class that this browser presents; `at`: when, ms */

/** @param {string} walk */
const placeOf = (walk) => `splatscope-presenting-${walk}`

/**
 * The class to which this browser last presented a walk.
 * @param {string} walk
 * @returns {Presenting | null}
 */
export const lastPresented = (walk) => rememberedJson(placeOf(walk))

/**
 * Note where this browser presents.
 * @param {string} walk
 * @param {Presenting} presenting
 */
export const notePresented = (walk, presenting) => remember(placeOf(walk), JSON.stringify({at: Date.now(), ...presenting}))

/**
 * The address that resumes a class.
 * @param {string} walk
 * @param {Partial<Presenting>} where
 */
export function resumeAddress(walk, {key = "", page, step = UNNAMED, inputs = "", stop = 0, kernel = ""}) {
  const place = page ? `${format({page, step, inputs})}&` : "?"
  return `${place}walk=${walk}&key=${encodeURIComponent(key)}&stop=${stop}${page === "debugger" ? kernel : ""}`
}
