// The page of one recording: gives the stepper a model in place of Panel's, and starts what the router starts in the app.
import {h} from "#web/runtime/dom.js"
import {setKeys, startKeys} from "#web/runtime/keys.js"
import {beginTheme, startTheme} from "#web/theme/theme.js"
import {primary} from "#web/stepper/steppers.js"
import {render} from "#web/stepper/stepper.js"

/**
 * @import {KeyWords} from "#web/runtime/keys.js"
 * @import {Model, Meta} from "#web/types.d.ts"
 * @import {Children, Parameters} from "#web/stepper/stepper.js"
 */

/**
 * What `single_page.py` embeds besides the recording.
 * @typedef {object} About
 * @property {Meta} meta
 * @property {number} opening  the step to begin at if the address names none
 * @property {KeyWords[]} keys
 */

/** @param {string} id */
const text = (id) => document.getElementById(id)?.textContent ?? ""

/**
 * The stepper's parameters, which do not change here.
 * @param {About} about
 * @returns {Model<Parameters, Children>}
 */
function modelOf({meta, opening}) {
  return {
    recording: Uint8Array.from(atob(text("recording")), (character) => character.charCodeAt(0)),
    file: "",
    meta,
    sequence: 1,
    inputs: "",
    busy: "",
    error: "",
    layout: "bench",
    parts: ["source", "threads", "memory", "findings", "timeline"],
    memories: [],
    unit: "event",
    stops: [],
    sentences: [],
    opening,
    tour: false,
    lockstep: false,
    kernel: "",
    offers: false,
    thread: -1,
    fix: [],
    reason: {},
    on() {},
    send_msg() {},
    get_child: () => null,
  }
}

function start() {
  /** @type {About} */
  const about = JSON.parse(text("about"))
  const host = h("div")
  const root = render({model: modelOf(about), el: host, view: /** @type {any} */ (null)})
  document.getElementById("stepper")?.replaceWith(root)
  for (const link of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-finding]")))
    link.onclick = (event) => {
      event.preventDefault()
      primary()?.showFinding(Number(link.dataset.finding))
    }
  setKeys(about.keys)
  startKeys()
  startTheme()
}

beginTheme()
document.addEventListener("DOMContentLoaded", start)
