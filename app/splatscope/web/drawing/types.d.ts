// What a drawing, lessons/NAME/drawing.js, is given and gives.
import type {Look} from "./look.js"

/**
 * What a drawing is given. `Facts` is what `facts()` of lessons/NAME/lesson.py returns, `Options` its `figure["options"]`, `Values` the
 * lesson's parameters.
 */
export interface DrawingHost<Facts = unknown, Options = unknown, Values = unknown> {
  /** Where to draw. Its classes are `drawing` and `drawing-NAME`. */
  root: HTMLElement
  readonly options: Options
  /** Empty until the lesson has made its recording: ask for one of them first. */
  readonly facts: Facts
  readonly values: Values
  /** Set a parameter of the lesson, as a control would. */
  set(name: string, value: unknown): void
  /** Go to an event of the page's primary stepper, counted from 1. */
  step(step: number): void
}

/** What a drawing gives. */
export interface DrawingView {
  /** The stepper shows another recording. */
  open?(look: Look): void
  /** The stepper stands at another moment. */
  paint(look: Look): void
  /** The root's size has changed. */
  resized?(look: Look): void
  /** The lesson's parameters have changed; without it, the drawing is opened again. */
  changed?(): void
}

/** Export of lessons/NAME/drawing.js. */
export type Draw = (host: DrawingHost<any, any, any>) => DrawingView

/** One recording drawn at one width, by `redrawn`. */
export interface Drawn {
  el: Node
  paint(look: Look): void
  width: number
}
