// The steppers on the page, which of them is the primary one, and a way for tests to inspect them.
import {precedes} from "#web/shell/dom.js"
import {State} from "./model/state.js"

/**
 * @import {Moment} from "./model/moment.js"
 * @import {Stepper} from "./stepper.js"
 */

/** @type {Set<Stepper>} */
const live = new Set()
/** @type {WeakMap<Element, Stepper | import("#web/compare/compare.js").Compare>} */
const byRoot = new WeakMap()

/**
 * Add a stepper to the page.
 * @param {Stepper} stepper
 * @returns {() => void} removes it
 */
export function join(stepper) {
  live.add(stepper)
  expose(stepper)
  return () => live.delete(stepper)
}

/** The page's primary stepper, which owns the address: the first in the document. Null if there is none. */
export function primary() {
  /** @type {Stepper | null} */
  let first = null
  for (const stepper of live) if (stepper.root.isConnected && (!first || precedes(stepper.root, first.root))) first = stepper
  return first
}

/**
 * The moment last painted by the stepper of this root; null before its recording is there.
 * @param {Element} root
 * @returns {Moment | null}
 */
export function momentOf(root) {
  const stepper = byRoot.get(root)
  return stepper && "painted" in stepper ? stepper.painted : null
}

/**
 * The positions at which → stops in the stepper of this root.
 * @param {Element} root
 * @returns {number[]}
 */
export function stopsOf(root) {
  const stepper = byRoot.get(root)
  return stepper && "stops" in stepper ? stepper.stops : []
}

/**
 * Give tests and measurements access: `splatscope.inspect(root)` is the Stepper or Compare of a root, `splatscope.State` makes
 * states to compare with theirs. The app itself does not use this.
 * @param {Stepper | import("#web/compare/compare.js").Compare} object
 */
export function expose(object) {
  byRoot.set(object.root, object)
  Object.assign(window, {splatscope: {State, inspect: (/** @type {Element} */ root) => byRoot.get(root)}})
}
