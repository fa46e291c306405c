// The steppers on the page, and which of them is the primary one.
import {expose} from "#web/recording/painted.ts"
import {precedes} from "#web/runtime/dom.ts"
import type {Stepper} from "./stepper.ts"

const live = new Set<Stepper>()

/**
 * Add a stepper to the page.
 * @returns removes it
 */
export function join(stepper: Stepper): () => void {
  live.add(stepper)
  expose(stepper)
  return () => live.delete(stepper)
}

/** The page's primary stepper, which owns the address: the first in the document. Null if there is none. */
export function primary() {
  let first: Stepper | null = null
  for (const stepper of live) if (stepper.root.isConnected && (!first || precedes(stepper.root, first.root))) first = stepper
  return first
}
