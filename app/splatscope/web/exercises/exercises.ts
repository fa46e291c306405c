// The page of exercises: the list of tasks, or one of them.
import {UNNAMED} from "#web/runtime/address.ts"
import {h, style} from "#web/runtime/dom.ts"
import {on} from "#web/runtime/events.ts"
import {current, nameTab} from "#web/runtime/router.ts"
import {challengeNamed, list} from "./list.ts"
import {Workplace} from "./workplace.ts"
import type {Render} from "#web/types.ts"

export function render({model, el}: Render<"Exercises">) {
  style(el)
  const place = h("div"),
    moment = {stepper: h("div", {class: "moment", hidden: true}), compare: h("div", {class: "moment", hidden: true})}
  const title = h("span", {"data-testid": "exercise-place"})
  model.on("place", () => (title.textContent = model.place))
  const back = h("button", {type: "button", class: "btn", onclick: () => work?.back()}, "Back to the editor")
  moment.stepper.append(h("div", {class: "ph"}, title, h("span", {class: "sp"}), back))
  for (const name of ["stepper", "compare"] as const) moment[name].append(model.get_child(name))
  const root = h(
    "div",
    {class: "exercise-page", "data-testid": "exercises"},
    place,
    model.get_child("challenge"),
    moment.stepper,
    moment.compare,
  )
  let work: Workplace | null = null
  let end: () => void = () => {}

  const show = () => {
    const name = new URLSearchParams(current().inputs).get("task") ?? ""
    if (name && name === work?.task.name) return
    work?.close()
    end()
    for (const one of Object.values(moment)) one.hidden = true
    const task = model.tasks.find((one) => one.name === name)
    const challenge = challengeNamed(model, name)
    root.dataset.task = task?.name ?? ""
    nameTab(task?.title ?? challenge?.title ?? "", "Exercises")
    requestAnimationFrame(() => hideNeighbours(el, Boolean(task ?? challenge))) // after it was added to the page
    work = task ? new Workplace(model, task, place, moment, el.getRootNode() as ShadowRoot) : null
    place.hidden = challenge !== undefined
    end = work || place.hidden ? () => {} : list(model, place, name)
    if (!shown) return
    scrollTo(0, 0)
    const title = place.querySelector("#task-title") as HTMLElement | null
    title?.focus({preventScroll: true})
  }
  let shown = false
  show()
  shown = true
  const endLinks = on("step", (step) => {
    if (step === UNNAMED && current().page === "exercises") show()
  })
  model.on("remove", () => {
    endLinks()
    end()
    work?.close()
  })
  return root
}

/**
 * Hide the links to the previous and next page, because a task has its own link to the next one.
 * @param el  of the component
 */
function hideNeighbours(el: Node, hide: boolean) {
  for (let root = el.getRootNode(); root instanceof ShadowRoot; root = root.host.getRootNode()) {
    const links = root.querySelector("nav.pn") as HTMLElement | null
    if (links) links.style.display = hide ? "none" : ""
  }
}
