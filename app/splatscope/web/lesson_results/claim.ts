// A claim, the experiment that tests it, and the verdict, shown at once or after the reader's bet. Bets are stored for the next
// visit.
import {h, style} from "#web/runtime/dom.ts"
import {answers, markOf, noteAnswer} from "#web/runtime/answers.ts"
import {emit, on} from "#web/runtime/events.ts"
import {classes} from "#web/drawing/svg.ts"
import {type Severity, severityIcon} from "#web/stepper/panes/icons.ts"
import {announceRuns} from "./announce.ts"
import type {Render} from "#web/types.ts"

/** By whether a claim holds: the verdict's class, words and sign, and the label of a bet on it. */
const VERDICTS: Record<string, {name: string; words: string; sign: Severity; bet: string}> = {
  true: {name: "yes", words: "Holds", sign: "ok", bet: "Holds"},
  null: {name: "part", words: "Holds in part", sign: "part", bet: "In part"},
  false: {name: "no", words: "Does not hold", sign: "no", bet: "Does not hold"},
  undecided: {name: "open", words: "Cannot be decided here", sign: "open", bet: ""},
}

let made = 0

/** The first words of a claim, by which it is told from others; the whole claim is read out after its name. */
const beginning = (text: string) => `${text.trim().split(/\s+/).slice(0, 6).join(" ")} …`

export function render({model, el}: Render<"Claim">) {
  style(el)
  const number = made++
  const claim = h("p", {class: "quoted", id: `claim-${number}`})
  claim.innerHTML = model.claim
  const source = h("p", {class: "from"})
  source.innerHTML = `From: ${model.source}`
  const name = model.label || claim.textContent
  const ran = h("div", {class: "ran"})
  const said = h("div", {class: "said", id: `claim-said-${number}`})
  const mark = h("span", {class: "tag"})
  const announced = announceRuns(model)
  let repeats = false // whether the run that the reader waits for is not the first
  const runAgain = () => {
    repeats = model.verdict.said !== undefined
    announced.run()
  }
  const again = h("button", {type: "button", class: "btn quiet", onclick: runAgain})
  const bets = Object.entries(VERDICTS).flatMap(([holds, {bet}]) =>
    bet ? h("button", {type: "button", class: "btn", onclick: () => place(holds)}, bet) : [],
  )
  const ask = h("div", {class: "bet", role: "group", "aria-label": "Your bet"}, ...bets)
  const won = h("p", {class: "won"})

  const verdict = h("li", {tabindex: "-1", "aria-describedby": said.id}, mark, won, ask, announced.el)
  const ranTag = h("span", {class: "tag"})
  const evidence = h("li", {class: "evidence"}, ranTag, said, ran, again)
  const named = {"aria-label": `A claim: ${beginning(claim.textContent ?? "")}`, "aria-describedby": claim.id}
  const root = h(
    "article",
    {class: "card claim", "data-testid": "claim", tabindex: -1, ...named},
    h("ol", {}, h("li", {class: "stated"}, claim, model.source ? source : null), verdict, evidence),
  )
  const asked = markOf("claim", claim.textContent ?? "") // the same mark on a section's page and on the page of claims
  let bet: string | null = answers()[asked] ?? null
  if (bet !== null && !VERDICTS[bet]?.bet) bet = null

  let covered = model.bets && bet === null
  let placed = false // a bet was placed and is neither won nor lost yet

  const place = (holds: string) => {
    bet = holds
    placed = true
    noteAnswer(asked, holds)
    covered = false
    if (model.verdict.said === undefined) announced.await()
    show()
    verdict.focus({preventScroll: true}) // the focused button is gone; focusing the verdict has it read out
  }

  const show = () => {
    draw()
    const found = mark.querySelector(".sr") ?? mark
    const words = repeats
      ? `It has been run again: ${(found.textContent ?? "").toLowerCase()}`
      : [won, found, said].map((el) => el.textContent).join(" ")
    announced.update(model.error || (model.verdict.said === undefined ? "" : words.trim()))
    root.classList.toggle("open", covered)
    emit("asked", {root})
  }
  const draw = () => {
    const {verdict: found, busy, error} = model
    const known = found.said !== undefined
    again.setAttribute("aria-disabled", String(busy)) // not disabled: it keeps the focus
    again.textContent = known || error ? "Run it again" : "Run it now"
    again.setAttribute("aria-label", `${again.textContent}: ${name}`)
    root.classList.toggle("busy", busy)
    if (known) root.dataset.verdict = VERDICTS[String(found.holds)].words.toLowerCase()
    else delete root.dataset.verdict
    const open = known && !covered
    ask.hidden = !covered
    evidence.hidden = covered && !error // before the bet there is nothing to show
    again.hidden = covered || !!model.device
    verdict.className = classes("verdict", open && VERDICTS[String(found.holds)].name)
    ran.classList.toggle("waits", !known)
    ranTag.textContent = model.device ? `Run on ${model.device}` : open ? "Run on this device" : "On this device"
    if (!open) {
      mark.replaceChildren(covered ? "Your bet" : "No verdict yet")
      said.replaceChildren()
      won.textContent = ""
      ran.textContent = error || (busy ? "Running …" : "Waiting for its turn …")
      return
    }
    const {words, sign} = VERDICTS[String(found.holds)]
    mark.replaceChildren(severityIcon(sign), h("span", {"aria-hidden": "true"}, words), h("span", {class: "sr"}, `${words}.`))
    const decided = found.holds !== "undecided"
    if (bet !== null && decided) root.dataset.bet = bet === String(found.holds) ? "right" : "wrong"
    if (placed && decided) {
      placed = false
      emit("bet", {option: VERDICTS[String(bet)].bet, offer: found.offer ?? ""})
    }
    won.classList.toggle("hit", decided && bet === String(found.holds))
    won.textContent =
      bet === null ? "" : bet === String(found.holds) ? "You were right." : `You bet: ${VERDICTS[bet].bet.toLowerCase()}.`
    ran.innerHTML = found.ran ?? ""
    said.innerHTML = found.said ?? ""
  }
  show()
  for (const name of ["verdict", "busy", "error"]) model.on(name, () => queueMicrotask(show))
  const end = on("bets", (wanted) => {
    if (covered === (wanted && bet === null)) return
    covered = !covered
    show()
  })
  model.on("remove", end)
  return root
}
