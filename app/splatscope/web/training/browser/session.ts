// A run in the browser: starts, pauses, resets and changes it, as splatscope/web/training/training_session.py does with one on a worker.
import type {TrainingKernels} from "#components"
import {messageOf} from "#web/runtime/dom.ts"
import {gpu} from "#web/runtime/gpu.ts"
import type {Photograph, Settings} from "./gaussians.ts"
import {kernelsOn, type Look, type State, Trainer} from "./trainer.ts"

const SLICE = 100 // ms of training between two pictures: with what drawing one takes, there are five a second on a slow device
const SHARE = 0.5 // … or so much of the time that drawing one takes, if that is more
const RESTARTING: (keyof Settings)[] = ["blobs", "seed", "growth", "kernels"] // a change of these begins another run

/** What the page shows of a run. */
export interface Shown {
  running: boolean
  settled: boolean
  busy: string
  message: string
  /** Iterations per second. */
  speed: number
  look: Look | null
}

/** A run that can be gone on with. */
interface PastRun {
  settings: Settings
  photograph: Photograph
  state: State
}

export class BrowserSession {
  settings: Settings
  photograph: Photograph | null = null
  shown: Shown = {running: false, settled: true, busy: "", message: "", speed: 0, look: null}
  /** The last run, if a change has begun another: it can be taken back. */
  before: PastRun | null = null
  #files
  #tell
  #trainer: Trainer | null = null
  #epoch = 0 // counts runs and lost GPUs, so that nothing of an earlier one is shown
  #turn: Promise<unknown> = Promise.resolve() // what was asked last

  /**
   * @param files  the kernels, once they are needed
   * @param tell  called when what is shown has changed
   */
  constructor(settings: Settings, files: () => Promise<TrainingKernels>, tell: (shown: Shown) => void) {
    this.settings = settings
    this.#files = files
    this.#tell = tell
  }

  /** Fit another photograph. */
  use(photograph: Photograph) {
    this.#leave()
    this.photograph = photograph
    return this.#restart()
  }

  start() {
    if (!this.photograph || this.shown.running) return
    this.#show({running: true, message: ""})
    const epoch = this.#epoch
    return this.#next(async () => {
      if (!this.shown.running) return // it was paused meanwhile, or has trained already
      if ((this.shown.look?.iteration ?? 0) >= this.settings.iterations) await this.#begin()
      if (epoch === this.#epoch) await this.#train()
    })
  }

  pause() {
    this.#show({running: false})
  }

  step() {
    if (!this.photograph) return
    this.pause()
    return this.#next(async () => {
      const trainer = this.#trainer ?? (await this.#begin())
      await trainer?.advance(0, Math.min(trainer.iteration + 1, this.settings.iterations))
      await this.#look()
    })
  }

  reset() {
    this.#leave()
    return this.#restart()
  }

  /** Change settings. Rates and the number of iterations change a run as it is; others begin another. */
  change(settings: Settings) {
    const restarts = RESTARTING.some((name) => settings[name] !== this.settings[name])
    if (restarts) this.#leave()
    this.settings = settings
    if (restarts) return this.#restart()
    return this.#next(() => this.#begin(this.shown.look))
  }

  /** Go back to the run before the last change. */
  undo() {
    if (this.before) return this.take(this.before)
  }

  /** Show another run as it was, paused. */
  take({settings, photograph, state}: PastRun) {
    this.#epoch++
    this.before = null
    this.pause()
    this.settings = settings
    this.photograph = photograph
    return this.#next(() => this.#begin(state))
  }

  close() {
    this.pause()
    this.#next(async () => this.#trainer?.close())
  }

  #leave() {
    const {photograph, settings} = this
    const {look} = this.shown
    if (photograph && look?.iteration) this.before = {settings, photograph, state: look}
  }

  /** Begin another run, which trains if the one before did, or as soon as `start` is called. */
  #restart() {
    this.#epoch++
    this.#show({look: null})
    const epoch = this.#epoch
    return this.#next(async () => {
      await this.#begin()
      if (epoch === this.#epoch && this.shown.running) await this.#train()
    })
  }

  /** Make a trainer, from the start or from a state, and draw its picture. */
  async #begin(from?: State | null) {
    const {photograph} = this
    if (!photograph) return null
    this.#show({busy: "Preparing the kernels for your GPU", message: ""})
    this.#trainer?.close()
    this.#trainer = null
    const device = await gpu()
    if (!device) throw new Error("The browser offers no GPU any more: reload the page.")
    const settings = {
      ...this.settings,
      kernels: kernelsOn(device).includes(this.settings.kernels) ? this.settings.kernels : "tiled",
    } as Settings
    this.#trainer = await Trainer.on(device, await this.#files(), photograph, settings, from ?? undefined)
    device.lost.then(() => this.#lost())
    this.#show({busy: ""})
    await this.#look()
    return this.#trainer
  }

  async #train() {
    const epoch = this.#epoch
    const trainer = this.#trainer ?? (await this.#begin(this.shown.look))
    let drawing = 0 // ms
    const goesOn = () => epoch === this.#epoch && this.shown.running
    while (trainer && trainer === this.#trainer && goesOn() && trainer.iteration < this.settings.iterations) {
      const began = performance.now()
      const made = await trainer.advance(Math.max(SLICE, SHARE * drawing), this.settings.iterations)
      const trained = performance.now()
      if (epoch !== this.#epoch) return // another run begins
      this.shown.speed = (1000 * made) / (trained - began)
      await this.#look()
      drawing = performance.now() - trained
    }
    if (epoch !== this.#epoch) return
    this.pause()
    this.#show({settled: true})
  }

  async #look() {
    const epoch = this.#epoch
    const look = await this.#trainer?.look()
    if (!look || epoch !== this.#epoch) return
    this.#show({look, settled: !this.shown.running})
  }

  /** The GPU was lost: the run goes on from its last picture. What was under way fails, perhaps once the reader has resumed. */
  #lost() {
    this.#epoch++
    this.#trainer = null
    this.#show({
      running: false,
      settled: true,
      busy: "",
      message: "The browser lost its GPU. The run is back at its last picture: resume to continue.",
    })
  }

  /** Do something after all that was asked before, unless that run is over by then. An error is shown, if it still is of this run. */
  #next(act: () => Promise<unknown>) {
    const epoch = this.#epoch
    const unlessLate = async () => (epoch === this.#epoch ? act() : undefined)
    this.#turn = this.#turn.then(unlessLate).catch((reason) => {
      if (epoch === this.#epoch) this.#show({running: false, settled: true, busy: "", message: messageOf(reason)})
    })
    return this.#turn
  }

  #show(change: Partial<Shown>) {
    Object.assign(this.shown, change)
    this.#tell(this.shown)
  }
}
