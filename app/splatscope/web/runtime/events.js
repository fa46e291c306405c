// All of the app's own events on `window`, with their payloads. Features that do not know each other communicate here.

/**
 * @import {Moment} from "#web/recording/moment.js"
 * @import {Draft} from "./draft.js"
 * @import {Place} from "./address.js"
 */

/**
 * A stepper has painted a moment of its recording.
 * @typedef {object} MomentShown
 * @property {HTMLElement} root  the stepper's root
 * @property {Moment} moment  position, chosen thread, state
 * @property {boolean} first  whether the stepper is the page's primary one, which owns the address
 * @property {number[]} stops  positions at which → and ← stop; empty for every event
 * @property {string} recording  its hash
 * @property {boolean} steps  whether this is one step from the moment painted before, so that the change is animated
 */

/**
 * The state of the workbench that the debugger's bar shows.
 * @typedef {object} DebuggerState
 * @property {string} view  "step", "compare" or "edit"
 * @property {string} adapter  name of the device that recorded; "" before the first recording
 * @property {string} adapterWords  the device's full name
 * @property {boolean} fromFile  whether the recording was opened from a file
 * @property {string[]} adapters  devices to choose from
 * @property {string} chosen  the device chosen for the next run
 * @property {string[]} pair  names of the two recordings to compare; empty for none
 * @property {boolean} several  whether the kernel is a project of several files
 * @property {boolean} asks  whether the kernel came with a link and waits for the reader to run it
 * @property {string} said  the result of copying the link; "" for nothing new
 */

/**
 * How to record a kernel again: without a function, the entry point alone, or with a larger limit.
 * @typedef {{leave?: string, entry?: boolean, more?: boolean}} RecordAgain
 */

/**
 * Payload by name. On `window` an event is called `splatscope:NAME`, its payload is the event's `detail`.
 * @typedef {object} Events
 * @property {MomentShown} moment  from every stepper, at most once a frame
 * @property {number} step  to the primary stepper: go to this event, counted from 1, or to where the figure opens (UNNAMED)
 * @property {number} thread  to the primary stepper: choose this thread
 * @property {number} press  to the primary stepper: from the start, press → this often
 * @property {{stage: HTMLElement}} room  the room of a figure's drawing has changed
 * @property {{stage: HTMLElement, words: string, news: string, chosen: string}} described  from a drawing to the stepper whose root
 *   is `stage`: what it shows, what of it is announced after a step, and what is said of the chosen thread
 * @property {Place} page  another page was requested
 * @property {null} live  a page with a session is in the document
 * @property {{root: HTMLElement, steps: boolean, option: string, offer: string}} answered  a quiz was answered; `steps`: the figure steps to
 *   where the answer shows; `offer`: what it offered, sealed by the server
 * @property {unknown} again  from a published page to the component of this model: show what was recorded, not what was set
 * @property {{root: HTMLElement}} claim  a claim has changed: it was run or bet on
 * @property {{option: string, offer: string}} bet  a bet on a claim was won or lost; `offer`: the claim, sealed by the server
 * @property {boolean} bets  to all claims of the page: whether verdicts wait for bets
 * @property {Draft} kernel  from the workbench: this kernel is recorded now
 * @property {null} kernel-led  to the workbench: record the kernel in the address, opened by the presenter
 * @property {null} class-joined  to the workbench: it is now known where the class is; open a kernel if none was chosen
 * @property {DebuggerState} debug-state  from the workbench to its bar
 * @property {null} debug-ask  from the bar: send the state
 * @property {string} debug-view  from the bar: show "step", "compare" or "edit"
 * @property {null} debug-run  from the bar: record
 * @property {RecordAgain} debug-record  from the stepper: record less of the kernel, or with a larger limit
 * @property {null} debug-open  from the bar: open the gallery
 * @property {null} debug-share  from the bar: copy a link
 * @property {string} debug-save  from the bar: save "recording", "page", "python", "perfetto" or "project"
 * @property {string} debug-adapter  from the bar: record on this device, or on "both"
 */

/**
 * Dispatch one of these events on `window`.
 * @template {keyof Events} Name
 * @param {Name} name
 * @param {Events[Name]} detail
 */
export function emit(name, detail) {
  window.dispatchEvent(new CustomEvent(`splatscope:${name}`, {detail}))
}

/**
 * Call back with the payload of each event of this name.
 * @template {keyof Events} Name
 * @param {Name} name
 * @param {(detail: Events[Name]) => void} act
 * @returns {() => void} ends it
 */
export function on(name, act) {
  const listen = (/** @type {Event} */ event) => act(/** @type {CustomEvent<Events[Name]>} */ (event).detail)
  window.addEventListener(`splatscope:${name}`, listen)
  return () => window.removeEventListener(`splatscope:${name}`, listen)
}
