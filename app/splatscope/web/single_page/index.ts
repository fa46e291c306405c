// The carrier of a single recording: draws the stepper that the page describes, and starts what the shell starts in the app.
import {type Described, Tree} from "#web/runtime/host.ts"
import {setKeys, startKeys} from "#web/runtime/keys.ts"
import * as Stepper from "#web/stepper/stepper.ts"
import {primary} from "#web/stepper/steppers.ts"
import {beginTheme, startTheme} from "#web/theme/theme.ts"
import type {KeyWords} from "#components"

/** What `single_page.py` embeds besides the recording. */
interface About {
  stepper: Described
  keys: KeyWords[]
}

const text = (id: string) => document.getElementById(id)?.textContent ?? ""

function start() {
  const {stepper, keys}: About = JSON.parse(text("about"))
  stepper.values.recording = Uint8Array.from(atob(text("recording")), (character) => character.charCodeAt(0))
  const {root} = new Tree({Stepper}, stepper, () => {})
  document.getElementById("stepper")?.replaceChildren(root.host)
  root.rendered()
  for (const link of document.querySelectorAll("[data-finding]") as NodeListOf<HTMLElement>)
    link.onclick = (event) => {
      event.preventDefault()
      primary()?.showFinding(Number(link.dataset.finding))
    }
  document.body.classList.toggle("framed", window.parent !== window)
  setKeys(keys)
  startKeys()
  startTheme()
}

beginTheme()
document.addEventListener("DOMContentLoaded", start)
