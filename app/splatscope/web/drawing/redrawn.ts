// A drawing that is built for one recording at one size, and rebuilt when either changes. Where building takes long, it is kept for
// recordings that differ only in values.
import type {Look} from "./look.ts"
import type {DrawingHost, DrawingView, Drawn} from "./types.ts"

/**
 * @param ready  whether there is something to draw
 * @param fits  whether what was built for some facts can paint others: then it reads `host.facts` each time
 */
export function redrawn<Facts, Options, Values>(
  host: DrawingHost<Facts, Options, Values>,
  ready: (facts: Facts) => unknown,
  build: (host: DrawingHost<Facts, Options, Values>, look: Look) => Drawn,
  fits: (now: Facts, built: Facts) => boolean = () => false,
): DrawingView {
  let drawn: Drawn | null = null
  let built: Facts
  let room = host.room()
  const hasRoom = () => {
    const now = host.room()
    return now.width === room.width && now.height === room.height
  }
  const open = (look: Look) => {
    if (drawn && hasRoom() && fits(host.facts, built)) return
    room = host.room()
    built = host.facts
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
      if (!drawn || hasRoom()) return
      open(look)
      drawn?.paint(look)
    },
  }
}
