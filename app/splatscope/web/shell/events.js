// The app's own events on `window`, all of them, with what each carries. Features that know nothing of each other meet here.

/**
 * @import {Moment} from "#web/stepper/model/moment.js"
 * @import {Draft} from "#web/debugger/draft.js"
 * @import {Place} from "./address.js"
 */

/**
 * A stepper has painted another moment of its recording.
 * @typedef {object} MomentShown
 * @property {HTMLElement} root  the stepper's root
 * @property {Moment} moment  position, chosen thread, state
 * @property {boolean} first  whether the stepper is the page's primary one, which owns the address
 * @property {number[]} stops  positions at which → and ← stop; empty for every event
 * @property {number} sequence  number of the recording, as Python counts them
 * @property {boolean} steps  whether it is a single step on or back from the moment painted before, which is to be seen to happen
 */

/**
 * What the debugger's bar shows of its workbench.
 * @typedef {object} DebuggerState
 * @property {string} view  "step", "compare" or "edit"
 * @property {string} adapter  name of the device that recorded; "" before the first recording
 * @property {string} adapterWords  the same in full
 * @property {boolean} fromFile  whether the recording was opened from a file
 * @property {string[]} adapters  devices to choose from
 * @property {string} chosen  the device chosen for the next run
 * @property {string[]} pair  names of the two recordings that can be compared; empty for none
 * @property {boolean} several  whether the kernel is a project of several files
 * @property {string} said  what came of copying the link; "" for nothing new
 */

/**
 * What of a kernel to record in place of all: without a function, the entry point alone, or in more room.
 * @typedef {{leave?: string, entry?: boolean, more?: boolean}} RecordAgain
 */

/**
 * Payload by name. On `window` an event is called `splatscope:NAME`, its payload is the event's `detail`.
 * @typedef {object} Events
 * @property {MomentShown} moment  from every stepper, once a frame at most
 * @property {number} step  go to this event, counted from 1, or to where the figure opens (UNNAMED): to the primary stepper
 * @property {number} press  from the start, press → this often: to the primary stepper
 * @property {{stage: HTMLElement}} room  a figure's drawing has more room than before, or less
 * @property {{stage: HTMLElement, words: string}} described  a drawing says what it shows, to the stepper whose root is `stage`
 * @property {Place} page  another page was asked for
 * @property {null} live  a page with a session stands in the document
 * @property {{root: HTMLElement, steps: boolean, option: string, inputs: string}} answered  a quiz was answered, of these inputs; whether the
 *   figure steps to what shows it
 * @property {{task: string, passed: boolean, heading: string}} marked  an exercise's kernel was; the heading of the first cause
 * @property {unknown} again  from a published page to the component of this model: it shows what was set, show what was recorded
 * @property {{root: HTMLElement}} claim  a claim shows something else: it was run, or bet on
 * @property {{root: HTMLElement, option: string}} bet  a bet on a claim was won or lost
 * @property {boolean} bets  whether verdicts wait for bets, to all claims of the page
 * @property {Draft} kernel  from the workbench: this kernel is recorded now
 * @property {null} kernel-led  to the workbench: record the kernel in the address, which a presenter has opened
 * @property {null} class-joined  to the workbench: where the class is, is known; open a kernel if none has been decided on
 * @property {DebuggerState} debug-state  from the workbench to its bar
 * @property {null} debug-ask  from the bar: send the state
 * @property {string} debug-view  from the bar: show "step", "compare" or "edit"
 * @property {null} debug-run  from the bar: record
 * @property {RecordAgain} debug-record  from the stepper: record less of it, or in more room
 * @property {null} debug-open  from the bar: open the gallery
 * @property {null} debug-share  from the bar: copy a link
 * @property {string} debug-save  from the bar: save "recording", "page", "python", "perfetto" or "project"
 * @property {string} debug-adapter  from the bar: record on this device, or on "both"
 */

/**
 * Dispatch an event on `window`.
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
