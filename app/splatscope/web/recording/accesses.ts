// All accesses of one cell, or of one thread's variable: who wrote this?
import {KIND} from "./kinds.ts"
import type {CellRef, Followed, VariableRef} from "#web/types.ts"
import type {Recording} from "./recording.ts"

/** Event numbers in the device's order. */
type Accesses = {writes: number[]; reads: number[]}

const MOST = 32 // results that are cached

/** Finds accesses in one pass over a recording, and caches them. */
export class AccessIndex {
  #found = new Map<string, Accesses>()
  recording: Recording

  constructor(recording: Recording) {
    this.recording = recording
  }

  /** The accesses of a cell or variable. Reads of variables are not recorded. */
  of(followed: Followed) {
    const key = JSON.stringify(followed)
    let accesses = this.#found.get(key)
    if (!accesses) {
      if (this.#found.size > MOST) this.#found.clear()
      accesses = followed.memory === undefined ? this.#variable(followed) : this.#cell(followed)
      this.#found.set(key, accesses)
    }
    return accesses
  }

  #cell({memory, cell}: CellRef): Accesses {
    const {recording} = this,
      {target, site, kind} = recording
    const wanted = recording.memories[memory].first + cell + 1
    const found: Accesses = {writes: [], reads: []}
    for (let e = 0; e < recording.length; e++) {
      if (target[e] !== wanted || kind[site[e]] < KIND.read) continue
      found[isLoad(recording, e) ? "reads" : "writes"].push(e)
    }
    return found
  }

  #variable({thread, variable}: VariableRef): Accesses {
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

/** Whether an access only reads: a read, or an atomic load. */
export function isLoad(recording: Recording, event: number) {
  const site = recording.site[event]
  return recording.kind[site] === KIND.read || Boolean(recording.sites[site].operation?.includes("load"))
}
