// What a learner reads of a task before the first try.
import {h} from "#web/shell/dom.js"

/** @import {Task} from "./exercises.js" */

/**
 * Make the words of a task, and what holds them.
 * @param {Task} task
 * @param {{courses: [name: string, title: string][], tasks: Task[]}} model
 * @param {HTMLElement[]} parts  below the words
 */
export function brief(task, model, ...parts) {
  const same = model.tasks.filter(({course}) => course === task.course)
  const course = model.courses.find(([name]) => name === task.course)?.[1] ?? ""
  const [address, title] = task.section
  const hidden = task.cases.filter(([, is]) => is).length
  return h(
    "section",
    {class: "brief", "aria-labelledby": "task-title"},
    h(
      "p",
      {class: "dim"},
      h("a", {href: "?page=exercises"}, "Exercises"),
      ` / ${course} ${same.indexOf(task) + 1} of ${same.length}`,
    ),
    h("h2", {id: "task-title", tabindex: "-1"}, task.title),
    prose(task.words),
    task.rules.length ? h("ul", {class: "rules"}, ...task.rules.map((rule) => h("li", {}, `${rule}.`))) : null,
    h(
      "p",
      {class: "dim"},
      `Marked on ${counted(task.cases.length - hidden, "case")}${hidden ? ` and ${counted(hidden, "hidden one")}` : ""}.`,
      address ? h("span", {}, " Read first: ", h("a", {href: address}, title ?? ""), ".") : null,
    ),
    ...parts,
  )
}

/** @param {string} html */
export function prose(html) {
  const el = h("div", {class: "prose"})
  el.innerHTML = html
  return el
}

/**
 * @param {number} n
 * @param {string} noun
 */
export const counted = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`
