// A drawing that is built for one recording at one size, and rebuilt when either changes.
import type {Look} from "./look.ts"
import type {DrawingHost, DrawingView, Drawn} from "./types.ts"

/** @param ready  whether there is something to draw */
export function redrawn<Facts, Options, Values>(
  host: DrawingHost<Facts, Options, Values>,
  ready: (facts: Facts) => unknown,
  build: (host: DrawingHost<Facts, Options, Values>, look: Look) => Drawn,
): DrawingView {
  let drawn: Drawn | null = null
  let room = host.room()
  const open = (look: Look) => {
    room = host.room()
    drawn = ready(host.facts) ? build(host, look) : null
    host.root.replaceChildren(...(drawn ? [drawn.el] : []))
  }
  return {
    open,
    paint(look) {
      drawn?.paint(look)
    },
    describe: (look) => drawn?.describe?.(look) ?? "",
    news: (look) => drawn?.news?.(look),
    chosen: (look) => drawn?.chosen?.(look) ?? "",
    resized(look) {
      const now = host.room()
      if (!drawn || (now.width === room.width && now.height === room.height)) return
      open(look)
      drawn?.paint(look)
    },
  }
}
