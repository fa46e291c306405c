// Resolves a name for a thread at a moment: a variable of its current function, else of another one, else a cell, else a value from
// the host, a constant of the source, or an id of the thread.
import {type Evaluate, parse} from "./expression.ts"
import {idOf} from "./ids.ts"
import {type Quantity, select, vector} from "./quantities.ts"
import {numbers, shape} from "#web/recording/values.ts"
import type {Recording} from "#web/recording/recording.ts"
import type {State} from "#web/recording/state.ts"
import type {Part} from "#web/types.ts"

/** A step after a name: 3 for [3], ".x" for .x. */
export type Step = number | string
/** Null if there is no such name, or it has no value yet. */
export type Lookup = (name: string, steps: Step[]) => Quantity | null

const DEEPEST = 16 // levels of constants defined by other constants
const MOST_CONSTANTS = 1000 // uses of constants in one expression
const MOST = 64 // parts of a row that is shown as a whole

const namesOf = new WeakMap<Recording, Names>()

/** Make the lookup of names for a thread in a state, for parsed expressions. */
export function lookup(recording: Recording, state: State, thread: number): Lookup {
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
  const look: Lookup = (name, steps) => {
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

const pathOf = (steps: Step[]) => steps.map((step) => (typeof step === "string" ? step : `[${step}]`)).join("")

/** The part of a quantity that steps lead to. */
const along = (quantity: Quantity | null, steps: Step[]): Quantity | null =>
  steps.reduce((found: Quantity | null, step) => found && select(found, step), quantity)

/** A cell of a memory, a member of one, or a row of cells. */
function cell(recording: Recording, state: State, m: number, steps: Step[]): Quantity | null {
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
 * @param at  the cell, -1 for none
 */
function oneCell(state: State, m: number, at: number, parts: Part[], steps: Step[]): Quantity | null {
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
      return {parts: asked as number[], kinds: one.parts.map((part) => parts[part][1])}
    }
    const found = {parts: values as number[], kinds: members.map((part) => parts[part][1])}
    return along(found, steps.slice(named))
  }
  return null
}

/** The names of a recording, each resolved once. */
class Names {
  #variables = new Map<string, {variable: number; steps: number} | null>()
  #memories = new Map<string, number>()
  #constants = new Map<string, Evaluate | null>()
  recording: Recording

  constructor(recording: Recording) {
    this.recording = recording
    recording.memories.forEach(({name}, m) => {
      if (!this.#memories.has(name)) this.#memories.set(name, m)
    })
  }

  /** The memory that a name and the members of a block after it lead to, and the number of these members; null for none. */
  memory(name: string, steps: Step[]) {
    for (let named = 0; ; named++) {
      const memory = this.#memories.get(name + pathOf(steps.slice(0, named)))
      if (memory !== undefined) return {memory, steps: named}
      if (typeof steps[named] !== "string") return null
    }
  }

  /** The host's value of this name: a uniform, or a member of a block with or without the block's name. */
  uniform(name: string, steps: Step[]) {
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

  /** A constant of the source as an expression; null if it is not one. */
  constant(name: string, text: string) {
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
   * @param scope  the current function
   */
  variable(scope: string, name: string, steps: Step[]) {
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

  /** A function that is never called may have variables of the same names as one that is. */
  #find(scope: string, name: string) {
    const {variables, everSet} = this.recording,
      own = variables.findIndex((v) => v.name === name && v.function === scope)
    return own >= 0 ? own : variables.findIndex((v, i) => v.name === name && everSet[i])
  }
}
