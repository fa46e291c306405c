// The text of a task, which a learner reads before the first try.
import {hrefOf, UNNAMED} from "#web/runtime/address.ts"
import {h} from "#web/runtime/dom.ts"
import type {PublicTask, PublishedExercisesParameters} from "#components"

/**
 * Make the column with a task's text.
 * @param parts  shown below the text
 */
export function brief(task: PublicTask, model: Pick<PublishedExercisesParameters, "courses" | "tasks">, ...parts: HTMLElement[]) {
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
      h("a", {href: hrefOf({page: "exercises", step: UNNAMED, inputs: ""})}, "Exercises"),
      ` / ${course}${same.length > 1 ? ` ${same.indexOf(task) + 1} of ${same.length}` : ""}`,
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
    language(),
    ...parts,
  )
}

const SLANG: [python: string, slang: string][] = [
  ["x = 1.8", "float x = 1.8f;  state the type (int, uint, bool …), end with ;"],
  ["if a: …  else: …", "if (a) { … } else { … }  use braces, not indentation"],
  ["for i in range(n): …", "for (uint i = 0; i < n; i++) { … }"],
  ["a and b, a or b, not a", "a && b, a || b, !a"],
  ["a if c else b", "c ? a : b"],
  ["a // b, a / b", "a / b drops the remainder for integers, but not for floats"],
  ["# a comment", "// a comment"],
  ["x ** 2, x ** 0.5, min, max", "x * x, sqrt(x), min(a, b), max(a, b)"],
  ["-1", "a uint is never negative: 0u - 1 is 4,294,967,295"],
]

const WORDS: [word: string, meaning: string][] = [
  ["float4 c; c.rgb; c.a", "a vector of four numbers; three of them; the fourth. + and * work on each number"],
  ["uniform", "the same value for all threads; read-only"],
  ["uint id : SV_DispatchThreadID", "the thread's number across all workgroups"],
  ["uint lane : SV_GroupIndex", "its number within its workgroup"],
  ["groupshared", "memory that the threads of a workgroup share"],
  ["GroupMemoryBarrierWithGroupSync();", "wait for all threads of the workgroup"],
  ["InterlockedAdd(place, value);", "add safely, even if many threads do so at once"],
]

/** The differences from Python, folded. */
function language() {
  const rows = (pairs: [string, string][]) =>
    pairs.map(([one, other]) => h("tr", {}, h("th", {scope: "row"}, h("code", {}, one)), h("td", {}, other)))
  return h(
    "details",
    {class: "language"},
    h("summary", {}, "Slang for Python programmers"),
    h("table", {}, h("tbody", {}, ...rows(SLANG), ...rows(WORDS))),
  )
}

export function prose(html: string) {
  const el = h("div", {class: "prose"})
  el.innerHTML = html
  return el
}

export const counted = (n: number, noun: string) => `${n} ${noun}${n === 1 ? "" : "s"}`
