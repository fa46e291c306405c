// What a frame and the page around it tell each other.
import type {Change, Described} from "#web/runtime/host.ts"

/** Parameters that are linked in both directions, without Python in between. */
export interface Linked {
  /** The event after which a stepper stands, counted from 1. */
  step?: number
  /** The chosen thread; -1 for none. */
  thread?: number
}

export interface ToFrame {
  /** Draw this. */
  tree?: Described
  changes?: Change[]
  linked?: Linked
  dark?: boolean
}

export interface FromFrame {
  /** Of the component that sends `message`. */
  id?: number
  message?: unknown
  /** What the reader has changed. */
  linked?: Linked
  /** Of what is shown, in CSS pixels. */
  height?: number
}
