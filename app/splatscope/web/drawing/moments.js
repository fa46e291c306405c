// A component inside a stepper paints each of its moments, and the one it finds when it comes.
import {enclosing} from "#web/shell/dom.js"
import {on} from "#web/shell/events.js"
import {momentOf, stopsOf} from "#web/stepper/steppers.js"

/** @import {Moment} from "#web/stepper/model/moment.js" */

/**
 * The stepper's root that holds an element, through the shadow trees; null outside of any.
 * @param {Node} el
 * @returns {HTMLElement | null}
 */
export const stageOf = (el) => enclosing(el, ".stage")

/**
 * Call `paint` at every moment of the stepper around `el`, or of the page's first where none is around it.
 * @param {HTMLElement} el
 * @param {(moment: Moment, stops: number[], steps: boolean) => void} paint  stops: positions in the order shown; steps: whether it is a
 *   single step from the moment painted before, which is to be seen to happen
 * @returns {() => void} ends it
 */
export function onMoments(el, paint) {
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
