// Where a class is and what it has answered, for the presenter: numbers only, no names.
import {h} from "#web/runtime/dom.ts"
import type {Attended, Question} from "./guide.ts"

/**
 * Make the list; `paint(attended, first)` shows it, with the question or claim of the name `first` at the top of its page.
 * @param mayTell  whether to show how many were right. The class sees the presenter's page, so this could give the answer away.
 */
export function attendance(mayTell: (page: string, question: string) => boolean = () => true) {
  const el = h("div", {class: "attendance", "data-testid": "attendance"})
  let shown = ""
  return {
    el,
    paint(attended: Attended[], first = "") {
      const known = attended.flatMap(({page, questions}) => questions.map(({name}) => mayTell(page, name)))
      const text = JSON.stringify([attended, known, first])
      if (text === shown) return
      shown = text
      el.replaceChildren(
        ...(attended.length ? attended.map((one) => pageOf(one, mayTell, first)) : [h("p", {class: "dim"}, "Nobody is here yet.")]),
      )
    },
  }
}

/** @param first  the name of the question that comes first */
const pageOf = (
  {page, title, here, steps, stuck, questions, exercises}: Attended,
  mayTell: (page: string, question: string) => boolean,
  first: string,
) =>
  h(
    "section",
    {"data-attended": page, "data-here": here},
    h("h3", {}, title, h("span", {class: "dim num"}, ` ${here} here`)),
    steps.length ? h("p", {class: "num"}, steps.map(([step, count]) => `${count} ${step}`).join(", ")) : null,
    ...stuck.map(([step, count]) => h("p", {class: "stuck num"}, `${count} ${step} for more than a minute, perhaps stuck`)),
    ...[...questions]
      .sort((a, b) => Number(b.name === first) - Number(a.name === first))
      .flatMap((question) => asked(question, mayTell(page, question.name))),
    ...exercises.map(({title, tried, solved, tries, causes}) =>
      h(
        "p",
        {class: "num"},
        `${title}: ${solved} of ${tried} solved it, in ${tries} ${tries === 1 ? "try" : "tries"}`,
        causes.length ? `. Others: ${causes.map(([heading, count]) => `${heading} (${count})`).join(", ")}` : "",
      ),
    ),
  )

/** @param tell  whether to show how many were right */
export const asked = ({text, bet, answered, right, options}: Question, tell: boolean) => [
  h(
    "p",
    {class: "num"},
    h("q", {}, text),
    ` ${answered ? `${answered} ${bet ? "bet" : "answered"}${tell ? `, ${right} of them right` : ""}` : `no ${bet ? "bet" : "answer"} yet`}`,
  ),
  options.length ? h("ul", {class: tell ? "poll told num" : "poll num"}, ...options.map((option) => bar(option, answered))) : null,
]

/** How many chose an option. The style sheet marks the right one only where that may be shown. */
const bar = ([option, count, right]: Question["options"][number], of: number) => {
  const share = h("b")
  share.style.width = `${(100 * count) / of}%`
  return h(
    "li",
    {class: right ? "right" : null},
    h("span", {}, option),
    h("i", {"aria-hidden": "true"}, share),
    h("span", {}, String(count)),
  )
}
