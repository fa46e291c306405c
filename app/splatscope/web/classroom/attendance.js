// Where a class is and what it has answered, for who presents: numbers, and no names.
import {h} from "#web/shell/dom.js"

/** @import {Attended} from "./guide.js" */

/** Make the list; `paint(attended)` shows it. */
export function attendance() {
  const el = h("div", {class: "attendance", "data-testid": "attendance"})
  let shown = ""
  return {
    el,
    paint(/** @type {Attended[]} */ attended) {
      const text = JSON.stringify(attended)
      if (text === shown) return
      shown = text
      el.replaceChildren(...(attended.length ? attended.map(pageOf) : [h("p", {class: "dim"}, "Nobody is here yet.")]))
    },
  }
}

/** @param {Attended} page */
const pageOf = ({page, title, here, steps, stuck, questions, exercises}) =>
  h(
    "section",
    {"data-attended": page, "data-here": here},
    h("h3", {}, title, h("span", {class: "dim num"}, ` ${here} here`)),
    steps.length ? h("p", {class: "num"}, steps.map(([step, count]) => `${count} ${stepName(step)}`).join(", ")) : null,
    ...stuck.map(([step, count]) =>
      h("p", {class: "stuck num"}, `${count} ${stepName(step)} for more than a minute: perhaps stuck`),
    ),
    ...questions.map(({answered, right}, i) =>
      h("p", {class: "num"}, `Question ${i + 1}: ${answered ? `${answered} answered, ${right} of them right` : "no answer yet"}`),
    ),
    ...exercises.map(({title, tried, solved, tries, causes}) =>
      h(
        "p",
        {class: "num"},
        `${title}: ${solved} of ${tried} solved it, in ${tries} ${tries === 1 ? "try" : "tries"}`,
        causes.length ? `. Others: ${causes.map(([heading, count]) => `${heading} (${count})`).join(", ")}` : "",
      ),
    ),
  )

/** @param {number} step */
const stepName = (step) => (step < 0 ? "where the figure opens" : `at step ${step.toLocaleString("en")}`)
