// The exercises in the published book: the list, or a task with a recording of its kernel at the start or of a solution.
import {h, style} from "#web/runtime/dom.ts"
import {brief, prose} from "#web/exercises/brief.ts"
import {current} from "#web/runtime/router.ts"
import {addressOf, challengeNamed, list} from "#web/exercises/list.ts"
import {listing} from "#web/widgets/quote.ts"
import type {PublicTask} from "#components"
import type {Model, Render} from "#web/types.ts"

export function render({model, el}: Render<"PublishedExercises">) {
  style(el)
  const place = h("div"),
    moment = h("div", {class: "moment"}, model.get_child("stepper"))
  let end: () => void = () => {}
  let last = ""

  const show = () => {
    end()
    const task = model.tasks.find(({name}) => name === model.shown.task)
    moment.hidden = !task
    place.hidden = challengeNamed(model, new URLSearchParams(current().inputs).get("task") ?? "") !== undefined
    end = task || place.hidden ? () => {} : list(model, place, "")
    if (task) place.replaceChildren(h("div", {class: "workplace"}, ...taskOf(model, task)))
    if (model.shown.task !== last) scrollTo(0, 0)
    last = model.shown.task ?? ""
  }
  last = model.shown.task ?? ""
  show()
  model.on("shown", show)
  model.on("remove", () => end())
  return h("div", {class: "exercise-page", "data-testid": "exercises"}, place, model.get_child("challenge"), moment)
}

function taskOf(model: Model<"PublishedExercises">, task: PublicTask) {
  const {source = "", explanation = "", commands = ""} = model.shown
  const kernel = h("pre", {tabindex: "0", role: "region", "aria-label": "The kernel"})
  listing(kernel, source, 1)
  const way = (words: string, solved: boolean) => {
    const here = solved === Boolean(explanation)
    const address = `${addressOf(task.name)}${solved ? "&solved=true" : ""}`
    return h("a", {class: `btn${here ? " pri" : ""}`, href: address, "aria-current": here ? "true" : null}, words)
  }
  const learnt = h("div", {class: "after-task"})
  if (explanation) learnt.append(h("h3", {}, "What this exercise teaches"), prose(explanation))
  const needs = h("div", {class: "needs"}, h("p", {}, "To write your own kernel and have it marked:"))
  needs.insertAdjacentHTML("beforeend", commands)
  return [
    brief(task, model, learnt),
    h(
      "div",
      {class: "desk"},
      h("p", {class: "ways"}, way("The kernel at the start", false), way("A solution", true)),
      h("div", {class: "quote"}, kernel),
      needs,
    ),
  ]
}
