// A drawing that is built for one recording and one width, and built again for the next of either. `ready(facts)` says whether there
// is something to draw; `build(host, look)` returns {el, paint(look), width}.
export function redrawn(host, ready, build) {
  let drawn = null
  return {
    open(look) {
      drawn = ready(host.facts) ? build(host, look) : null
      host.root.replaceChildren(...(drawn ? [drawn.el] : []))
    },
    paint(look) {
      drawn?.paint(look)
    },
    resized(look) {
      if (drawn && host.root.clientWidth !== drawn.width) {
        this.open(look)
        drawn.paint(look)
      }
    },
  }
}
