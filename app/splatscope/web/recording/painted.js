// What the steppers and comparisons on the page have painted, by their roots; and a way for tests to inspect them.
import {State} from "./state.js"

/** @import {Moment} from "./moment.js" */
/** @typedef {{root: HTMLElement, painted?: Moment | null, stops?: number[]}} Painted */

/** @type {WeakMap<Element, Painted>} */
const byRoot = new WeakMap()

/**
 * The moment last painted by the stepper of this root; null before its recording is there.
 * @param {Element} root
 * @returns {Moment | null}
 */
export const momentOf = (root) => byRoot.get(root)?.painted ?? null

/**
 * The positions at which → stops in the stepper of this root.
 * @param {Element} root
 * @returns {number[]}
 */
export const stopsOf = (root) => byRoot.get(root)?.stops ?? []

/**
 * Give tests and measurements access: `splatscope.inspect(root)` is the stepper or comparison of a root, `splatscope.State` makes
 * states to compare with theirs. The app itself does not use this.
 * @param {Painted} object
 */
export function expose(object) {
  byRoot.set(object.root, object)
  Object.assign(window, {splatscope: {State, inspect: (/** @type {Element} */ root) => byRoot.get(root)}})
}
