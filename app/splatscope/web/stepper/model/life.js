// Who wrote this? All events of one cell, or of one thread's variable, found in one pass and kept.
import {KIND} from "./recording.js"

export class AccessIndex {
  constructor(recording) {
    this.recording = recording
    this.kept = new Map()
  }

  // {writes, reads}: event numbers in the device's order.
  of(followed) {
    const key = JSON.stringify(followed)
    if (!this.kept.has(key)) {
      if (this.kept.size > 32) this.kept.clear()
      this.kept.set(key, followed.memory === undefined ? this.#variable(followed) : this.#cell(followed))
    }
    return this.kept.get(key)
  }

  #cell({memory, cell}) {
    const {recording} = this,
      {target, site, kind, sites} = recording
    const wanted = recording.memories[memory].first + cell + 1
    const writes = [],
      reads = []
    for (let e = 0; e < recording.length; e++) {
      if (target[e] !== wanted || kind[site[e]] < KIND.read) continue
      const load = kind[site[e]] === KIND.read || sites[site[e]].access?.includes("load")
      ;(load ? reads : writes).push(e)
    }
    return {writes, reads}
  }

  #variable({thread, variable}) {
    const {recording} = this,
      {target, site, kind, sites} = recording
    const writes = []
    for (let i = recording.start[thread]; i < recording.start[thread + 1]; i++) {
      const e = recording.own[i],
        k = kind[site[e]]
      if (k === KIND.value ? sites[site[e]].variable === variable : k === KIND.element && target[e] === variable + 1) writes.push(e)
    }
    return {writes, reads: []}
  }
}

export function nameOf(recording, followed) {
  if (followed.memory !== undefined) return cellName(recording.memories[followed.memory], followed.cell)
  return recording.variables[followed.variable].name
}

// `tile[1][3]` for a cell of an array of two dimensions, `total` for a memory of one cell without subscript.
export function cellName(memory, cell) {
  if (memory.space === "shared" && !memory.dims.length && memory.count === 1) return memory.name
  return memory.name + subscript(memory, memory.index(cell))
}

export function subscript(memory, index) {
  if (memory.dims.length < 2) return `[${index}]`
  let text = ""
  for (const size of memory.dims.slice(1).reverse()) {
    text = `[${index % size}]${text}`
    index = Math.floor(index / size)
  }
  return `[${index}]${text}`
}

// "wrote 30", "read 32", "waits at the barrier", … and what it is about.
export function describeEvent(recording, event) {
  const site = recording.about(event),
    value = recording.value(event)
  const memory = site.memory === undefined ? null : recording.memories[site.memory]
  const outside = recording.flags[event] & 1
  const target =
    memory && recording.target[event]
      ? cellName(memory, recording.target[event] - 1 - memory.first) + (site.path ?? "")
      : (site.name ?? "")
  switch (site.kind) {
    case "value":
      return {verb: "sets", target: site.name, value, sign: "="}
    case "element":
      return {
        verb: "sets",
        target: recording.target[event] ? recording.variables[recording.target[event] - 1].name : target,
        value,
        sign: "=",
      }
    case "write":
      return {verb: outside ? "writes outside of" : "writes", target, value, sign: "="}
    case "read":
      return {verb: outside ? "reads outside of" : "reads", target, value, sign: "→"}
    case "atomic":
      return {verb: `${site.access || "atomic"} on`, target, value, sign: "→"}
    case "arrive":
      return {verb: "reaches the barrier", target: "", value: "", sign: ""}
    case "resume":
      return {
        verb: site.name?.endsWith("Sync") ? "goes on after the barrier" : "passes a memory barrier",
        target: "",
        value: "",
        sign: "",
      }
    case "branch":
      return {verb: value === "true" ? "takes the branch" : "does not take the branch", target: "", value: "", sign: ""}
    case "loop":
      return {verb: "next turn of the loop", target: "", value: "", sign: ""}
    case "call":
      return {verb: "enters", target: site.name, value: "", sign: ""}
    case "return":
      return {verb: "leaves", target: site.name, value: "", sign: ""}
    case "out-of-bounds":
      return {verb: "would write outside of", target: site.name, value: "", sign: ""}
    case "overrun":
      return {verb: "has used up its budget of iterations", target: "", value: "", sign: ""}
    default:
      return {verb: "", target: "", value: "", sign: ""}
  }
}
