// The router of a page of one recording and of a frame, in place of runtime/router.ts. Such a page has one address, with the step
// after the `#`; a frame has none.
import {UNNAMED} from "#web/runtime/address.ts"
import {emit} from "#web/runtime/events.ts"

const PACE = 200 // ms between two writes of the step: browsers allow about 200 in 30 s
const WITHOUT_ADDRESS = location.protocol === "about:" // in a notebook and in a frame, the page has no address
let step = read()
let due = false // whether the address is about to be written

function read() {
  const named = /^#step=(\d{1,9})$/.exec(location.hash)
  return named ? Number(named[1]) : UNNAMED
}

/** The step in the address, UNNAMED if there is none. */
export const current = () => ({page: "", step, inputs: ""})

/** There is no presenter here. */
export const isLed = () => false

/** There is no other page. */
export const followLink = () => {}

/** Only the reader presses →. */
export const pressesDue = () => -1

/** Write the step to the address. */
export function setStep(next: number) {
  if (next === step || WITHOUT_ADDRESS) return
  step = next
  if (due) return
  due = true
  setTimeout(() => {
    due = false
    history.replaceState(null, "", `#step=${step}`)
  }, PACE)
}

/** Show a step that the reader has not chosen here. */
export function showStep(next: number) {
  step = next
  emit("step", step)
}

window.addEventListener("hashchange", () => {
  const next = read()
  if (next !== UNNAMED && next !== step) showStep(next)
})
