// The page of exercises: the list of tasks, or one of them.
import {UNNAMED} from "#web/runtime/address.js"
import {h, style} from "#web/runtime/dom.js"
import {on} from "#web/runtime/events.js"
import {current, nameTab} from "#web/runtime/router.js"
import {list} from "./list.js"
import {Workplace} from "./workplace.js"

/** @import {Render} from "#web/types.d.ts" */
/**
 * @typedef {object} Task
 * @property {string} name
 * @property {string} title
 * @property {string} course
 * @property {[address: string, title: string] | []} section  section of the book to read first
 * @property {string} words  HTML
 * @property {string[]} hints  HTML
 * @property {string} start  the kernel to begin with
 * @property {string[]} rules  conditions besides the right outputs
 * @property {[name: string, hidden: boolean][]} cases
 */
/**
 * @typedef {object} Cause
 * @property {string} kind
 * @property {string} heading
 * @property {string} words
 * @property {string} case
 * @property {boolean} hidden
 * @property {number} line
 * @property {number} step
 * @property {number[]} threads
 * @property {string} meaning  an explanation, if the words are the compiler's
 */
/**
 * @typedef {object} Mark
 * @property {string} task
 * @property {number} number
 * @property {boolean} passed
 * @property {number} points  the share of cases that are passed
 * @property {Cause[]} causes
 * @property {[name: string, hidden: boolean, passed: boolean | null, waves: number][]} cases
 * @property {import("#web/widgets/codemirror.js").Diagnostic[]} diagnostics
 */
/**
 * @typedef {object} Parameters
 * @property {[name: string, title: string][]} courses
 * @property {Task[]} tasks
 * @property {Mark | {number?: undefined}} mark
 * @property {string} busy
 * @property {string} error
 * @property {{task?: string, explanation: string, solution: string}} revealed
 * @property {string} place  the workgroup and case that the stepper shows
 * @property {"" | "stepper" | "compare"} view
 */
/** @typedef {{stepper: HTMLElement, compare: HTMLElement}} Children */

/** @param {Render<Parameters, Children>} component */
export function render({model, el}) {
  style(el)
  const place = h("div"),
    moment = {stepper: h("div", {class: "moment", hidden: true}), compare: h("div", {class: "moment", hidden: true})}
  const title = h("span", {"data-testid": "exercise-place"})
  model.on("place", () => (title.textContent = model.place))
  const back = h("button", {type: "button", class: "btn", onclick: () => work?.back()}, "Back to the editor")
  moment.stepper.append(h("div", {class: "ph"}, title, h("span", {class: "sp"}), back))
  for (const name of /** @type {(keyof Children)[]} */ (["stepper", "compare"])) moment[name].append(model.get_child(name))
  const root = h("div", {class: "exercise-page", "data-testid": "exercises"}, place, moment.stepper, moment.compare)
  /** @type {Workplace | null} */
  let work = null
  /** @type {() => void} */
  let end = () => {}

  const show = () => {
    const name = new URLSearchParams(current().inputs).get("task") ?? ""
    if (name && name === work?.task.name) return
    work?.close()
    end()
    for (const one of Object.values(moment)) one.hidden = true
    const task = model.tasks.find((one) => one.name === name)
    root.dataset.task = task?.name ?? ""
    nameTab(task?.title ?? "", "Exercises")
    requestAnimationFrame(() => hideNeighbours(el, Boolean(task))) // after it was added to the page
    work = task ? new Workplace(model, task, place, moment, /** @type {ShadowRoot} */ (el.getRootNode())) : null
    end = work ? () => {} : list(model, place, name)
    if (!shown) return
    scrollTo(0, 0)
    const title = /** @type {HTMLElement | null} */ (place.querySelector("#task-title"))
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
 * @param {Node} el  of the component
 * @param {boolean} hide
 */
function hideNeighbours(el, hide) {
  for (let root = el.getRootNode(); root instanceof ShadowRoot; root = root.host.getRootNode()) {
    const links = /** @type {HTMLElement | null} */ (root.querySelector("nav.pn"))
    if (links) links.style.display = hide ? "none" : ""
  }
}
