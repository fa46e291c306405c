// Keys that act without focus: on the page's primary stepper, or if it is not in view, on a comparison that is.
import {addKeys} from "#web/runtime/keys.ts"
import {enterField} from "#web/widgets/field_keys.ts"
import {primary} from "./steppers.ts"
import type {Stepper} from "./stepper.ts"

/** What steppers and comparisons have in common. */
type Movable = Pick<Stepper, "root" | "seek" | "move" | "barrier">
type Comparison = Movable & {moment: object | null; difference: () => void}

const comparisons = new Set<Comparison>()

/**
 * Let keys step a comparison while it is in view and no stepper is.
 * @returns ends it
 */
export function joinComparison(comparison: Comparison): () => void {
  comparisons.add(comparison)
  return () => comparisons.delete(comparison)
}

/** Whether a stepper or comparison has something to step and is in view. */
const visible = <Subject extends Stepper | Comparison>(subject: Subject | null) =>
  subject?.moment && !subject.root.closest("[hidden]") && subject.root.offsetParent ? subject : undefined

const MOVES: Record<string, (subject: Movable) => void> = {
  ArrowRight: (s) => s.move(1),
  ArrowLeft: (s) => s.move(-1),
  "Shift+ArrowRight": (s) => s.barrier(1),
  "Shift+ArrowLeft": (s) => s.barrier(-1),
  Home: (s) => s.seek(0),
  "Shift+Home": (s) => s.seek(0),
  End: (s) => s.seek(Infinity),
  "Shift+End": (s) => s.seek(Infinity),
}

/** What a key does alone and with Shift. */
const STEPPER: Record<string, [alone: (stepper: Stepper) => void, shifted?: (stepper: Stepper) => void]> = {
  " ": [(s) => s.player.toggle()],
  s: [(s) => s.line(1), (s) => s.line(-1)],
  n: [(s) => s.statement(1), (s) => s.over(1)],
  p: [(s) => s.statement(-1), (s) => s.over(-1)],
  u: [(s) => s.out()],
  t: [(s) => s.nextThread(1), (s) => s.nextThread(-1)],
  m: [(s) => s.followHere()],
  w: [(s) => s.history.jump(-1), (s) => s.history.jump(1)],
  b: [(s) => s.breakpoints.toggleHere(), (s) => s.breakpoints.askHere()],
  "]": [(s) => s.breakpoints.go(1)],
  "[": [(s) => s.breakpoints.go(-1)],
  f: [(s) => s.nextFinding(1), (s) => s.nextFinding(-1)],
  o: [(s) => s.setOrder(!s.moment?.lockstep)],
  c: [(s) => s.origin.explain()],
  a: [(s) => s.showing("threads", () => enterField(s.threads.watches.input))],
}
const ARROWS = "input[type=range].own, [role=radio], [role=tab], select"
const SLIDERS = "input[type=range]:not(.scrub *)"
const LEAVE = {
  Home: SLIDERS,
  End: SLIDERS,
  " ": "button, a, input, select, summary, [role=button]",
  "Shift+ ": "button, a, input, select, summary, [role=button]",
  ArrowRight: ARROWS,
  ArrowLeft: ARROWS,
  "Shift+ArrowRight": ARROWS,
  "Shift+ArrowLeft": ARROWS,
}

const subject = () => visible(primary()) ?? [...comparisons].find(visible)

addKeys({
  active: () => Boolean(subject()),
  leave: LEAVE,
  keys: Object.fromEntries(Object.entries(MOVES).map(([chord, act]) => [chord, () => act(subject() as Movable)])),
})

addKeys({
  active: () => Boolean(visible(primary())),
  leave: LEAVE,
  idle: {f: () => !primary()?.findingsShown.length},
  keys: Object.fromEntries(
    Object.entries(STEPPER).flatMap(([key, [alone, shifted = alone]]) => {
      const on = (act: (stepper: Stepper) => void) => () => act(primary() as Stepper)
      return [
        [key, on(alone)],
        [`Shift+${key}`, on(shifted)],
      ]
    }),
  ),
})

/** Whether the page has a field in which to search its recording. */
export const hasFind = () => Boolean(visible(primary())?.transport.find.offsetParent)

const FIND: Record<string, (stepper: Stepper) => void> = {
  "/": (s) => enterField(s.transport.find),
}

addKeys({
  active: hasFind,
  keys: Object.fromEntries(Object.entries(FIND).map(([chord, act]) => [chord, () => act(primary() as Stepper)])),
})

/** The keys of other debuggers. On pages of text they belong to the browser, so they act only on the debugger's page. */
const DEBUGGER: Record<string, (stepper: Stepper) => void> = {
  F5: (s) => s.breakpoints.run(),
  "Shift+F5": (s) => s.breakpoints.go(-1),
  F9: (s) => s.breakpoints.toggleHere(),
  F10: (s) => s.over(1),
  "Shift+F10": (s) => s.over(-1),
  "Ctrl+F10": (s) => s.source.runHere(),
  F11: (s) => s.statement(1),
  "Shift+F11": (s) => s.out(),
}

addKeys({
  active: () => visible(primary())?.model.layout === "bench",
  keys: Object.fromEntries(Object.entries(DEBUGGER).map(([chord, act]) => [chord, () => act(primary() as Stepper)])),
})

const difference = () => [...comparisons].find(visible)?.difference()
addKeys({active: () => !visible(primary()), keys: {d: difference, "Shift+d": difference}})
