// What the steppers and comparisons on the page have painted, by their roots; and a way for tests to inspect them.
import {State} from "./state.ts"
import type {Moment} from "./moment.ts"

type Painted = {root: HTMLElement; painted?: Moment | null; stops?: number[]}

const byRoot = new WeakMap<Element, Painted>()

/** The moment last painted by the stepper of this root; null before its recording is there. */
export const momentOf = (root: Element): Moment | null => byRoot.get(root)?.painted ?? null

/** The positions at which → stops in the stepper of this root. */
export const stopsOf = (root: Element): number[] => byRoot.get(root)?.stops ?? []

/**
 * Give tests and measurements access: `splatscope.inspect(root)` is the stepper or comparison of a root, `splatscope.State` makes
 * states to compare with theirs. The app itself does not use this.
 */
export function expose(object: Painted) {
  byRoot.set(object.root, object)
  Object.assign(window, {splatscope: {State, inspect: (root: Element) => byRoot.get(root)}})
}
