// The list of tasks, course by course, with the attempts at each.
import {hrefOf, UNNAMED} from "#web/runtime/address.ts"
import {h} from "#web/runtime/dom.ts"
import {severityIcon} from "#web/stepper/panes/icons.ts"
import {type Attempts, attempts, onAttempts} from "#web/runtime/attempts.ts"
import {best} from "#web/runtime/scores.ts"
import type {PublicChallenge, PublicTask, PublishedExercisesParameters} from "#components"

type Shown = Pick<PublishedExercisesParameters, "courses" | "tasks" | "challenges">

/** The challenge of a name in the address, which has no kernel to mark; `training/challenge.ts` plays it. */
export const challengeNamed = ({challenges}: Pick<Shown, "challenges">, name: string) =>
  challenges.find((challenge) => challenge.name === name)

export const addressOf = (name: string) => hrefOf({page: "exercises", step: UNNAMED, inputs: `task=${encodeURIComponent(name)}`})

/** The task to continue with: the first unsolved one in the course with the most attempted tasks. */
function upNext(tasks: PublicTask[], known: Attempts) {
  const open = tasks.filter(({name, course}) => course !== "challenge" && !known[name]?.solved)
  const tried = (course: string) => tasks.filter((task) => task.course === course && known[task.name]?.tries)
  const courses = [...new Set(open.map(({course}) => course))].sort((a, b) => tried(b).length - tried(a).length)
  return open.find(({course}) => course === courses[0])
}

/**
 * Show the list of tasks.
 * @param missing  a task in the address that does not exist
 * @returns ends it
 */
export function list(model: Shown, place: HTMLElement, missing: string): () => void {
  const paint = () => {
    const known = attempts()
    const solved = model.tasks.filter(({name}) => known[name]?.solved).length
    const next = upNext(model.tasks, known)
    place.replaceChildren(
      h(
        "div",
        {class: "exercises-head"},
        h("h1", {"aria-hidden": "true"}, "Exercises"), // screen readers read the page's name in the bar
        missing ? h("p", {class: "missing", role: "status"}, `There is no exercise “${missing.slice(0, 60)}”. These exist:`) : null,
        h(
          "p",
          {class: "lede"},
          "A kernel that produces the right numbers may still be wrong. Here each kernel is run on several inputs, and every access is " +
            "checked. If two threads get in each other's way, you see which two and on which line, and can step there.",
        ),
        next
          ? h(
              "p",
              {class: "ways"},
              h("a", {class: "btn pri big", href: addressOf(next.name)}, `${solved ? "Continue" : "Start"} with “${next.title}”`),
              h("span", {class: "dim"}, `${solved} of ${model.tasks.length} exercises solved`),
            )
          : h("p", {}, `All ${model.tasks.length} solved.`),
      ),
      h("div", {class: "courses"}, ...model.courses.map(([course, title]) => courseOf(model, course, title, known))),
    )
  }
  paint()
  return onAttempts(paint)
}

const ABOUT = {
  challenge: "Each has a score. This browser keeps your best.",
  mend: "Each kernel has one fault, in one place or in several. Find its cause, and change as little as you can.",
  write: "You get the parameters and a task, and write the body.",
}

function challengeRow({name, title, about, unit, digits}: PublicChallenge, number: number) {
  const known = best(name)
  const fraction = {minimumFractionDigits: digits, maximumFractionDigits: digits}
  const record = h("span", {class: "said"}, known === null ? "" : `Best: ${known.toLocaleString("en", fraction)} ${unit}`)
  return h(
    "li",
    {},
    h(
      "a",
      {href: addressOf(name)},
      h("span", {class: "no"}, String(number)),
      h("b", {}, title),
      h("small", {}, about),
      record,
      h("span", {class: "mark"}),
    ),
  )
}

function courseOf({tasks, challenges}: Shown, course: string, title: string, known: Attempts) {
  const rows = tasks
    .filter((task) => task.course === course)
    .map((task, i) => {
      const {solved, tries = 0, hints = 0} = known[task.name] ?? {}
      const counts = [tries && `${tries} ${tries === 1 ? "try" : "tries"}`, hints && `${hints} ${hints === 1 ? "hint" : "hints"}`]
      return h(
        "li",
        {},
        h(
          "a",
          {href: addressOf(task.name), "data-solved": solved ? "true" : null},
          h("span", {class: "no"}, String(i + 1)),
          h("b", {}, task.title),
          h("small", {}, task.section[1] ?? ""),
          h("span", {class: "said"}, [solved ? "Solved" : "", ...counts].filter(Boolean).join(", ")),
          h("span", {class: "mark", "aria-hidden": "true"}, solved ? severityIcon("ok") : null),
        ),
      )
    })
  return h(
    "section",
    {class: "course", "aria-labelledby": `course-${course}`},
    h("h2", {id: `course-${course}`}, title),
    h("p", {class: "dim"}, ABOUT[course as keyof typeof ABOUT] ?? ""),
    h(
      "ol",
      {},
      ...rows,
      ...(course === "challenge" ? challenges.map((challenge, i) => challengeRow(challenge, rows.length + i + 1)) : []),
    ),
  )
}
