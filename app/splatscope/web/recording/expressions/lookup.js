// Resolves a name for a thread at a moment: a variable of its current function, else of another one, else a cell, else a value from
// the host, a constant of the source, or an id of the thread.
import {parse} from "./expression.js"
import {idOf} from "./ids.js"
import {KIND} from "#web/recording/kinds.js"
import {select, vector} from "./quantities.js"
import {numbers, shape} from "#web/recording/values.js"

/**
 * @import {Quantity} from "./quantities.js"
 * @import {Recording} from "#web/recording/recording.js"
 * @import {State} from "#web/recording/state.js"
 */

/** @typedef {number | string} Step  a step after a name: 3 for [3], ".x" for .x */
/** @typedef {(name: string, steps: Step[]) => Quantity | null} Lookup  null if there is no such name, or it has no value yet */

const DEEPEST = 16 // levels of constants defined by other constants
const MOST_CONSTANTS = 1000 // uses of constants in one expression
const MOST = 64 // parts of a row that is shown as a whole

/** @type {WeakMap<Recording, Names>} */
const namesOf = new WeakMap()

/**
 * Make the lookup of names for a thread in a state, for parsed expressions.
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
  let depth = 0,
    evaluated = 0
  /** @type {Lookup} */
  const look = (name, steps) => {
    const found = known.variable(scope, name, steps)
    if (found) return along(state.quantity(thread, found.variable), steps.slice(found.steps))
    const memory = known.memory(name, steps)
    if (memory) return cell(recording, state, memory.memory, steps.slice(memory.steps))
    const given = known.uniform(name, steps)
    if (given) return along(given.quantity, steps.slice(given.steps))
    const constant = recording.constants.get(name)
    if (constant === undefined) return along(idOf(name, recording, thread, state), steps)
    if (depth >= DEEPEST || ++evaluated > MOST_CONSTANTS) return null
    depth++
    const value = known.constant(name, constant)?.(look) ?? null
    if (--depth === 0) evaluated = 0
    return along(value, steps)
  }
  return look
}

/** @param {Step[]} steps */
const pathOf = (steps) => steps.map((step) => (typeof step === "string" ? step : `[${step}]`)).join("")

/**
 * The part of a quantity that steps lead to.
 * @param {Quantity | null} quantity
 * @param {Step[]} steps
 * @returns {Quantity | null}
 */
const along = (quantity, steps) =>
  steps.reduce((/** @type {Quantity | null} */ found, step) => found && select(found, step), quantity)

/**
 * A cell of a memory, a member of one, or a row of cells.
 * @param {Recording} recording
 * @param {State} state
 * @param {number} m
 * @param {Step[]} steps
 * @returns {Quantity | null}
 */
function cell(recording, state, m, steps) {
  const memory = recording.memories[m],
    {dims} = memory
  const most = Math.max(1, dims.length)
  let index = 0,
    at = 0
  for (let step = steps[0]; at < steps.length && at < most && typeof step === "number"; step = steps[++at]) {
    if (step < 0 || (dims.length && step >= dims[at])) return null
    index = index * (at ? dims[at] : 1) + step
  }
  const inside = dims.slice(at).reduce((count, size) => count * size, 1) // cells in a row, if subscripts are missing
  const rest = steps.slice(at)
  if (dims.length && at < dims.length) {
    if (!at || rest.length || inside > MOST) return null
    const width = memory.parts.length
    const row = Array.from({length: inside}, (_, i) => oneCell(state, m, memory.cell(index * inside + i), memory.parts, []))
    if (row.every((one) => one === null)) return null
    const unknown = {parts: Array(width).fill(NaN), kinds: Array(width).fill("?")}
    const found = row.map((one) => one ?? unknown)
    return {parts: found.flatMap(({parts}) => parts), kinds: found.flatMap(({kinds}) => kinds)}
  }
  return oneCell(state, m, memory.cell(index), memory.parts, rest)
}

