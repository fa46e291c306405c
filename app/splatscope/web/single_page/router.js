// The router of a page of one recording, in the place of shell/router.js: such a page has one address, and its step behind the `#`.
import {UNNAMED} from "#web/shell/address.js"
import {emit} from "#web/shell/events.js"

const PACE = 200 // ms between two writes of the step: browsers allow some 200 in 30 s
const WITHOUT_ADDRESS = location.protocol === "about:" // in a notebook, the page has none
let step = read()
let due = false // the address is about to be written

function read() {
  const named = /^#step=(\d{1,9})$/.exec(location.hash)
  return named ? Number(named[1]) : UNNAMED
}

/** The step that the address names, UNNAMED where it names none. */
export const current = () => ({page: "", step, inputs: ""})

/** Nobody else leads through this page. */
export const isLed = () => false

/** Nobody presses → but the reader. */
export const pressesDue = () => -1

/**
 * Take the step into the address.
 * @param {number} next
 */
export function setStep(next) {
  if (next === step || WITHOUT_ADDRESS) return
  step = next
  if (due) return
  due = true
  setTimeout(() => {
    due = false
    history.replaceState(null, "", `#step=${step}`)
  }, PACE)
}

window.addEventListener("hashchange", () => {
  const next = read()
  if (next !== UNNAMED && next !== step) {
    step = next
    emit("step", step)
  }
})
