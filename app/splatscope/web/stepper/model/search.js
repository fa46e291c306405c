// The first event that fits: NaN, inf, or an expression that becomes true.
import {known, parse} from "./expression.js"
import {lookup} from "./lookup.js"
import {KIND, numbers, shape} from "./recording.js"
import {State} from "./state.js"

// The position after the next event beyond `from` that fits, in the order of `moment`; null where there is none.
// Throws one line for what is no question.
export function find(moment, text, from, way = 1) {
  const {recording} = moment
  const odd = {nan: Number.isNaN, inf: (n) => Math.abs(n) === Infinity, infinity: (n) => Math.abs(n) === Infinity}[
    text.trim().toLowerCase()
  ]
  if (odd)
    return scan(moment, from, way, floats(recording), (event) =>
      numbers(recording.words, recording.wordAt[event], recording.about(event).type).some(odd),
    )
  const question = parse(text)
  if (!question.names.size) throw new Error("Name a variable or a cell: T < 1/255, blobs[10] == 30, or NaN.")
  known(question, recording)
  const wanted = Uint8Array.from(recording.sites, (site) =>
    question.names.has((site.name ?? "").split(/[.[]/)[0]) && site.kind !== "call" && site.kind !== "return" ? 1 : 0,
  )
  const state = new State(recording, moment.order)
  return scan(moment, from, way, wanted, (event, position) => {
    const thread = recording.thread[event]
    return Boolean(question.value(lookup(recording, state.seek(position + 1), thread)))
  })
}

const floats = (recording) =>
  Uint8Array.from(recording.sites, (site) => (/^(float|half|double)/.test(site.type ?? "") && shape(site.type) ? 1 : 0))

function scan(moment, from, way, wanted, fits) {
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

// Where a breakpoint stops: an event that begins a statement on its line, its condition true there.
export function nextStop(moment, breakpoints, way) {
  if (!breakpoints.size) return null
  const {recording} = moment
  const conditions = new Map()
  for (const [key, condition] of breakpoints) conditions.set(key, condition ? parse(condition) : null)
  const keyOf = recording.sites.map((site) => `${site.file}:${site.line}`)
  const wanted = Uint8Array.from(keyOf, (key) => (conditions.has(key) ? 1 : 0))
  const state = [...conditions.values()].some(Boolean) ? new State(recording, moment.order) : null
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
