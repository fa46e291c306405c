// The steppers on the page, and which of them is the primary one.
import {expose} from "#web/recording/painted.js"
import {precedes} from "#web/runtime/dom.js"

/** @import {Stepper} from "./stepper.js" */

/** @type {Set<Stepper>} */
const live = new Set()

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
