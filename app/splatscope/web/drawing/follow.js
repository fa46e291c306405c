// A component inside a stepper follows it: told of each moment, and of the one it finds when it comes.

// The stage that holds an element, through the shadow trees.
export function stageOf(el) {
  for (let node = el; node; node = node.parentNode ?? node.host) if (node.classList?.contains("stage")) return node
  return null
}

// Calls `paint(moment)` at every moment of the stepper around `el`, else of the page's first. Returns what ends it.
export function follow(el, paint) {
  let seen = null
  const hear = (event) => {
    const stage = stageOf(el)
    if (stage ? stage !== event.detail.root : event.detail.first === false) return
    seen = event.detail.moment
    paint(seen)
  }
  window.addEventListener("splatscope:moment", hear)
  requestAnimationFrame(() => {
    const moment = stageOf(el)?.moment
    if (moment && !seen) paint(moment)
  })
  return () => window.removeEventListener("splatscope:moment", hear)
}
