// The carrier of a single recording: draws the stepper that the page describes, and starts what the shell starts in the app.
import {Tree} from "#web/runtime/host.js"
import {setKeys, startKeys} from "#web/runtime/keys.js"
import * as Stepper from "#web/stepper/stepper.js"
import {primary} from "#web/stepper/steppers.js"
import {beginTheme, startTheme} from "#web/theme/theme.js"

/**
 * @import {Described} from "#web/runtime/host.js"
 * @import {KeyWords} from "#web/runtime/keys.js"
 */

/**
 * What `single_page.py` embeds besides the recording.
 * @typedef {object} About
 * @property {Described} stepper
 * @property {KeyWords[]} keys
 */

/** @param {string} id */
const text = (id) => document.getElementById(id)?.textContent ?? ""

function start() {
  /** @type {About} */
  const {stepper, keys} = JSON.parse(text("about"))
  stepper.values.recording = Uint8Array.from(atob(text("recording")), (character) => character.charCodeAt(0))
  const {root} = new Tree({Stepper}, stepper, () => {})
  document.getElementById("stepper")?.replaceChildren(root.host)
  root.rendered()
  for (const link of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-finding]")))
    link.onclick = (event) => {
      event.preventDefault()
      primary()?.showFinding(Number(link.dataset.finding))
    }
  setKeys(keys)
  startKeys()
  startTheme()
}

beginTheme()
document.addEventListener("DOMContentLoaded", start)
