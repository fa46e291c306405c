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
  /**
   * The room for the drawing, in px. `height` is what the window has left beside settings, sentence and transport, so that all of the
   * figure is in view; Infinity where panes stand below each other.
   */
  room(): {width: number; height: number}
  /** Set a parameter of the lesson, as a control would. */
  set(name: string, value: unknown): void
  /** Go to an event of the page's primary stepper, counted from 1. */
  step(step: number): void
}

/** What a drawing gives. */
export interface DrawingView {
  /** While another recording is made, it pales by itself what is of the last one alone, so the stepper leaves it as it is. */
  previews?: boolean
  /** The stepper shows another recording. */
  open?(look: Look): void
  /** The stepper stands at another moment. */
  paint(look: Look): void
  /** One sentence on what is drawn, which is spoken after the step's own. */
  describe?(look: Look): string
  /** The root's size has changed, or the window's. */
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
  describe?(look: Look): string
  width: number
}
