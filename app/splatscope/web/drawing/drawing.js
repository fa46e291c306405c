// A drawing beside the source: the `draw` of lessons/NAME/drawing.js, repainted at each moment of its stepper.
// It is a function of a host {root, options, facts, values, set, step} and returns {open?(look), paint(look), resized?(look), changed?()}.
import {h, style} from "#web/shell/dom.js"
import {emit} from "#web/shell/events.js"
import {DRAWINGS} from "#drawings"
import {follow} from "./follow.js"
import {Look} from "./look.js"

export function render({model, el}) {
  style(el)
  const root = h("div", {class: `drawing drawing-${model.lesson}`})
  const drawing = DRAWINGS[model.lesson]({
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
    set: (name, value) => model.send_msg({type: "set", name, value}),
    step: (step) => emit("step", step),
  })
  let recording = null,
    last = null
  const paint = (moment) => {
    last = moment
    const look = new Look(moment)
    if (moment.recording !== recording) {
      recording = moment.recording
      drawing.open?.(look)
    }
    drawing.paint(look)
  }
  const leave = follow(el, paint)
  const again = () => {
    if (last) {
      recording = null
      paint(last)
    }
  }
  model.on("values", () => queueMicrotask(() => (drawing.changed ? drawing.changed() : again())))
  const watch = new ResizeObserver(() => {
    if (drawing.resized && last) drawing.resized(new Look(last))
  })
  watch.observe(root)
  model.on("remove", () => {
    leave()
    watch.disconnect()
  })
  return root
}
