// Tells screen readers about the runs of an experiment that the reader waits for: that it is running, and what came of it. Other
// runs, such as those after a change of the inputs, are not announced.
import {h} from "#web/runtime/dom.ts"
import type {Model} from "#web/types.ts"

export function announceRuns(model: Model<"Claim"> | Model<"Show">) {
  const el = h("p", {class: "sr", role: "status"})
  let awaited = false // whether the reader waits for a run
  let wasBusy = model.busy
  return {
    el,
    /** Run the experiment, unless it is running already. */
    run() {
      if (model.busy) return
      awaited = true
      el.textContent = "Running …"
      model.send_msg({type: "run"})
    },
    /** Announce the end of the next run, or of the one that is under way. */
    await() {
      awaited = true
    },
    /**
     * Call this whenever the model has changed.
     * @param words  the result; "" if there is none
     */
    update(words: string) {
      const ended = wasBusy && !model.busy
      wasBusy = model.busy
      if (!awaited || !ended || !words) return
      awaited = false
      el.textContent = words
    },
  }
}
