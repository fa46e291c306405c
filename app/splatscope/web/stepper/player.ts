// Plays a run one unit at a time, or a long run within a fixed time; barrier by barrier if the reader prefers reduced motion.
import {isStill} from "#web/runtime/dom.ts"
import type {Stepper} from "./stepper.ts"

const CALM = 5 // steps per second above which marks change without a transition
const SECONDS = 40 // for playing a long run

/** Moves a stepper automatically. */
export class Player {
  timer: ReturnType<typeof setInterval> | undefined
  stepper: Stepper

  constructor(stepper: Stepper) {
    this.stepper = stepper
  }

  /** Play or pause. */
  toggle() {
    this.play(!this.timer)
  }

  play(on: boolean) {
    const {stepper} = this,
      {moment} = stepper
    if (!on && this.timer) stepper.sentence.rest()
    clearInterval(this.timer)
    this.timer = undefined
    stepper.transport.playing(on)
    stepper.root.classList.remove("still")
    if (!on || !moment) return
    if (moment.position >= moment.recording.length) stepper.seek(0)
    const {length} = stepper.stops
    const whole = stepper.inOtherOrder ? 0 : length || moment.recording.length // there, the statements are not counted
    const slow = isStill()
    const rate = slow ? 1 : Math.max(stepper.unit === "event" ? 8 : 2, whole / SECONDS),
      pace = Math.max(1000 / rate, 33)
    stepper.root.classList.toggle("still", rate > CALM)
    this.timer = setInterval(() => this.#tick(slow, Math.max(1, Math.round((rate * pace) / 1000))), pace)
  }

  #tick(slow: boolean, steps: number) {
    const {stepper} = this,
      {moment} = stepper
    if (!moment || moment.position >= moment.recording.length || !stepper.root.isConnected) return this.play(false)
    if (slow) moment.barrier(1) || stepper.seek(Infinity)
    else if (stepper.unit !== "event") for (let i = 0; i < steps; i++) stepper.move(1)
    else stepper.seek(moment.position + steps)
  }

  /** Stop for good. */
  close() {
    clearInterval(this.timer)
  }
}
