// The page of claims in short: how many hold, which of them to show, and whether to guess before looking.
import {h, soon, style} from "#web/shell/dom.js"
import {emit, on} from "#web/shell/events.js"
import {pageRoot} from "#web/shell/page.js"

/** @import {Render} from "#web/types.d.ts" */

const VERDICTS = ["holds", "holds in part", "does not hold"]

/**
 * The claims of a page, each by its place on it.
 * @param {HTMLElement} section
 * @returns {[place: HTMLElement, verdict: string][]}
 */
const claimsOf = (section) =>
  [.../** @type {NodeListOf<HTMLElement>} */ (section.querySelectorAll("[data-slot]"))].map((place) => {
    const claim = place.firstElementChild?.shadowRoot?.querySelector("[data-testid=claim]")
    return [place, claim?.getAttribute("data-verdict") ?? ""]
  })

/** @param {Render<{sections: [name: string, title: string][]}>} component */
export function render({model, el}) {
  style(el)
  const all = (/** @type {string} */ name, /** @type {string} */ words) => h("option", {value: name}, words)
  const section = h(
    "select",
    {id: "claims-section"},
    all("", "All sections"),
    ...model.sections.map(([name, title]) => all(name, title)),
  )
  const verdict = h(
    "select",
    {id: "claims-verdict"},
    all("", "All verdicts"),
    ...VERDICTS.map((words) => all(words, capital(words))),
  )
  const guess = h("input", {type: "checkbox"})
  const summary = h("p", {class: "claims-summary", role: "status", "data-testid": "claims-summary"})

  const show = () => {
    const counts = /** @type {Record<string, number>} */ ({})
    let total = 0
    for (const part of /** @type {NodeListOf<HTMLElement>} */ (pageRoot()?.querySelectorAll("[data-claims]") ?? [])) {
      let shown = 0
      for (const [place, found] of claimsOf(part)) {
        total++
        counts[found] = (counts[found] ?? 0) + 1
        place.hidden = verdict.value !== "" && found !== verdict.value
        if (!place.hidden) shown++
      }
      part.hidden = (section.value !== "" && part.dataset.claims !== section.value) || shown === 0
    }
    const tried = total - (counts[""] ?? 0)
    const numbers = VERDICTS.map((words) => [h("b", {}, String(counts[words] ?? 0)), ` ${words}`])
    const rest = total - tried
    summary.replaceChildren(
      ...numbers.flatMap((words, i) => (i ? [" · ", ...words] : words)),
      rest ? ` · ${rest} of ${total} still to be tried` : ` · all ${total} tried on this device`,
    )
    summary.hidden = guess.checked
  }
  const later = soon(show)
  section.onchange = show
  verdict.onchange = show
  guess.onchange = () => {
    verdict.disabled = guess.checked
    if (guess.checked) verdict.value = ""
    emit("bets", guess.checked)
    show()
  }
  const end = on("claim", later)
  model.on("remove", end)
  later()
  return h(
    "div",
    {class: "claims-bar", role: "group", "aria-label": "Which claims to show"},
    h("label", {for: "claims-section"}, "Section"),
    section,
    h("label", {for: "claims-verdict"}, "Verdict"),
    verdict,
    h("label", {class: "chk"}, guess, "Guess first"),
    summary,
  )
}

/** @param {string} words */
const capital = (words) => words[0].toUpperCase() + words.slice(1)
