// Events, cells and variables in words.
import {holdsFloatBits} from "./float_bits.ts"
import {show} from "./values.ts"
import type {Followed, Memory} from "#web/types.ts"
import type {Moment} from "./moment.ts"
import type {Recording} from "./recording.ts"

interface Description {
  /** "reads", "reaches the barrier". */
  verb: string
  /** The cell, variable or function; "" for none. */
  target: string
  /** "" if none was recorded. */
  value: string
  /** Between target and value: "=" set, "→" read. */
  sign: string
}

/** The name of the followed cell or variable: `keys[3]`, `i`. */
export function nameOf(recording: Recording, followed: Followed) {
  if (followed.memory !== undefined) return cellName(recording.memories[followed.memory], followed.cell)
  return recording.variables[followed.variable].name
}

/** The name of a cell: `tile[1][3]` in a two-dimensional array, `total` for shared memory of a single cell without a subscript. */
export function cellName(memory: Memory, cell: number) {
  if (memory.space === "shared" && !memory.dims.length && memory.count === 1) return memory.name
  return memory.name + subscript(memory, memory.index(cell))
}

/** An element's index as subscripts, `[1][3]`; a texel's as coordinates, x first, `[3, 1]`. */
export function subscript(memory: Pick<Memory, "dims"> & Partial<Pick<Memory, "space">>, index: number) {
  const inner = []
  for (const size of memory.dims.slice(1).reverse()) {
    inner.push(index % size)
    index = Math.floor(index / size)
  }
  const coordinates = [...inner, index]
  return memory.space === "texture" ? `[${coordinates.join(", ")}]` : `[${coordinates.reverse().join("][")}]`
}

/** What the sentence before the first event says about the drawing, for the eye only. */
export const PALE = "; pale is what it will be"

/** What has happened at the current event, in a sentence. */
export function sentenceOf(moment: Moment) {
  const {recording, event, step} = moment
  if (!step) return `Nothing has run yet${PALE}. Step forward to begin.`
  const thread = recording.thread[event]
  const {verb, target, value, sign} = describeEvent(recording, event)
  if (recording.about(event).kind === "arrive") {
    const all = recording.threads
    const there = Array.from({length: all}, (_, other) => moment.state.status(other) === "wait").filter(Boolean).length
    return there && there < all
      ? `Thread ${thread} waits at the barrier. ${there} of ${all} ${there === 1 ? "has" : "have"} arrived.`
      : `Thread ${thread} reaches the barrier. All have arrived, and continue.`
  }
  if (!verb) return `Thread ${thread} is on line ${recording.about(event).line}.`
  const does = recording.about(event).kind === "atomic" ? "does " : "" // verbs of atomics are names: "compareExchange on"
  return `Thread ${thread} ${does}${verb}${target && ` ${target}`}${value && ` ${sign} ${value}`}.`
}

/** What a thread does when an operation goes wrong, by the kind of finding. */
const FAULTS: Record<string, string> = {
  "integer-division-by-zero": "divides by zero:",
  "shift-out-of-range": "shifts too far: by",
  "conversion-out-of-range": "converts a value that the integer cannot hold:",
  "integer-overflow": "computes a value that an int cannot hold:",
  "misaligned-access": "accesses between the words of",
  "inactive-lane": "relies on lanes that are not active:",
  "out-of-bounds": "accesses outside of",
  assertion: "finds this false:",
}

/** An event's value, "" if none was recorded; for the bits of a float, the float. */
function valueText(recording: Recording, event: number) {
  if (!holdsFloatBits(recording, recording.about(event))) return recording.value(event)
  return `bits of ${show(recording.words, recording.wordAt[event], "float")}`
}

/** What an event does: {verb: "reads", target: "keys[3]", value: "30", sign: "→"}. */
export function describeEvent(recording: Recording, event: number): Description {
  const site = recording.about(event),
    value = valueText(recording, event),
    name = site.name ?? ""
  const touched = recording.cellOf(event)
  const cell = touched ? cellName(recording.memories[touched.memory], touched.cell) + (site.path ?? "") : name
  const outside = recording.flags[event] & 1
  const plain = (verb: string, target = "") => ({verb, target, value: "", sign: ""})
  switch (site.kind) {
    case "value":
      return {verb: "sets", target: name, value, sign: "="}
    case "element": {
      const target = recording.target[event] ? recording.variables[recording.target[event] - 1].name : name
      return {verb: "sets", target, value, sign: "="}
    }
    case "write":
      return {verb: outside ? "writes outside of" : "writes", target: cell, value, sign: "="}
    case "read":
      return {verb: outside ? "reads outside of" : "reads", target: cell, value, sign: "→"}
    case "atomic":
      return {verb: `${site.operation || "atomic"} on`, target: cell, value, sign: "→"}
    case "arrive":
      return plain("reaches the barrier")
    case "resume":
      return plain(site.name?.endsWith("Sync") ? "continues after the barrier" : "passes a memory barrier")
    case "branch":
      return plain(value === "true" ? "takes the branch" : "does not take the branch")
    case "loop":
      return plain("begins the next iteration of the loop")
    case "call":
      return plain("enters", name)
    case "return":
      return plain("leaves", name)
    case "out-of-bounds":
      return plain(
        site.access === "read" ? "reads outside of" : "would write outside of",
        name || (recording.memories[site.memory ?? -1]?.name ?? ""),
      )
    case "fault":
      return {verb: FAULTS[site.fault ?? ""] ?? "goes wrong at", target: name, value, sign: value && "="}
    case "overrun":
      return plain("has used up its budget of iterations")
    default:
      return plain("")
  }
}
