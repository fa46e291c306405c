// Arrow keys that move within a drawing, and not through the recording: `ways` by key, `go` gets the way of the key. With Shift they are
// the stepper's.
export function onArrows(el, ways, go) {
  el.onkeydown = (event) => {
    const way = ways[event.key]
    if (!way || event.shiftKey) return
    event.preventDefault()
    event.stopPropagation()
    go(way)
  }
}
