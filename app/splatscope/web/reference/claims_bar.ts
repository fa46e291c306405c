// The bar of the page of claims: how many hold, which of them to show, and whether to bet first.
import {h, soon, style} from "#web/runtime/dom.ts"
import {emit, on} from "#web/runtime/events.ts"
import {pageRoot} from "#web/runtime/router.ts"
import {remember, remembered} from "#web/runtime/stored.ts"
import type {Render} from "#web/types.ts"

/** The verdicts, each with its plural. */
const VERDICTS = {holds: "hold", "holds in part": "hold in part", "does not hold": "do not hold"}
const KEY = "splatscope-guess" // whether to bet first, which is the default
const UNDECIDED = "cannot be decided here"

/** The claims of a section: the place of each on the page, its verdict, and whether a bet on it was "right" or "wrong". */
const claimsOf = (section: HTMLElement) =>
  [...(section.querySelectorAll("[data-slot]") as NodeListOf<HTMLElement>)].map((place) => {
    const claim = place.firstElementChild?.shadowRoot?.querySelector("[data-testid=claim]")
    return {place, verdict: claim?.getAttribute("data-verdict") ?? "", bet: claim?.getAttribute("data-bet") ?? ""}
  })

export function render({model, el}: Render<"ClaimsBar">) {
  style(el)
  const all = (name: string, words: string) => h("option", {value: name}, words)
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
    ...[...Object.keys(VERDICTS), UNDECIDED].map((words) => all(words, capital(words))),
  )
  const guess = h("input", {type: "checkbox", checked: remembered(KEY) !== "no"})
  verdict.disabled = guess.checked
  const summary = h("p", {class: "claims-summary", "data-testid": "claims-summary"})
  const heard = h("p", {class: "sr", role: "status", "data-testid": "claims-heard"}) // announced once all were tested, and at each choice
  let shown = 0 // claims
  let said = false // whether it was announced that all were tested

  const show = () => {
    const before = summary.textContent
    const counts = {} as Record<string, number>
    shown = 0
    const count = (what: string) => {
      counts[what] = (counts[what] ?? 0) + 1
    }
    for (const part of (pageRoot()?.querySelectorAll("[data-claims]") ?? []) as NodeListOf<HTMLElement>) {
      const claims = claimsOf(part)
      for (const {place, verdict: found, bet} of claims) {
        for (const what of ["all", found || "waits", bet]) count(what)
        place.hidden = verdict.value !== "" && found !== verdict.value
      }
      part.hidden = (section.value !== "" && part.dataset.claims !== section.value) || claims.every(({place}) => place.hidden)
      if (!part.hidden) shown += claims.filter(({place}) => !place.hidden).length
    }
    const {all = 0, waits = 0, right = 0, wrong = 0} = counts
    if (guess.checked) {
      const bets = right + wrong
      summary.replaceChildren(bets ? `You were right about ${right} of ${bets}.` : "Bet on a claim to see its verdict.")
      if (before && before !== summary.textContent) say() // as the page opens it is there to be read
      return
    }
    const verdicts = Object.entries(VERDICTS).flatMap(([one, several], i) => {
      const n = counts[one] ?? 0
      return [i ? " · " : "", h("b", {}, String(n)), ` ${n === 1 ? one : several}`]
    })
    summary.replaceChildren(
      ...verdicts,
      counts[UNDECIDED] ? ` · ${counts[UNDECIDED]} ${UNDECIDED}` : "",
      waits ? ` · ${waits} of ${all} not tested yet` : ` · all ${all} were tested on this device`,
    )
    if (all && !waits && !said) {
      said = true
      say()
    }
  }
  const say = (words = summary.textContent ?? "") => {
    if (heard.textContent !== words) heard.textContent = words
  }
  const choose = () => {
    show()
    const chosen = [section, verdict].flatMap(({value, selectedOptions}) => (value ? [selectedOptions[0].text] : []))
    say([...chosen, `${shown} ${shown === 1 ? "claim" : "claims"}`].join(", "))
  }
  const later = soon(() => {
    emit("bets", guess.checked) // also for claims that were added since
    show()
  })
  section.onchange = choose
  verdict.onchange = choose
  guess.onchange = () => {
    verdict.disabled = guess.checked
    if (guess.checked) verdict.value = ""
    remember(KEY, guess.checked ? "yes" : "no")
    emit("bets", guess.checked)
    show()
    say()
  }
  const end = on("asked", later)
  model.on("remove", end)
  later()
  return h(
    "div",
    {class: "claims-bar", role: "group", "aria-label": "Which claims to show"},
    h("label", {for: "claims-section"}, "Section"),
    section,
    h("label", {for: "claims-verdict"}, "Verdict"),
    verdict,
    h("label", {class: "chk"}, guess, "Bet first"),
    summary,
    heard,
  )
}

const capital = (words: string) => words[0].toUpperCase() + words.slice(1)
