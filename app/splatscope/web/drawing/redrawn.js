// A drawing that is built for one recording at one size, and rebuilt when either changes.

/** @import {DrawingHost, DrawingView, Drawn} from "./types.d.ts" */
/** @import {Look} from "./look.js" */

/**
 * @template Facts, Options, Values
 * @param {DrawingHost<Facts, Options, Values>} host
 * @param {(facts: Facts) => unknown} ready  whether there is something to draw
 * @param {(host: DrawingHost<Facts, Options, Values>, look: Look) => Drawn} build
 * @returns {DrawingView}
 */
export function redrawn(host, ready, build) {
  /** @type {Drawn | null} */
  let drawn = null
  let room = host.room()
  const open = (/** @type {Look} */ look) => {
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
