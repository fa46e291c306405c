// What a name means to a thread at a moment: a variable of the function it is in, else one of another, else a cell.
import {KIND} from "./kinds.js"

/**
 * @import {Recording} from "./recording.js"
 * @import {State} from "./state.js"
 */

/** @typedef {number | string} Step  what follows a name: 3 for [3], ".x" for .x */
/** @typedef {(name: string, steps: Step[]) => number | null} Lookup  null where there is no such thing, or it has no value yet */

/** @type {Record<string, number>} */
const COMPONENTS = {r: 0, g: 1, b: 2, a: 3, x: 0, y: 1, z: 2, w: 3}

/** @type {WeakMap<Recording, Names>} */
const namesOf = new WeakMap()

/**
 * Look up names for a thread in a state, for the value() of a parsed expression.
 * @param {Recording} recording
 * @param {State} state
 * @param {number} thread
 * @returns {Lookup}
 */
export function lookup(recording, state, thread) {
  let names = namesOf.get(recording)
  if (!names) {
    names = new Names(recording)
    namesOf.set(recording, names)
  }
  const known = names,
    last = state.last(thread)
  const scope = (last ? recording.about(last - 1).function : recording.head.entry) ?? ""
  return (name, steps) => {
    const found = known.variable(scope, name + pathOf(steps))
    if (found) return state.numbers(thread, found.variable)?.[found.part] ?? null
    return cell(recording, state, known.memory(name), steps)
  }
}

/** @param {Step[]} steps */
const pathOf = (steps) => steps.map((step) => (typeof step === "string" ? step : `[${step}]`)).join("")

/**
 * @param {Recording} recording
 * @param {State} state
 * @param {number} m  the memory, -1 for none
 * @param {Step[]} steps
 */
function cell(recording, state, m, steps) {
  if (m < 0) return null
  const memory = recording.memories[m],
    {dims} = memory
  const most = Math.max(1, dims.length)
  let index = 0,
    at = 0
  for (let step = steps[0]; at < steps.length && at < most && typeof step === "number"; step = steps[++at]) {
    if (dims.length && (step < 0 || step >= dims[at])) return null
    index = index * (at ? dims[at] : 1) + step
  }
  const path = pathOf(steps.slice(at))
  const part = path ? memory.parts.findIndex(([label]) => label === path || label === withXyzw(path)) : 0
  const found = memory.cell(index)
  return found < 0 || part < 0 ? null : state.cellNumber(m, found, part)
}

/** @param {string} path */
const withXyzw = (path) => path.replace(/\.([rgba])$/, (_, letter) => `.${"xyzw"[COMPONENTS[letter]]}`)

/** The names of a recording, each looked for once. */
class Names {
  /** @type {Map<string, {variable: number, part: number} | null>} */
  #variables = new Map()
  /** @type {Map<string, number>} */
  #memories = new Map()
  /** @type {Set<number> | null} */
  #everSet = null

  /** @param {Recording} recording */
  constructor(recording) {
    this.recording = recording
  }

  /**
   * The memory of this name, -1 for none.
   * @param {string} name
   */
  memory(name) {
    let memory = this.#memories.get(name)
    if (memory === undefined) {
      memory = this.recording.memories.findIndex((one) => one.name === name)
      this.#memories.set(name, memory)
    }
    return memory
  }

  /**
   * The variable and the scalar in it that a path leads to: `w`, `list[2]`, `blob.colour`, and one component of such, `w.x` or `w[0]`.
   * @param {string} scope  the function at hand
   * @param {string} path
   */
  variable(scope, path) {
    const key = `${scope} ${path}`
    let found = this.#variables.get(key)
    if (found === undefined) {
      found = this.#resolve(scope, path)
      this.#variables.set(key, found)
    }
    return found
  }

  /**
   * @param {string} scope
   * @param {string} path
   */
  #resolve(scope, path) {
    const whole = this.#find(scope, path)
    if (whole >= 0) return {variable: whole, part: 0}
    const component = /^(.*)(?:\.([xyzwrgba])|\[([0-3])\])$/.exec(path)
    const vector = component ? this.#find(scope, component[1]) : -1
    if (!component || vector < 0) return null
    return {variable: vector, part: component[2] ? COMPONENTS[component[2]] : +component[3]}
  }

  /**
   * @param {string} scope
   * @param {string} name
   */
  #find(scope, name) {
    const {variables} = this.recording,
      own = variables.findIndex((v) => v.name === name && v.function === scope)
    return own >= 0 ? own : variables.findIndex((v, i) => v.name === name && this.#set.has(i))
  }

  /** Variables that the recording sets at all: a function that is never called has its own by the same names. */
  get #set() {
    if (this.#everSet) return this.#everSet
    const {target, site, kind, sites, length} = this.recording
    this.#everSet = new Set()
    for (let e = 0; e < length; e++) {
      const k = kind[site[e]]
      if (k === KIND.value) this.#everSet.add(sites[site[e]].variable ?? -1)
      else if (k === KIND.element) this.#everSet.add(target[e] - 1)
    }
    return this.#everSet
  }
}
