// The first event that fits: NaN, inf, or an expression that becomes true.
import {known, parse} from "./expression.js"
import {lookup} from "./lookup.js"
import {KIND, numbers, shape} from "./recording.js"
import {State} from "./state.js"

// The position after the next event beyond `from` that fits, in the order of `moment`; null where there is none.
// Throws one line for what is no question.
export function find(moment, text, from, way = 1) {
  const {run} = moment
  const odd = {nan: Number.isNaN, inf: (n) => Math.abs(n) === Infinity, infinity: (n) => Math.abs(n) === Infinity}[
    text.trim().toLowerCase()
  ]
  if (odd)
    return scan(moment, from, way, floats(run), (event) => numbers(run.words, run.wordAt[event], run.about(event).type).some(odd))
  const question = parse(text)
  if (!question.names.size) throw new Error("Name a variable or a cell: T < 1/255, blobs[10] == 30, or NaN.")
  known(question, run)
  const wanted = Uint8Array.from(run.sites, (site) =>
    question.names.has((site.name ?? "").split(/[.[]/)[0]) && site.kind !== "call" && site.kind !== "return" ? 1 : 0,
  )
  const state = new State(run, moment.order)
  return scan(moment, from, way, wanted, (event, position) => {
    const thread = run.thread[event]
    return Boolean(question.value(lookup(run, state.seek(position + 1), thread)))
  })
}

const floats = (run) =>
  Uint8Array.from(run.sites, (site) => (/^(float|half|double)/.test(site.type ?? "") && shape(site.type) ? 1 : 0))

function scan(moment, from, way, wanted, fits) {
  const {run} = moment
  let found = null
  const stop = way > 0 ? run.length : from - 1
  for (let p = way > 0 ? from : 0; p < stop; p++) {
    const event = moment.eventAt(p)
    if (!wanted[run.site[event]] || !fits(event, p)) continue
    found = p + 1
    if (way > 0) break
  }
  return found
}

// Where a breakpoint stops: an event that begins a statement on its line, its condition true there.
export function nextStop(moment, breakpoints, way) {
  if (!breakpoints.size) return null
  const {run} = moment
  const conditions = new Map()
  for (const [key, condition] of breakpoints) conditions.set(key, condition ? parse(condition) : null)
  const keyOf = run.sites.map((site) => `${site.file}:${site.line}`)
  const wanted = Uint8Array.from(keyOf, (key) => (conditions.has(key) ? 1 : 0))
  const state = [...conditions.values()].some(Boolean) ? new State(run, moment.order) : null
  return scan(moment, moment.position, way, wanted, (event, position) => {
    const thread = run.thread[event],
      before = run.nth(thread, run.turn[event] - 1),
      site = run.site[event]
    if (moment.pinned >= 0 && thread !== moment.pinned) return false
    if (before >= 0 && keyOf[run.site[before]] === keyOf[site] && run.kind[site] !== KIND.loop) return false
    const condition = conditions.get(keyOf[site])
    return !condition || Boolean(condition.value(lookup(run, state.seek(position + 1), thread)))
  })
}
