// Which uints hold the bits of a float: those that the source turns into one with asfloat or makes of one with asuint, and what is
// copied to or from them. A kernel adds floats atomically in this way.
import type {Site} from "#web/types.ts"
import type {Recording} from "./recording.ts"

const known = new WeakMap<Recording, {memories: Set<string>; locals: Map<string, Set<string>>}>()

const FROM_BITS = /\basfloat\(\s*(\w+)/g
const TO_BITS = /(\w+)\s*(?:\[[^\]]*\]\s*)?(?:=\s*|\.\s*store\(\s*)asuint\(/g
/** `expected = found`, `uint found = buffer[i].compareExchange(expected, sum)` */
const COPY = /(\w+)\s*(?:\[[^\]]*\])?\s*=\s*(\w+)\s*(?:\[[^\]]*\])?\s*(?:\.\s*\w+\([^()]*\))?\s*$/

/** Whether a site's value is the bits of a float. */
export function holdsFloatBits(recording: Recording, site: Site) {
  if (site.type !== "uint" || !site.name) return false
  const found = known.get(recording) ?? search(recording)
  known.set(recording, found)
  return site.memory === undefined
    ? (found.locals.get(site.function ?? "")?.has(site.name) ?? false)
    : found.memories.has(site.name)
}

function search({sites, memories: all, head}: Recording) {
  const names = new Set(all.map(({name}) => name))
  const memories = new Set<string>()
  const locals = new Map<string, Set<string>>()
  const bodies = bodiesOf(sites, head.sources)
  for (let before = -1; before !== memories.size; ) {
    before = memories.size // what one function shows of a memory is true in the others
    for (const [name, body] of bodies) {
      const held = bitsIn(body, memories)
      locals.set(name, held)
      for (const one of held) if (names.has(one)) memories.add(one)
    }
  }
  return {memories, locals}
}

/** The statements of each function, as far as it was recorded. */
function bodiesOf(sites: Site[], sources: Record<string, string>) {
  const spans = new Map<string, {file: string; first: number; last: number}>()
  for (const {function: name = "", file, line, end = line} of sites) {
    const span = spans.get(name) ?? {file, first: line, last: line}
    spans.set(name, {file, first: Math.min(span.first, line), last: Math.max(span.last, end)})
  }
  return [...spans].map(([name, {file, first, last}]) => {
    const lines = (sources[file] ?? "").split("\n").slice(first - 1, last)
    const code = lines.map((text) => text.replace(/\/\/.*/, "")).join("\n")
    return [name, code.split(/[;{}]/)] as const
  })
}

/**
 * The names in these statements that hold the bits of floats.
 * @param from  names that are known to
 */
function bitsIn(statements: string[], from: Set<string>) {
  const found = new Set(from)
  for (const statement of statements)
    for (const way of [FROM_BITS, TO_BITS]) for (const [, name] of statement.matchAll(way)) found.add(name)
  for (let before = -1; before !== found.size; ) {
    before = found.size
    for (const statement of statements) {
      const [, to, of] = COPY.exec(statement) ?? []
      if (to && of && (found.has(to) || found.has(of))) found.add(to).add(of)
    }
  }
  return found
}
