// All accesses of one cell, or of one thread's variable: who wrote this?
import {KIND} from "./kinds.js"

/**
 * @import {CellRef, Followed, VariableRef} from "#web/types.d.ts"
 * @import {Recording} from "./recording.js"
 * @typedef {{writes: number[], reads: number[]}} Accesses  event numbers in the device's order
 */

const MOST = 32 // results that are cached

/** Finds accesses in one pass over a recording, and caches them. */
export class AccessIndex {
  /** @type {Map<string, Accesses>} */
  #found = new Map()

  /** @param {Recording} recording */
  constructor(recording) {
    this.recording = recording
  }

  /**
   * The accesses of a cell or variable. Reads of variables are not recorded.
   * @param {Followed} followed
   */
  of(followed) {
    const key = JSON.stringify(followed)
    let accesses = this.#found.get(key)
    if (!accesses) {
      if (this.#found.size > MOST) this.#found.clear()
      accesses = followed.memory === undefined ? this.#variable(followed) : this.#cell(followed)
      this.#found.set(key, accesses)
    }
    return accesses
  }

  /**
   * @param {CellRef} ref
   * @returns {Accesses}
   */
  #cell({memory, cell}) {
    const {recording} = this,
      {target, site, kind} = recording
    const wanted = recording.memories[memory].first + cell + 1
    /** @type {Accesses} */
    const found = {writes: [], reads: []}
    for (let e = 0; e < recording.length; e++) {
      if (target[e] !== wanted || kind[site[e]] < KIND.read) continue
      found[isLoad(recording, e) ? "reads" : "writes"].push(e)
    }
    return found
  }

  /**
   * @param {VariableRef} ref
   * @returns {Accesses}
   */
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

/**
 * Whether an access only reads: a read, or an atomic load.
 * @param {Recording} recording
 * @param {number} event
 */
export function isLoad(recording, event) {
  const site = recording.site[event]
  return recording.kind[site] === KIND.read || Boolean(recording.sites[site].operation?.includes("load"))
}
