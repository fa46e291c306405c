// The constants of a source: macros, `static const` and enumerators, read from its text if they consist of numbers and operators;
// and those that the host set at link time.
import type {Recording} from "#web/recording/recording.ts"
import type {Head} from "#web/types.ts"

const COMMENT = /\/\*[\s\S]*?\*\/|\/\/[^\n]*/g
const MACRO = /^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(\S[^\n]*?)[ \t]*$/gm
const CONSTANT = /\bstatic\s+const\s+[\w:<>]+\s+(\w+)\s*=\s*([^;{}]+);|\bconst\s+static\s+[\w:<>]+\s+(\w+)\s*=\s*([^;{}]+);/g
const ENUM = /\benum(?:\s+class)?(?:\s+\w+)?(?:\s*:\s*\w+)?\s*\{([^{}]*)\}/g

/** The texts of all constants by name. Each is an expression, but perhaps not one that can be evaluated. */
export function constantsOf({sources, constants = {}}: Head): Map<string, string> {
  const found = new Map<string, string>()
  for (const source of Object.values(sources)) {
    const text = source.replace(COMMENT, (comment) => comment.replace(/[^\n]/g, " "))
    for (const [, name, body] of text.matchAll(MACRO)) found.set(name, body)
    for (const [, name, body, other, others] of text.matchAll(CONSTANT)) found.set(name ?? other, (body ?? others).trim())
    for (const [, body] of text.matchAll(ENUM)) {
      let last = "-1"
      for (const entry of body.split(",")) {
        const [, name, value] = /^\s*(\w+)\s*(?:=\s*(.+?)\s*)?$/.exec(entry) ?? []
        if (!name) continue
        last = value ?? `(${last}) + 1`
        found.set(name, last)
      }
    }
  }
  for (const [name, value] of Object.entries(constants)) found.set(name, value)
  return found
}

const MOST_SHOWN = 24

/** The constants that recorded files use outside of their definitions, at most as many as make a useful list. */
export function usedConstants({constants, file, files, head}: Pick<Recording, "constants" | "file" | "files" | "head">): string[] {
  const named = new Map<string, number>()
  for (const number of new Set(file)) {
    const text = (head.sources[files[number]] ?? "").replace(COMMENT, " ")
    for (const [name] of text.matchAll(/\b[A-Za-z_]\w*\b/g)) if (constants.has(name)) named.set(name, (named.get(name) ?? 0) + 1)
  }
  const given = head.constants ?? {}
  return [...named]
    .filter(([name, times]) => times > 1 || Object.hasOwn(given, name))
    .map(([name]) => name)
    .slice(0, MOST_SHOWN)
}
