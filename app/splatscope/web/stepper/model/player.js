// Play: a unit at a time, a long run in so many seconds; barrier by barrier for those who asked for less motion.

const CALM = 5 // steps a second above which marks change without a transition
const SECONDS = 40 // that playing a long run takes

/** @import {Stepper} from "#web/stepper/stepper.js" */

/** Moves a stepper on by itself. */
export class Player {
  /** @type {ReturnType<typeof setInterval> | undefined} */
  timer

  /** @param {Stepper} stepper */
  constructor(stepper) {
    this.stepper = stepper
  }

  /** Play, or pause. */
  toggle() {
    this.play(!this.timer)
  }

  /** @param {boolean} on */
  play(on) {
    const {stepper} = this,
      {moment} = stepper
    clearInterval(this.timer)
    this.timer = undefined
    stepper.transport.playing(on)
    stepper.root.classList.remove("still")
    if (!on || !moment) return
    if (moment.position >= moment.recording.length) stepper.seek(0)
    const slow = matchMedia("(prefers-reduced-motion: reduce)").matches
    const {length} = stepper.stops
    const rate = slow ? 1 : Math.max(length ? 2 : 8, (length || moment.recording.length) / SECONDS),
      pace = Math.max(1000 / rate, 33)
    stepper.root.classList.toggle("still", rate > CALM)
    this.timer = setInterval(() => this.#tick(slow, Math.max(1, Math.round((rate * pace) / 1000))), pace)
  }

  /**
   * @param {boolean} slow
   * @param {number} steps
   */
  #tick(slow, steps) {
    const {stepper} = this,
      {moment} = stepper
    if (!moment || moment.position >= moment.recording.length || !stepper.root.isConnected) return this.play(false)
    if (slow) stepper.barrier(1)
    else if (stepper.stops.length) for (let i = 0; i < steps; i++) stepper.move(1)
    else stepper.seek(moment.position + steps)
  }

  /** Stop for good. */
  close() {
    clearInterval(this.timer)
  }
}
