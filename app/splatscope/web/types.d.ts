// What crosses from Python to the browser: the packed recording (made by splatscope/recordings/wire.py) and Panel's side of a component.
// Modules name these types by JSDoc: /** @import {Site, Memory} from "#web/types.d.ts" */

import type {Breakpoints} from "./stepper/panes/breakpoints.js"
import type {Moment} from "./stepper/model/moment.js"

export type Scalar =
  | "bool" | "int" | "uint" | "int8_t" | "uint8_t" | "int16_t" | "uint16_t" | "int64_t" | "uint64_t" | "half" | "float" | "double"

export type SiteKind =
  | "value" | "element" | "read" | "write" | "atomic" | "arrive" | "resume" | "branch" | "loop" | "call" | "return"
  | "out-of-bounds" | "fault" | "overrun"

/** A place in the source that records events. Fields that are empty or unknown are left out. */
export interface Site {
  file: string
  /** Counted from 1, as is `column`. */
  line: number
  column: number
  kind: SiteKind
  function?: string
  /** Of the variable, memory or function: the declared identifier. */
  name?: string
  /** Members behind the subscript, `.colour.x`. */
  path?: string
  /** Type of the value, as in the source. */
  type?: string
  space?: "shared" | "device" | "texture"
  /** Of an atomic: `add`, `load`, … */
  access?: string
  /** Words of the value. */
  width?: number
  /** Of a value: index into `variables`; -1 for none. */
  variable?: number
  /** Of an access: index into `memories`. */
  memory?: number
  /** For each word of the value, its word in the cell; missing where that is not known. */
  puts?: number[]
  /** Of a loop: its last line. */
  end?: number
  /** Names that a float was computed from. */
  from?: string[]
}

/** One part of a cell: its name (`.x`, `` for the whole), its type, and its first word. Of an output, its first byte. */
export type Part = [name: string, scalar: Scalar, offset: number]

/** A shared array or a buffer as packed. */
export interface PackedMemory {
  name: string
  space: "shared" | "device" | "texture"
  type: string
  /** Sizes of an array of several dimensions, empty where they are not known. */
  dims: number[]
  /** Cells that the recording holds: all, or of a large memory those that were touched. */
  count: number
  /** Elements that the memory has. */
  extent: number
  /** Number of its first cell among all memories' cells. */
  first: number
  /** Words a cell. */
  width: number
  parts: Part[]
}

/** The same, with its columns. */
export interface Memory extends PackedMemory {
  /** Words before the first event, `count × width`; empty where they are not known. */
  initial: Column
  /** Index of the element that a cell holds. */
  index(cell: number): number
  /** Cell that holds an element; -1 where it is not recorded. */
  cell(index: number): number
}

/** A local variable or parameter of a function, or one element of a local array. */
export interface Variable {
  name: string
  function: string
  type: string
  /** Words of its value; 0 for a type whose values are not recorded. */
  width: number
}

/** A value that the host gave to all threads. */
export interface Uniform {
  name: string
  type: string
  words: number[]
}

/** One thing that is wrong. `lines`, `threads` and `events` belong together, the earlier access first. */
export interface Finding {
  kind: string
  /** Declared identifier of the memory or variable. */
  name: string
  message: string
  file: string
  lines: number[]
  threads: number[]
  /** Element of the memory. */
  index: number
  /** Counted from 1, in the device's order. */
  events: number[]
  /** How often it was seen with this cause. */
  count: number
  /** Heading of its card, before the name of the memory. */
  label?: string
  severity?: "error" | "warn" | "note"
  /** Whether the heading names the memory. */
  names_memory?: boolean
}

export interface PackedOutput {
  name: string
  /** Words of the buffer; the recording holds the first 4,096 at most. */
  words: number
  /** Words from one element to the next. */
  stride: number
  parts: Part[]
  /** Of a texture: (height, width, components) of the texels that the recording holds, and its own (height, width). */
  picture?: [number, number, number]
  size?: [number, number]
}

/** A buffer as the dispatch left it. */
export interface Output extends PackedOutput {
  data: Column
}

/** A column as packed: element type, first byte, elements. */
export type ColumnEntry = [type: "uint8" | "uint16" | "uint32", start: number, count: number]
export type Column = Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer>

/** The JSON before the columns of a packed recording. */
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
  /** The recording was full before the kernel's end. */
  truncated: boolean
  /** Whether the kernel leaves the same results without being recorded; null where that was not tried. */
  same_as_plain: boolean | null
  /** How floats differ from those of the plain kernel, where that is rounding alone. */
  rounding?: string
  /** How the plain kernel's results differ, where neither rounding nor the order of threads explains it. */
  difference?: string
  /** Whether races between workgroups were looked for. */
  between_groups?: boolean
  /** Functions that were not recorded, with the reason for each. */
  stepped_over?: Record<string, string>
  /** What else a reader of the verdict ought to know, in sentences: inputs that were not given, lines that no thread reached. */
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
  /** Uniforms and members of constant buffers as the host gave them, by dotted name. */
  uniforms?: Uniform[]
  /** Link-time constants and macros that the host gave. */
  constants?: Record<string, string>
  columns: Record<string, ColumnEntry>
}

/** What Python says of a recording beside its bytes. */
export interface Meta {
  adapter?: string
  recording?: string
  [name: string]: unknown
}

/** What a reader follows: a cell of a memory, or a variable of a thread. */
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

/**
 * Panel's model of a component: its Python parameters as properties, and the connection.
 * `Children` names the parameters that hold components.
 */
export type Model<Parameters, Children = {}> = Parameters & {
  /** Call back when a parameter changes, "msg:custom" arrives, or the component is taken away ("remove"). */
  on(event: string, act: (event: any) => void): void
  /** Send a message to the component's `_handle_msg`. */
  send_msg(message: {type: string; [name: string]: unknown}): void
  get_child<Name extends keyof Children>(name: Name): Children[Name]
}

/** What is used of Bokeh's document in the browser. */
export interface BokehDocument {
  on_event(name: string, act: () => void): void
  /** Call back on each change, whoever made it; `sync` where the server is still to be told. */
  on_change(act: (event: {sync: boolean}) => void): void
  /** Models that are sent whole when they are mentioned for the first time. */
  _new_models: Set<unknown>
}

/** What `render` of a component is given. */
export interface Render<Parameters, Children = {}> {
  model: Model<Parameters, Children>
  el: HTMLElement
  view: {model: {document: BokehDocument}}
}

/** What the panes of source, threads and memory ask of their stepper, or of their side of a comparison. */
export interface PaneOwner {
  moment: Moment | null
  /** Missing where there are none to set. */
  breakpoints?: Breakpoints
  /** Paint all panes with the next frame. */
  paint(): void
  /** Choose a thread, or no longer. */
  choose(thread: number): void
  /** Follow a cell or variable; what is followed already, no longer. */
  follow(what: Followed | null): void
  /** Show a line of a file, by the file's number. */
  reveal?(file: number, line: number): void
  /** Run to a line; missing where lines are not picked. */
  runTo?(file: string, line: number): void
  /** Put a sentence where the cursor's event stands. */
  say?(words: string): void
  /** Have words spoken, and not shown. */
  announce?(words: string): void
}
