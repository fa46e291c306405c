// All of the app's own events on `window`, with their payloads. Features that do not know each other communicate here.
import type {Moment} from "#web/recording/moment.ts"
import type {Recording} from "#web/recording/recording.ts"
import type {Place} from "#components"
import type {Draft} from "./draft.ts"
import type {Chosen} from "./followed_pixel.ts"

/** A stepper has painted a moment of its recording. */
export interface MomentShown {
  /** The stepper's root. */
  root: HTMLElement
  /** Position, chosen thread, state. */
  moment: Moment
  /** Whether the stepper is the page's primary one, which owns the address. */
  first: boolean
  /** Positions at which → and ← stop; empty for every event. */
  stops: number[]
  /** Its hash. */
  recording: string
  /** Whether this is one step from the moment painted before, so that the change is animated. */
  steps: boolean
}

/** The state of the workbench that the debugger's bar shows. */
export interface DebuggerState {
  /** "step", "compare" or "edit". */
  view: string
  /** Name of the device that recorded; "" before the first recording. */
  adapter: string
  /** The device's full name. */
  adapterWords: string
  /** Whether the recording was opened from a file. */
  fromFile: boolean
  /** Devices to choose from. */
  adapters: string[]
  /** The device chosen for the next run. */
  chosen: string
  /** Names of the two recordings to compare; empty for none. */
  pair: string[]
  /** Whether the kernel is a project of several files. */
  several: boolean
  /** Whether the kernel came with a link and waits for the reader to run it. */
  asks: boolean
  /** The result of copying the link; "" for nothing new. */
  said: string
}

/** How to record a kernel again: without a function, the entry point alone, or with a larger limit. */
export type RecordAgain = {leave?: string; entry?: boolean; more?: boolean}

/** Payload by name. On `window` an event is called `splatscope:NAME`, its payload is the event's `detail`. */
interface Events {
  /** From every stepper, at most once a frame. */
  moment: MomentShown
  /** To the primary stepper: go to this event, counted from 1, or to where the figure opens (UNNAMED). */
  step: number
  /** The reader has chosen another pixel of a trained picture. */
  pixel: Chosen
  /** A pixel of the picture that trains in this browser was opened. */
  opened: [x: number, y: number]
  /** To the primary stepper: choose this thread. */
  thread: number
  /** To the primary stepper: from the start, press → this often. */
  press: number
  /**
   * To the primary stepper: show the line of source that begins with this, once there is a recording; `missing` if its sources have
   * no such line.
   */
  line: {text: string; missing: () => void}
  /** The room of a figure's drawing has changed. */
  room: {stage: HTMLElement}
  /**
   * From a drawing to the stepper whose root is `stage`: what it shows, what of it is announced after a step, and what is said of
   * the chosen thread.
   */
  described: {stage: HTMLElement; words: string; news: string; chosen: string}
  /**
   * From a drawing to the stepper whose root is `stage`: show this recording, made in the browser while the reader's hand moves; null
   * for the lesson's own again. `stops` are its own, if they may be others.
   */
  followed: {stage: HTMLElement; recording: Recording | null; stops?: number[]; held: () => boolean}
  /** From the stepper whose root is `stage`: the lesson's recording for the values that are set is known. */
  answer: {stage: HTMLElement}
  /**
   * From a page's controls: a parameter is set to this, or is about to be. Who shows it without asking the lesson says so in
   * `followed`.
   */
  moved: {name: string; value: unknown; held: () => boolean; followed: boolean}
  /** Another page was requested. */
  page: Place
  /** A page with a session is in the document. */
  live: null
  /** A quiz was answered; `steps`: the figure steps to where the answer shows; `offer`: what it offered, sealed by the server. */
  answered: {root: HTMLElement; right: boolean; steps: boolean; option: string; offer: string}
  /** From a published page to the component of this model: show what was recorded, not what was set. */
  again: unknown
  /** A question or a claim has changed: it was asked, run or bet on. It has the class `open` until the reader has bet. */
  asked: {root: HTMLElement}
  /** A bet on a claim was won or lost; `offer`: the claim, sealed by the server. */
  bet: {option: string; offer: string}
  /** To all claims of the page: whether verdicts wait for bets. */
  bets: boolean
  /** From the workbench: this kernel is recorded now. */
  kernel: Draft
  /** To the workbench: record the kernel in the address, opened by the presenter. */
  "kernel-led": null
  /** To the workbench: it is now known where the class is; open a kernel if none was chosen. */
  "class-joined": null
  /** From the workbench to its bar. */
  "debug-state": DebuggerState
  /** From the bar: send the state. */
  "debug-ask": null
  /** From the bar: show "step", "compare" or "edit". */
  "debug-view": string
  /** From the bar: record. */
  "debug-run": null
  /** From the stepper: record less of the kernel, or with a larger limit. */
  "debug-record": RecordAgain
  /** From the bar: open the gallery. */
  "debug-open": null
  /** From the bar: copy a link. */
  "debug-share": null
  /** From the bar: save "recording", "page", "python", "perfetto" or "project". */
  "debug-save": string
  /** From the bar: record on this device, or on "both". */
  "debug-adapter": string
}

/** Dispatch one of these events on `window`. */
export function emit<Name extends keyof Events>(name: Name, detail: Events[Name]) {
  window.dispatchEvent(new CustomEvent(`splatscope:${name}`, {detail}))
}

/**
 * Call back with the payload of each event of this name.
 * @returns ends it
 */
export function on<Name extends keyof Events>(name: Name, act: (detail: Events[Name]) => void): () => void {
  const listen = (event: Event) => act((event as CustomEvent<Events[Name]>).detail)
  window.addEventListener(`splatscope:${name}`, listen)
  return () => window.removeEventListener(`splatscope:${name}`, listen)
}
