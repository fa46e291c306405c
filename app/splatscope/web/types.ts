// What crosses between Python and the browser: the packed recording (made by splatscope/recordings/wire.py), and a component's side of
// its host. The parameters, children and messages of each class are generated from Python (tools/component_types.py).

import type {Components} from "#components"
import type {Breakpoints} from "./stepper/panes/breakpoints.ts"
import type {Moment} from "./recording/moment.ts"

export type Scalar =
  | "bool"
  | "int"
  | "uint"
  | "int8_t"
  | "uint8_t"
  | "int16_t"
  | "uint16_t"
  | "int64_t"
  | "uint64_t"
  | "half"
  | "float"
  | "double"

export type SiteKind =
  | "value"
  | "element"
  | "read"
  | "write"
  | "atomic"
  | "arrive"
  | "resume"
  | "branch"
  | "loop"
  | "call"
  | "return"
  | "out-of-bounds"
  | "fault"
  | "overrun"

/** A place in the source that records events. Empty or unknown fields are left out. */
export interface Site {
  file: string
  /** Counted from 1, as is `column`. */
  line: number
  column: number
  kind: SiteKind
  function?: string
  /** Declared identifier of the variable, memory or function. */
  name?: string
  /** Members behind the subscript, `.colour.x`. */
  path?: string
  /** Type of the value, as in the source. */
  type?: string
  space?: "shared" | "device" | "texture"
  /** Operation of an atomic: `add`, `load`, … */
  operation?: string
  /** What is done at an index out of bounds. */
  access?: "read" | "write"
  /** The kind of finding of a fault. */
  fault?: string
  /** Number of words of the value. */
  width?: number
  /** For a value: index into `variables`; -1 for none. */
  variable?: number
  /** For an access: index into `memories`. */
  memory?: number
  /** For each word of the value, its word in the cell; missing if unknown. */
  puts?: number[]
  /** For a loop: its last line. */
  end?: number
  /** Names from which a float was computed. */
  from?: string[]
}

/** One part of a cell: its name (`.x`, `` for the whole), its type, and its first word; for an output, its first byte. */
export type Part = [name: string, scalar: Scalar, offset: number]

/** A shared array or a buffer, as packed. */
export interface PackedMemory {
  name: string
  space: "shared" | "device" | "texture"
  type: string
  /** Sizes of an array of several dimensions; empty if unknown. */
  dims: number[]
  /** Number of cells in the recording: all of them, or in a large memory those that were touched. */
  count: number
  /** Number of elements of the memory. */
  extent: number
  /** Number of its first cell among the cells of all memories. */
  first: number
  /** Words per cell. */
  width: number
  parts: Part[]
}

/** The same, with its columns unpacked. */
export interface Memory extends PackedMemory {
  /** Words before the first event, `count × width`; empty if unknown. */
  initial: Column
  /** Element of each cell. */
  index(cell: number): number
  /** Cell of an element; -1 if it is not recorded. */
  cell(index: number): number
}

/** A local variable or parameter of a function, or one element of a local array. */
export interface Variable {
  name: string
  function: string
  type: string
  /** Number of words of its value; 0 for a type whose values are not recorded. */
  width: number
}

/** A value that the host passed to all threads. */
export interface Uniform {
  name: string
  type: string
  words: number[]
}

/** One finding. `lines`, `threads`, `groups` and `events` correspond, the earlier access first. */
export interface Finding {
  kind: string
  /** Declared identifier of the memory or variable. */
  name: string
  message: string
  file: string
  lines: number[]
  /** Numbered within their workgroups. */
  threads: number[]
  /** The workgroup of each thread. */
  groups?: [number, number, number][]
  /** Element of the memory. */
  index: number
  /** Counted from 1, in the device's order. */
  events: number[]
  /** How often it occurred with this cause. */
  count: number
  /** How many findings above it lead to it: it may follow from the nearest one above with a smaller number. */
  depth?: number
  /** Heading of its card, without the name of the memory. */
  label?: string
  severity?: "error" | "warn" | "note"
  /** Whether the heading names the memory. */
  names_memory?: boolean
}

export interface PackedOutput {
  name: string
  /** Number of words of the buffer; the recording holds at most the first 4,096. */
  words: number
  /** Words from one element to the next. */
  stride: number
  parts: Part[]
  /** For a texture: (height, width, components) of the recorded texels, and the texture's own (height, width). */
  picture?: [number, number, number]
  size?: [number, number]
}

/** A buffer after the dispatch. */
export interface Output extends PackedOutput {
  data: Column
}

/** A packed column: element type, first byte, number of elements. */
export type ColumnEntry = [type: "uint8" | "uint16" | "uint32", start: number, count: number]
export type Column = Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer>

/** What a recording says beside its columns. */
export interface Head {
  version: number
  /** The file that was recorded; `sources` has the text of each file, by name. */
  file: string
  sources: Record<string, string>
  entry: string
  adapter: string
  wave_size: number
  group_size: [number, number, number]
  groups: [number, number, number]
  group: [number, number, number]
  /** Threads of the recorded workgroup. */
  threads: number
  events: number
  /** The recording was full before the kernel ended. */
  truncated: boolean
  /** Whether the unrecorded kernel gives the same results; null if that was not tried. */
  same_as_plain: boolean | null
  /** How floats differ from those of the plain kernel, if only by rounding. */
  rounding?: string
  /** How the plain kernel's results differ, if neither rounding nor the order of threads explains it. */
  difference?: string
  /** Whether races between workgroups were checked. */
  between_groups?: boolean
  /** Functions that were not recorded, with the reason for each. */
  stepped_over?: Record<string, string>
  /** What else limits the verdict, in sentences: inputs that were not given, lines that no thread reached. */
  notes?: string[]
  /** What was not looked at, in sentences; empty where everything was. */
  missed: string[]
  /** What may be said beside the findings: "Nothing found" where `missed` is empty; "" for nothing. */
  verdict: string
  sites: Site[]
  memories: PackedMemory[]
  variables: Variable[]
  findings: Finding[]
  outputs: PackedOutput[]
  /** Uniforms and members of constant buffers as the host set them, by dotted name. */
  uniforms?: Uniform[]
  /** Link-time constants and macros that the host set. */
  constants?: Record<string, string>
}

/** The JSON before the columns of a packed recording. */
export interface PackedHead extends Head {
  columns: Record<string, ColumnEntry>
}

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
