// A drawing beside the source: `draw` of lessons/NAME/drawing.js, repainted at each moment of its stepper.
import {DRAWINGS} from "#drawings"
import {h, style} from "#web/runtime/dom.js"
import {hideParts} from "./choices.js"
import {emit, on} from "#web/runtime/events.js"
import {glide} from "./glide.js"
import {Look} from "./look.js"
import {onMoments, stageOf} from "./moments.js"
import {roomOf} from "./fit_to_window.js"

/** @import {Moment} from "#web/recording/moment.js" */
/** @import {DrawingHost} from "./types.d.ts" */
/** @import {Render} from "#web/types.d.ts" */

/** @typedef {{root: HTMLElement, paint(moment: Moment): void}} Small */

/** @type {WeakMap<Element, () => Small>} */
const smalls = new WeakMap()

/**
 * A second copy of a drawing, for a place of another width. It shows the moments it is given, and changes nothing.
 * @param {Element} drawing
 */
export function smallOf(drawing) {
  const make = smalls.get(drawing)
  if (!make) throw new Error("This is not a drawing.")
  return make()
}

/** @param {Render<{lesson: string, options: unknown, facts: unknown, values: unknown}>} component */
export function render({model, el}) {
  style(el)
  const root = h("div", {class: `drawing drawing-${model.lesson}`})
  /** @type {DrawingHost} */
  const host = {
    root,
    get options() {
      return model.options
    },
    get facts() {
      return model.facts
    },
    get values() {
      return model.values
    },
    room: () => roomOf(root),
    set: (name, value) => model.send_msg({type: "set", name, value}),
    step: (step) => emit("step", step),
  }
  const drawing = DRAWINGS[model.lesson](host)
  /** @type {Moment | null} */
  let shown = null
  const show = (/** @type {Look} */ look) => {
    drawing.paint(look)
    hideParts(root)
    const stage = stageOf(root)
    stage?.classList.toggle("previews", Boolean(drawing.previews))
    tell(look)
  }
  const tell = (/** @type {Look} */ look) => {
    const stage = stageOf(root)
    const words = drawing.describe?.(look) ?? ""
    if (stage) emit("described", {stage, words, news: drawing.news?.(look) ?? words, chosen: drawing.chosen?.(look) ?? ""})
  }
  const open = (/** @type {Moment} */ moment) => {
    shown = moment
    const look = new Look(moment)
    drawing.open?.(look)
    show(look)
  }
  /** @type {Parameters<typeof onMoments>[1]} */
  const paint = (moment, _stops, steps) => {
    if (moment.recording !== shown?.recording) return glide(root, false, () => open(moment))
    shown = moment
    glide(root, steps, () => show(new Look(moment)))
  }
  smalls.set(root, () => {
    const copy = h("div", {class: `drawing drawing-${model.lesson}`})
    const none = {value() {}}
    const room = {value: () => ({width: copy.clientWidth, height: Infinity})}
    const small = DRAWINGS[model.lesson](Object.create(host, {root: {value: copy}, room, set: none, step: none}))
    /** @type {unknown[]} */
    let of = []
    return {
      root: copy,
      paint(moment) {
        const look = new Look(moment)
        const now = [moment.recording, model.facts, model.values, copy.clientWidth]
        if (now.some((one, i) => one !== of[i])) {
          small.changed?.()
          small.open?.(look)
        }
        of = now
        small.paint(look)
      },
    }
  })
  const stop = onMoments(el, paint)
  const onValues = () => {
    if (!drawing.changed) return shown ? open(shown) : undefined
    drawing.changed()
    if (shown) tell(new Look(shown)) // the small copy previews what was set, too
  }
  model.on("values", () => queueMicrotask(onValues))
  /** Show the recorded values again instead of those set in the drawing, once the reader has let go. */
  const again = () => {
    if (root.querySelector(".held, input:active"))
      return window.addEventListener("pointerup", () => setTimeout(again), {once: true})
    drawing.changed?.()
    if (shown) open(shown)
  }
  const heard = on("again", (sender) => {
    if (sender === model) again()
  })
  const resized = () => {
    if (!shown || !root.isConnected) return // the page is being left, so there is no width to measure
    drawing.resized?.(new Look(shown))
    hideParts(root)
  }
  const resizes = new ResizeObserver(resized)
  resizes.observe(root)
  window.addEventListener("resize", resized)
  const unsubscribe = on("room", ({stage}) => {
    if (stage === stageOf(root)) resized()
  })
  model.on("remove", () => {
    stop()
    heard()
    unsubscribe()
    resizes.disconnect()
    window.removeEventListener("resize", resized)
  })
  return root
}