/**
 * A cell, or the part of it that steps lead to: members by name, then subscripts and swizzles.
 * @param {State} state
 * @param {number} m
 * @param {number} at  the cell, -1 for none
 * @param {import("#web/types.d.ts").Part[]} parts
 * @param {Step[]} steps
 * @returns {Quantity | null}
 */
function oneCell(state, m, at, parts, steps) {
  if (at < 0) return null
  for (let named = steps.length; named >= 0; named--) {
    const path = pathOf(steps.slice(0, named))
    const members = parts.flatMap(([label], i) => (label.startsWith(path) && /^$|^[.[]/.test(label.slice(path.length)) ? [i] : []))
    if (!members.length) continue
    const values = members.map((part) => state.cellNumber(m, at, part))
    if (values.some((value) => value === null)) {
      // in a vector that is known only in part, the requested part may be known
      const one = steps.length === named + 1 ? select(vector(members, ""), steps[named]) : null
      const asked = one?.parts.map((part) => state.cellNumber(m, at, part))
      if (!one || !asked || asked.some((value) => value === null)) return null
      return {parts: /** @type {number[]} */ (asked), kinds: one.parts.map((part) => parts[part][1])}
    }
    const found = {parts: /** @type {number[]} */ (values), kinds: members.map((part) => parts[part][1])}
    return along(found, steps.slice(named))
  }
  return null
}

/** The names of a recording, each resolved once. */
class Names {
  /** @type {Map<string, {variable: number, steps: number} | null>} */
  #variables = new Map()
  /** @type {Map<string, number>} */
  #memories = new Map()
  /** @type {Map<string, import("./expression.js").Evaluate | null>} */
  #constants = new Map()
  /** @type {Set<number> | null} */
  #everSet = null

  /** @param {Recording} recording */
  constructor(recording) {
    this.recording = recording
    recording.memories.forEach(({name}, m) => {
      if (!this.#memories.has(name)) this.#memories.set(name, m)
    })
  }

  /**
   * The memory that a name and the members of a block after it lead to, and the number of these members; null for none.
   * @param {string} name
   * @param {Step[]} steps
   */
  memory(name, steps) {
    for (let named = 0; ; named++) {
      const memory = this.#memories.get(name + pathOf(steps.slice(0, named)))
      if (memory !== undefined) return {memory, steps: named}
      if (typeof steps[named] !== "string") return null
    }
  }

  /**
   * The host's value of this name: a uniform, or a member of a block with or without the block's name.
   * @param {string} name
   * @param {Step[]} steps
   */
  uniform(name, steps) {
    const {uniforms} = this.recording
    for (let named = steps.length; named >= 0; named--) {
      const path = name + pathOf(steps.slice(0, named))
      const found = uniforms.find((one) => one.name === path) ?? uniforms.find((one) => one.name.endsWith(`.${path}`))
      if (!found) continue
      const form = shape(found.type)
      return form ? {quantity: vector(numbers(found.words, 0, found.type), form.scalar), steps: named} : null
    }
    return null
  }

  /**
   * A constant of the source as an expression; null if it is not one.
   * @param {string} name
   * @param {string} text
   */
  constant(name, text) {
    let made = this.#constants.get(name)
    if (made === undefined) {
      try {
        made = parse(text).quantity
      } catch {
        made = null // a macro may contain anything
      }
      this.#constants.set(name, made)
    }
    return made
  }

  /**
   * The longest variable that a path begins with, and the number of steps in it: in `blob.colour.x`, the variable `blob.colour` has
   * one.
   * @param {string} scope  the current function
   * @param {string} name
   * @param {Step[]} steps
   */
  variable(scope, name, steps) {
    const key = `${scope} ${name}${pathOf(steps)}`
    let found = this.#variables.get(key)
    if (found === undefined) {
      found = null
      for (let named = steps.length; named >= 0 && !found; named--) {
        const variable = this.#find(scope, name + pathOf(steps.slice(0, named)))
        if (variable >= 0) found = {variable, steps: named}
      }
      this.#variables.set(key, found)
    }
    return found
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

  /** The variables that the recording sets. A function that is never called may have variables of the same names. */
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
