// Plays a run one unit at a time, or a long run within a fixed time; barrier by barrier if the reader prefers reduced motion.
import {UNNAMED} from "#web/runtime/address.ts"
import type {Stepper} from "./stepper.ts"

const CALM = 5 // steps per second above which marks change without a transition
const SECONDS = 40 // for playing a long run
const TOUR = 800 // ms per stop of a tour
const TOUCHES = ["pointerdown", "keydown"]

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
    const slow = matchMedia("(prefers-reduced-motion: reduce)").matches
    const {length} = stepper.stops
    const whole = stepper.inOtherOrder ? 0 : length || moment.recording.length // there, the statements are not counted
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

  /**
   * Once half of the drawing is in view, step through the run once or until the reader touches anything. Then show where the figure
   * opens.
   */
  tour() {
    const {stepper} = this
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return
    if (["follow", "present"].includes(document.documentElement.dataset.walk ?? "")) return // a class must see what its presenter sees
    const end = () => {
      seen.disconnect()
      for (const name of TOUCHES) window.removeEventListener(name, end, true)
      this.#endTour = () => {}
      clearInterval(this.timer)
      this.timer = undefined
    }
    const next = () => {
      if (stepper.moment && stepper.moment.position < (stepper.stops.at(-1) ?? 0)) return stepper.byItself(() => stepper.move(1))
      end()
      stepper.goto(UNNAMED)
    }
    const half = ([entry]: IntersectionObserverEntry[]) => {
      if (!entry.isIntersecting || this.timer) return
      stepper.byItself(() => stepper.seek(0))
      this.timer = setInterval(next, TOUR)
      for (const name of TOUCHES) window.addEventListener(name, end, {capture: true, passive: true})
    }
    const seen = new IntersectionObserver(half, {threshold: 0.5})
    seen.observe(stepper.layout.drawn)
    this.#endTour = end
  }

  #endTour = () => {}

  /** Stop for good. */
  close() {
    this.#endTour()
    clearInterval(this.timer)
  }
}
