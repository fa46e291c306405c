// Where to stop: the next event that matches a query, or the next breakpoint.
import {type Expression, known, parse} from "#web/recording/expressions/expression.ts"
import {ids, threadAt} from "#web/recording/expressions/ids.ts"
import {KIND} from "./kinds.ts"
import {lookup} from "#web/recording/expressions/lookup.ts"
import {State} from "./state.ts"
import {isFloat, numbers, shape} from "./values.ts"
import type {Moment} from "./moment.ts"
import type {Recording} from "./recording.ts"

const NOT_FINITE: Record<string, (n: number) => boolean> = {
  nan: Number.isNaN,
  inf: (n) => Math.abs(n) === Infinity,
  infinity: (n) => Math.abs(n) === Infinity,
}

/**
 * Find the next matching event, in the order shown: one of a kind (`barrier`, `write As`), one whose value is NaN or infinite, or
 * one that makes an expression true.
 * @param text  "NaN", "inf", an expression, or a kind with its object, which may be followed by `if` and an expression
 * @param from  position to begin at
 * @param way  1: the first one from there, -1: the last one before
 * @returns the position after it; null if there is none
 * @throws {Error} one line for the reader, if the query is not valid
 */
export function find(moment: Moment, text: string, from: number, way = 1): number | null {
  const {recording} = moment
  const wrong = NOT_FINITE[text.trim().toLowerCase()]
  if (wrong)
    return scan(moment, from, way, floats(recording), (event) =>
      numbers(recording.words, recording.wordAt[event], recording.about(event).type).some(wrong),
    )
  const state = new State(recording, moment.order)
  const asked = kindOf(text, recording)
  const place = /^\s*thread\s+(.+)$/i.exec(text)
  const thread = place && threadAt(place[1], recording)
  if (thread !== null) return scan(moment, from, way, all(recording), (event) => recording.thread[event] === thread)
  const holds = asked?.condition ? question(asked.condition, recording) : null
  const isTrue = (one: Expression, event: number, position: number) =>
    Boolean(one.value(lookup(recording, state.seek(position + 1), recording.thread[event])))
  if (asked)
    return scan(moment, from, way, asked.wanted, (event, position) => {
      if (asked.cell && !isCell(asked.cell, recording, event, () => state.seek(position + 1))) return false
      return !holds || isTrue(holds, event, position)
    })
  const asks = question(text, recording)
  const variables = [...asks.names].filter((name) => !ids.has(name) && !recording.constants.has(name))
  if (!asks.names.size || (!variables.length && ![...asks.names].some((name) => ids.has(name))))
    throw new Error("Name a variable or a cell: T < 1/255, blobs[10] == 30, line == 21, write keys, or NaN.")
  // An event can make it true only if it sets or accesses something named in it. If it names a thread or a line, any event can.
  const any = variables.length < asks.names.size
  const wanted = Uint8Array.from(recording.sites, ({name = "", kind}) =>
    any || (asks.names.has(name.split(/[.[]/)[0]) && kind !== "call" && kind !== "return") ? 1 : 0,
  )
  return scan(moment, from, way, wanted, (event, position) => isTrue(asks, event, position))
}

const question = (text: string, recording: Recording) => known(parse(text), recording)

const KINDS: Record<string, string[]> = {
  barrier: ["arrive"],
  fence: ["resume"],
  write: ["write", "atomic"],
  read: ["read"],
  access: ["read", "write", "atomic"],
  atomic: ["atomic"],
  set: ["value", "element"],
  branch: ["branch"],
  loop: ["loop"],
  call: ["call"],
  enter: ["call"],
  return: ["return"],
  outside: ["out-of-bounds"],
}
const ASKED = /^\s*([a-z]+)(?:\s+([A-Za-z_][\w.]*)((?:\s*\[[^\]]*\])*))?(?:\s+(?:if|where|when)\s+(.+))?\s*$/i

/** Parse a query for a kind of event: its sites, the element if one is named, and a condition; null for other queries. */
function kindOf(text: string, recording: Recording) {
  const [, word = "", name = "", subscripts = "", condition = ""] = ASKED.exec(text) ?? []
  const kinds = KINDS[word.toLowerCase()]
  if (!kinds || recording.variables.some((one) => one.name === word)) return null
  const named = recording.sites.filter((site) => !name || site.name === name || site.name?.split(/[.[]/)[0] === name)
  if (!named.length) throw new Error(`No variable, memory or function is called ${name}.`)
  const wanted = Uint8Array.from(recording.sites, (site) => (kinds.includes(site.kind) && named.includes(site) ? 1 : 0))
  return {wanted, condition, cell: subscripts ? parse(`${name}${subscripts}`) : null}
}

/** Whether an event accesses the element in an expression, whose subscripts are evaluated for the event's thread. */
function isCell(element: Expression, recording: Recording, event: number, state: () => State) {
  const cell = recording.cellOf(event)
  if (!cell) return false
  const memory = recording.memories[cell.memory]
  let found = false
  const look = lookup(recording, state(), recording.thread[event])
  element.quantity((name, steps) => {
    if (name !== memory.name) return look(name, steps)
    const indices = steps.filter((step) => typeof step === "number")
    const index = indices.length > 1 ? indices.reduce((at, step, i) => at * (memory.dims[i] ?? 1) + step, 0) : indices[0]
    found = memory.index(cell.cell) === index
    return null
  })
  return found
}

const all = (recording: Recording) => new Uint8Array(recording.sites.length).fill(1)

/** For each site, 1 if its values are floats. */
const floats = (recording: Recording) => Uint8Array.from(recording.sites, ({type}) => (isFloat(type) && shape(type) ? 1 : 0))

/** @param wanted  1 for sites to check */
function scan(moment: Moment, from: number, way: number, wanted: Uint8Array, fits: (event: number, position: number) => boolean) {
  const {recording} = moment
  let found = null
  const stop = way > 0 ? recording.length : from - 1
  for (let p = way > 0 ? from : 0; p < stop; p++) {
    const event = moment.eventAt(p)
    if (!wanted[recording.site[event]] || !fits(event, p)) continue
    found = p + 1
    if (way > 0) break
  }
  return found
}

/**
 * Find where a breakpoint stops: at an event that begins a statement on its line, if its condition is true there.
 * @param breakpoints  "file:line" → condition, "" for none
 * @param way  1: forward, -1: back
 * @returns the position after it; null if there is none
 */
export function nextStop(moment: Moment, breakpoints: Map<string, string>, way: number): number | null {
  if (!breakpoints.size) return null
  const {recording} = moment
  const conditions = new Map<string, Expression | null>()
  for (const [key, condition] of breakpoints) conditions.set(key, condition ? parse(condition) : null)
  const keyOf = recording.sites.map((site) => `${site.file}:${site.line}`)
  const wanted = Uint8Array.from(keyOf, (key) => (conditions.has(key) ? 1 : 0))
  const state = new State(recording, moment.order)
  return scan(moment, moment.position, way, wanted, (event, position) => {
    const thread = recording.thread[event],
      before = recording.nth(thread, recording.turn[event] - 1),
      site = recording.site[event]
    if (moment.pinned >= 0 && thread !== moment.pinned) return false
    if (before >= 0 && keyOf[recording.site[before]] === keyOf[site] && recording.kind[site] !== KIND.loop) return false
    const condition = conditions.get(keyOf[site])
    return !condition || Boolean(condition.value(lookup(recording, state.seek(position + 1), thread)))
  })
}
