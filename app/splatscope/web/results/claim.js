// A claim, what was run to see, and the verdict.
import {h, style} from "#web/shell/dom.js"
import {severity} from "#web/stepper/panes/icons.js"

/** @import {Severity} from "#web/stepper/panes/icons.js" */
/** @import {Render} from "#web/types.d.ts" */

/**
 * @typedef {object} Verdict  HTML, what was run and what it says; empty until then
 * @property {boolean | null} [holds]  null: in part
 * @property {string} [ran]
 * @property {string} [said]
 */

/**
 * By whether a claim holds: the class of the verdict, its words and its sign.
 * @type {Record<string, {name: string, words: string, sign: Severity}>}
 */
const VERDICTS = {
  true: {name: "yes", words: "Holds", sign: "ok"},
  false: {name: "no", words: "Does not hold", sign: "warn"},
  null: {name: "part", words: "Holds in part", sign: "note"},
}

/** @param {Render<{claim: string, verdict: Verdict, busy: boolean, error: string}>} component */
export function render({model, el}) {
  style(el)
  const claim = h("span")
  claim.innerHTML = model.claim
  const ran = h("div", {class: "ran"})
  const said = h("div")
  const mark = h("span", {class: "tag"})
  const run = () => model.send_msg({type: "run"})
  const again = h(
    "button",
    {type: "button", class: "btn quiet", onclick: run, "aria-label": `Run it again: ${claim.textContent}`},
    "Run it again",
  )
  const verdict = h("li", {}, mark, said)
  const root = h(
    "article",
    {class: "card claim", "data-testid": "claim", "aria-label": `A claim, checked: ${claim.textContent}`},
    h(
      "ol",
      {},
      h("li", {}, h("span", {class: "tag"}, "The claim"), claim),
      h("li", {}, h("span", {class: "tag"}, "Ran it on this device"), ran, again),
      verdict,
    ),
  )

  const show = () => {
    const {verdict: found, busy, error} = model
    const known = found.said !== undefined
    again.disabled = busy
    root.classList.toggle("busy", busy)
    if (!known) {
      verdict.className = ""
      delete root.dataset.verdict
      ran.textContent = error || (busy ? "Running …" : "Waits its turn …")
      mark.replaceChildren()
      said.textContent = ""
      return
    }
    const {name, words, sign} = VERDICTS[String(found.holds)]
    verdict.className = name
    root.dataset.verdict = words.toLowerCase()
    ran.innerHTML = found.ran ?? ""
    said.innerHTML = found.said ?? ""
    mark.replaceChildren(severity(sign), words)
  }
  show()
  for (const name of ["verdict", "busy", "error"]) model.on(name, () => queueMicrotask(show))
  return root
}
