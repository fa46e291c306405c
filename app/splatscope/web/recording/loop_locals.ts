// The variables that are declared in the body of a loop: at the head of an iteration they have no value yet.
import type {Recording} from "./recording.ts"

const NOT_CODE = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"/g
const LOOP = /^(?:\[[^\]]*\]\s*)*(for|while|do)\b\s*/
// A type, then the first name that is declared with it; static variables keep their values.
const DECLARATION =
  /^\s*(?:for\s*\(\s*)?(?:(?:const|let|var|uniform)\s+)*([A-Za-z_][\w:.]*)(?:<[^;{}]*?>)?(?:\[[^\]]*\])*\s+([A-Za-z_]\w*)(.*)$/s
const INFERRED = /^\s*(?:for\s*\(\s*)?(?:let|var)\s+([A-Za-z_]\w*)/
const LIST = /=\s*\{(?:[^{};]|\{[^{};]*\})*\}/g // an initializer
const NO_TYPE = new Set([
  "return",
  "else",
  "static",
  "groupshared",
  "case",
  "goto",
  "typedef",
  "struct",
  "do",
  "if",
  "while",
  "let",
  "var",
])

/** A loop's body: its file, where it begins and ends, and the names that it declares. */
type Body = {file: string | undefined; begin: number; end: number; names: Set<string>}

/**
 * For each site, the variables that begin without a value when it is passed: for a loop, those that its body declares. A variable is
 * left out if it is also set outside of all bodies that declare its name, because it may then be another variable of that name.
 */
export function loopLocals({head, sites, variables}: Pick<Recording, "head" | "sites" | "variables">): number[][] {
  const texts = new Map<string, {text: string; lines: number[]}>()
  const sourceOf = (file: string | undefined = "") => {
    let found = texts.get(file)
    if (!found) {
      const text = (head.sources[file] ?? "").replace(NOT_CODE, (part) => part.replace(/[^\n]/g, " "))
      const lines = [0]
      for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines.push(at + 1)
      found = {text, lines}
      texts.set(file, found)
    }
    return found
  }
  const offsets = sites.map(({file, line, column}) => (sourceOf(file).lines[line - 1] ?? 0) + (column ?? 1) - 1)
  const bodies = sites.map(({kind, file}, site) => (kind === "loop" ? bodyOf(sourceOf(file).text, offsets[site], file) : null))
  const setBy = new Map<string, number[]>() // by function and name, the sites that set the variable or a part of it
  sites.forEach(({kind, function: within, name = ""}, site) => {
    if (kind === "value" || kind === "element") {
      const key = `${within} ${root(name)}`
      setBy.set(key, [...(setBy.get(key) ?? []), site])
    }
  })
  const isInside = (site: number, {file, begin, end}: Body) =>
    sites[site].file === file && offsets[site] >= begin && offsets[site] < end
  return sites.map(({function: within}, loop) => {
    const body = bodies[loop]
    if (!body?.names.size) return []
    const own = [...body.names].filter((name) =>
      (setBy.get(`${within} ${name}`) ?? []).every((site) => bodies.some((one) => one?.names.has(name) && isInside(site, one))),
    )
    return variables.flatMap((variable, v) => (variable.function === within && own.includes(root(variable.name)) ? [v] : []))
  })
}

const root = (name: string) => name.split(/[.[]/)[0]

/** The body of the loop that begins somewhere in a text; null if there is none, as where a macro stands for it. */
function bodyOf(text: string, at: number, file: string | undefined): Body | null {
  const [head, word] = LOOP.exec(text.slice(at)) ?? []
  if (!head) return null
  let begin = at + head.length
  if (word !== "do") begin = closing(text, begin)
  begin += /^\s*/.exec(text.slice(begin))?.[0].length ?? 0
  if (text[begin] !== "{") return null // one statement declares nothing
  const end = closing(text, begin)
  return {file, begin, end, names: declared(text.slice(begin + 1, end - 1))}
}

/** The position after the bracket that closes the one at a position. */
function closing(text: string, at: number) {
  let depth = 0
  for (let i = at; i < text.length; i++) {
    if ("([{".includes(text[i])) depth++
    if (")]}".includes(text[i]) && --depth === 0) return i + 1
  }
  return text.length
}

/** The names that statements declare. */
function declared(code: string) {
  const names = new Set<string>()
  for (const statement of code.replace(LIST, "= 0").split(/[;{}]/)) {
    const [, inferred] = INFERRED.exec(statement) ?? []
    if (inferred) names.add(inferred)
    const [, type, name, rest = ""] = DECLARATION.exec(statement) ?? []
    if (!name || NO_TYPE.has(type) || !/^\s*(?:$|[=,:[])/.test(rest)) continue
    names.add(name)
    for (const [, other] of withoutBrackets(rest).matchAll(/,\s*([A-Za-z_]\w*)\s*(?=[=,:]|$)/g)) names.add(other)
  }
  return names
}

/** A text without what stands in brackets. */
function withoutBrackets(text: string) {
  let depth = 0
  return [...text].map((c) => ("([{".includes(c) && ++depth ? "" : ")]}".includes(c) && depth-- ? "" : depth ? "" : c)).join("")
}
