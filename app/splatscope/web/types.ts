// What crosses between Python and the browser: a recording, and a component's side of its host. Python declares the head of a recording
// (splatscope/recordings/wire_head.py), and the parameters, children and messages of each class; tools/component_types.py writes both.

import type {
  Components,
  Head,
  PackedFinding,
  PackedHead,
  PackedMemory,
  PackedOutput,
  PackedSite,
  Part,
  Uniform,
  Variable,
} from "#components"
import type {Breakpoints} from "./stepper/panes/breakpoints.ts"
import type {Moment} from "./recording/moment.ts"

export type {Head, PackedHead, PackedMemory, Part, Uniform, Variable}
export type Site = PackedSite
export type Finding = PackedFinding
export type Scalar = Part[1]

/** A shared array or a buffer, with its columns unpacked. */
export interface Memory extends PackedMemory {
  /** Words before the first event, `count × width`; empty if unknown. */
  initial: Column
  /** Element of each cell. */
  index(cell: number): number
  /** Cell of an element; -1 if it is not recorded. */
  cell(index: number): number
}

/** A buffer after the dispatch. */
export interface Output extends PackedOutput {
  data: Column
}

export type Column = Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer>

/** What the reader follows: a cell of a memory, or a variable of a thread. */
export type Followed = CellRef | VariableRef

export interface CellRef {
  memory: number
  cell: number
  thread?: undefined
  variable?: undefined
}

export interface VariableRef {
  thread: number
  variable: number
  memory?: undefined
  cell?: undefined
}

/** What a carrier without a session answers itself, beside the messages that Python receives. */
interface Carried {
  Stepper: {type: "missing"}
  Drawing: {type: "set"; name: string; value: unknown}
  LessonBar: {type: "recorded"; recorded: boolean}
}

/** What components of a class send. */
export type Message<Name extends keyof Components> =
  | Components[Name]["messages"]
  | (Name extends keyof Carried ? Carried[Name] : never)

/** A component's side of its host, by the name of its class: its parameters as properties, and the way back. */
export type Model<Name extends keyof Components> = ModelOf<
  Components[Name]["parameters"],
  Components[Name]["children"],
  Message<Name>
>

export type ModelOf<Parameters, Children, Sent> = Parameters & {
  /** Call back when a parameter changes, a message arrives ("message"), or the component is in the document ("after_render") or removed ("remove"). */
  on<Message>(event: string, act: (message: Message) => void): void
  /** Send a message to the method of the Python class that `receives` its type. */
  send_msg(message: Sent): void
  /** What a parameter holds. */
  get_child<Name extends keyof Children>(name: Name): Children[Name]
}

/** The part of Bokeh's browser document that the app uses. */
export interface BokehDocument {
  on_event(name: string, act: () => void): void
}

/** The argument of a component's `render`. */
export interface Render<Name extends keyof Components> {
  model: Model<Name>
  el: HTMLElement
}

/** The modules of these classes. */
export type ModulesOf<Name extends keyof Components> = {[Class in Name]: {render(argument: Render<Class>): unknown}}

/** What the source, threads and memory panes need from their stepper, or from their side of a comparison. */
export interface PaneOwner {
  moment: Moment | null
  /** The positions at which → and ← stop; missing or empty for every event. */
  stops?: number[]
  /** Missing if none can be set. */
  breakpoints?: Breakpoints
  /** Paint all panes in the next frame. */
  paint(): void
  /** Choose a thread, or clear the choice. */
  choose(thread: number): void
  /** Follow a cell or variable; stop following it if it is followed already. */
  follow(what: Followed | null): void
  /** Show a line of a file, by the file's number. */
  reveal?(file: number, line: number): void
  /** Run to a line; missing if lines cannot be picked. */
  runTo?(file: string, line: number): void
  /** Show a sentence in place of the one about the current event. */
  say?(words: string): void
  /** Announce words to screen readers without showing them. */
  announce?(words: string): void
}
