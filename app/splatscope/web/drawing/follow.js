// A component inside a stepper follows it: told of each moment, and of the one it finds when it comes.
import {on} from "#web/shell/events.js"
import {momentOf} from "#web/stepper/steppers.js"

// The stage that holds an element, through the shadow trees.
export function stageOf(el) {
  for (let node = el; node; node = node.parentNode ?? node.host) if (node.classList?.contains("stage")) return node
  return null
}

// Calls `paint(moment)` at every moment of the stepper around `el`, else of the page's first. Returns what ends it.
export function follow(el, paint) {
  let seen = null
  const leave = on("moment", ({root, moment, first}) => {
    const stage = stageOf(el)
    if (stage ? stage !== root : !first) return
    seen = moment
    paint(moment)
  })
  requestAnimationFrame(() => {
    const stage = stageOf(el),
      moment = stage && momentOf(stage)
    if (moment && !seen) paint(moment)
  })
  return leave
}
