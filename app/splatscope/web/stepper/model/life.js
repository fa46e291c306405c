// Who wrote this? All events of one cell, or of one thread's variable, found in one pass and kept.
import {KIND} from "./recording.js"

export class Lives {
  constructor(run) {
    this.run = run
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
    const {run} = this,
      {place, site, kind, sites} = run
    const wanted = run.memories[memory].first + cell + 1
    const writes = [],
      reads = []
    for (let e = 0; e < run.length; e++) {
      if (place[e] !== wanted || kind[site[e]] < KIND.read) continue
      const load = kind[site[e]] === KIND.read || sites[site[e]].access?.includes("load")
      ;(load ? reads : writes).push(e)
    }
    return {writes, reads}
  }

  #variable({thread, variable}) {
    const {run} = this,
      {place, site, kind, sites} = run
    const writes = []
    for (let i = run.start[thread]; i < run.start[thread + 1]; i++) {
      const e = run.own[i],
        k = kind[site[e]]
      if (k === KIND.value ? sites[site[e]].variable === variable : k === KIND.element && place[e] === variable + 1) writes.push(e)
    }
    return {writes, reads: []}
  }
}

export function nameOf(run, followed) {
  if (followed.memory !== undefined) return cellName(run.memories[followed.memory], followed.cell)
  return run.variables[followed.variable].name
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
export function what(run, event) {
  const site = run.about(event),
    value = run.value(event)
  const memory = site.memory === undefined ? null : run.memories[site.memory]
  const outside = run.flags[event] & 1
  const place =
    memory && run.place[event] ? cellName(memory, run.place[event] - 1 - memory.first) + (site.path ?? "") : (site.name ?? "")
  switch (site.kind) {
    case "value":
      return {verb: "sets", place: site.name, value, sign: "="}
    case "element":
      return {verb: "sets", place: run.place[event] ? run.variables[run.place[event] - 1].name : place, value, sign: "="}
    case "write":
      return {verb: outside ? "writes outside of" : "writes", place, value, sign: "="}
    case "read":
      return {verb: outside ? "reads outside of" : "reads", place, value, sign: "→"}
    case "atomic":
      return {verb: `${site.access || "atomic"} on`, place, value, sign: "→"}
    case "arrive":
      return {verb: "reaches the barrier", place: "", value: "", sign: ""}
    case "resume":
      return {
        verb: site.name?.endsWith("Sync") ? "goes on after the barrier" : "passes a memory barrier",
        place: "",
        value: "",
        sign: "",
      }
    case "branch":
      return {verb: value === "true" ? "takes the branch" : "does not take the branch", place: "", value: "", sign: ""}
    case "loop":
      return {verb: "next turn of the loop", place: "", value: "", sign: ""}
    case "call":
      return {verb: "enters", place: site.name, value: "", sign: ""}
    case "return":
      return {verb: "leaves", place: site.name, value: "", sign: ""}
    case "out-of-bounds":
      return {verb: "would write outside of", place: site.name, value: "", sign: ""}
    case "overrun":
      return {verb: "has used up its budget of iterations", place: "", value: "", sign: ""}
    default:
      return {verb: "", place: "", value: "", sign: ""}
  }
}
