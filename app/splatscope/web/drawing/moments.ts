// Lets a component inside a stepper paint each moment, beginning with the current one.
import {enclosing} from "#web/runtime/dom.ts"
import {on} from "#web/runtime/events.ts"
import {momentOf, stopsOf} from "#web/recording/painted.ts"
import type {Moment} from "#web/recording/moment.ts"

/** The root of the stepper around an element, across shadow roots; null if there is none. */
export const stageOf = (el: Node): HTMLElement | null => enclosing(el, ".stage")

/**
 * Call `paint` at every moment of the stepper around `el`, or of the page's primary stepper if there is none around it.
 * @param paint  stops: positions in the order shown; steps: whether this is one step from the moment painted before, so that the
 *   change is animated
 * @returns ends it
 */
export function onMoments(el: HTMLElement, paint: (moment: Moment, stops: number[], steps: boolean) => void): () => void {
  let painted = false
  const stop = on("moment", ({root, moment, first, stops, steps}) => {
    const stage = stageOf(el)
    if (stage ? stage !== root : !first) return
    painted = true
    paint(moment, stops, steps)
  })
  requestAnimationFrame(() => {
    const stage = stageOf(el)
    const moment = stage && momentOf(stage)
    if (stage && moment && !painted) paint(moment, stopsOf(stage), false)
  })
  return stop
}
