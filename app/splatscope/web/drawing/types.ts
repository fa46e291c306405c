// The interface of a drawing, lessons/NAME/drawing.ts.
import type {Look} from "./look.ts"

/**
 * What a drawing gets. `Facts` is what `facts()` of lessons/NAME/lesson.py returns, `Options` its `figure["options"]`, `Values` the
 * lesson's parameters.
 */
export interface DrawingHost<Facts = unknown, Options = unknown, Values = unknown> {
  /** Where to draw. Its classes are `drawing` and `drawing-NAME`. */
  root: HTMLElement
  readonly options: Options
  /** Empty until the lesson has made its recording, so test for one of them first. */
  readonly facts: Facts
  readonly values: Values
  /**
   * The size available to the drawing, in px. `height` is what settings, sentence and transport leave of the window, so that all of
   * the figure is in view; Infinity where panes are below each other.
   */
  room(): {width: number; height: number}
  /** Set a parameter of the lesson, as a control would. */
  set(name: string, value: unknown): void
  /**
   * Record with other values in the reader's browser, and show that until the lesson's own recording comes. Call it for every move of
   * the hand. Returns false if this browser cannot, so that the lesson has to be asked.
   */
  follow(values: Values): boolean
  /** Whether what is shown was recorded in this browser, and the lesson's own recording is still to come. */
  readonly following: boolean
  /** Go to an event of the page's primary stepper, counted from 1. */
  step(step: number): void
}

/** What a drawing returns. */
export interface DrawingView {
  /** While another recording is made, the drawing itself dims what belongs only to the last one, so the stepper does not dim it. */
  previews?: boolean
  /** The stepper shows another recording. */
  open?(look: Look): void
  /** The stepper is at another moment. */
  paint(look: Look): void
  /** One sentence about what is drawn, which screen readers read after the step's own. */
  describe?(look: Look): string
  /**
   * What is announced of it after a step: what has changed and the step's own sentence does not say, "" for nothing. Where it is not
   * given, those sentences of `describe` that have changed.
   */
  news?(look: Look): string | undefined
  /** What is drawn of the chosen thread, announced after its line when T chooses it. */
  chosen?(look: Look): string
  /** The size of the root or of the window has changed. */
  resized?(look: Look): void
  /** The lesson's parameters have changed. Without this function, the drawing is opened again. */
  changed?(): void
}

/** Export of lessons/NAME/drawing.ts. Its host has the facts, options and values of its own lesson. */
export type Draw = (host: DrawingHost<never, never, never>) => DrawingView

/** One recording drawn at one width, for `redrawn`. */
export interface Drawn {
  el: Node
  paint(look: Look): void
  describe?(look: Look): string
  news?(look: Look): string
  chosen?(look: Look): string
}
