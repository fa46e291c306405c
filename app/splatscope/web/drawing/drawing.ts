// A drawing beside the source: `draw` of lessons/NAME/drawing.ts, repainted at each moment of its stepper.
import {DRAWINGS, LIVE} from "#drawings"
import {h, style} from "#web/runtime/dom.ts"
import {hideParts} from "./choices.ts"
import {emit, on} from "#web/runtime/events.ts"
import {follower} from "./live.ts"
import {glide} from "./glide.ts"
import {Look} from "./look.ts"
import {onMoments, stageOf} from "./moments.ts"
import {roomOf} from "./fit_to_window.ts"
import type {Moment} from "#web/recording/moment.ts"
import type {Recording} from "#web/recording/recording.ts"
import type {Render} from "#web/types.ts"
import type {DrawingHost} from "./types.ts"

type Small = {root: HTMLElement; paint(moment: Moment): void}

const smalls = new WeakMap<Element, () => Small>()

/** A second copy of a drawing, for a place of another width. It shows the moments it is given, and changes nothing. */
export function smallOf(drawing: Element) {
  const make = smalls.get(drawing)
  if (!make) throw new Error("This is not a drawing.")
  return make()
}

export function render({model, el}: Render<"Drawing">) {
  style(el)
  const root = h("div", {class: `drawing drawing-${model.lesson}`})
  let inHand: Pick<typeof model, "facts" | "values"> | null = null // of what was recorded in this browser, until the lesson's own comes
  let room: ReturnType<typeof roomOf> | null = null // as it was measured last
  let made: Recording | null = null // the last one that was recorded in this browser
  let recorded = JSON.stringify(model.values) // what the lesson's own recording is of
  const isDragged = () => root.querySelector(".held, input:active") !== null
  let isHeld = isDragged // whether the hand still holds what is set, here or in the page's controls
  /** Whether the lesson's own recording is of other values: values are set at once, and their recording comes later. */
  const isAhead = () => inHand !== null && (isHeld() || JSON.stringify(inHand.values) !== recorded)
  const host: DrawingHost = {
    root,
    get options() {
      return model.options
    },
    get facts() {
      return (inHand ?? model).facts
    },
    get values() {
      return (inHand ?? model).values
    },
    room() {
      if (!room || !inHand) room = roomOf(root) // costs a layout, which each move of a hand would pay
      return room
    },
    set: (name, value) => model.send_msg({type: "set", name, value}),
    get following() {
      return inHand !== null
    },
    follow: (values) => follow(values, isDragged),
    step: (step) => emit("step", step),
  }
  const drawing = DRAWINGS[model.lesson](host as DrawingHost<never, never, never>)
  let shown: Moment | null = null
  const show = (look: Look) => {
    drawing.paint(look)
    hideParts(root)
    const stage = stageOf(root)
    stage?.classList.toggle("previews", Boolean(drawing.previews))
    tell(look)
  }
  const tell = (look: Look) => {
    const stage = stageOf(root)
    const words = drawing.describe?.(look) ?? ""
    if (stage) emit("described", {stage, words, news: drawing.news?.(look) ?? words, chosen: drawing.chosen?.(look) ?? ""})
  }
  const open = (moment: Moment) => {
    shown = moment
    const look = new Look(moment)
    drawing.open?.(look)
    show(look)
  }
  const paint: Parameters<typeof onMoments>[1] = (moment, _stops, steps) => {
    if (moment.recording !== shown?.recording) {
      if (moment.recording !== made) hand?.drop()
      return glide(root, false, () => open(moment))
    }
    shown = moment
    glide(root, steps, () => show(new Look(moment)))
  }
  smalls.set(root, () => {
    const copy = h("div", {class: `drawing drawing-${model.lesson}`})
    const none = {value() {}}
    const room = {value: () => ({width: copy.clientWidth, height: Infinity})}
    const small = DRAWINGS[model.lesson](Object.create(host, {root: {value: copy}, room, set: none, step: none, follow: none}))
    let of: unknown[] = []
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
  const live = LIVE[model.lesson]
  const hand =
    live &&
    follower(
      live,
      () => shown && {recording: shown.recording, facts: host.facts, options: host.options},
      ({recording, facts, values, stops}) => {
        const stage = stageOf(root)
        if (!stage || !root.isConnected) return
        inHand = {facts, values} as typeof inHand
        made = recording
        emit("followed", {stage, recording, stops, held: isAhead})
        settle()
      },
    )
  /** Show the lesson's own recording in place of what was recorded in this browser. */
  const letGo = () => {
    const stage = stageOf(root)
    if (!inHand || !stage) return
    inHand = null
    emit("followed", {stage, recording: null, held: isHeld})
  }
  /** Let go if the hand has come back to what the lesson's own recording is of: the answer brings nothing new then. */
  const settle = () => {
    if (inHand && !isAhead() && JSON.stringify(model.values) === recorded) letGo()
  }
  const released = () => setTimeout(settle)
  window.addEventListener("pointerup", released)
  function follow(values: unknown, held: () => boolean) {
    if ((host.values as {picture?: string}).picture || !hand?.follow(values)) return false // a trained picture's pixel is not in the browser
    isHeld = held
    return true
  }
  const moves = on("moved", (moved) => {
    const values = host.values as Record<string, unknown>
    if (!(moved.name in values)) return
    moved.followed = follow({...values, [moved.name]: moved.value}, moved.held)
  })
  const answered = () => {
    recorded = JSON.stringify(model.values)
    if (!isAhead()) inHand = null
  }
  model.on("facts", answered)
  const answers = on("answer", ({stage}) => {
    if (stage === stageOf(root)) answered()
  })
  const onValues = () => {
    settle()
    if (!drawing.changed) return shown ? open(shown) : undefined
    drawing.changed()
    if (shown) tell(new Look(shown)) // the small copy previews what was set, too
  }
  model.on("values", () => queueMicrotask(onValues))
  /** Show the recorded values again instead of those set in the drawing, once the reader has let go. */
  const again = () => {
    if (isDragged()) return window.addEventListener("pointerup", () => setTimeout(again), {once: true})
    letGo()
    drawing.changed?.()
    if (shown) open(shown)
  }
  const heard = on("again", (sender) => {
    if (sender === model) again()
  })
  const resized = () => {
    if (!shown || !root.isConnected) return // the page is being left, so there is no width to measure
    room = null
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
    hand?.stop()
    moves()
    answers()
    heard()
    unsubscribe()
    resizes.disconnect()
    window.removeEventListener("resize", resized)
    window.removeEventListener("pointerup", released)
  })
  return root
}
