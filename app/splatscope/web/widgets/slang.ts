// Syntax colouring for Slang: splits a line into words with their classes. The source pane and the editor share it.
import type {IndentContext, StringStream} from "@codemirror/language"

const KEYWORDS = new Set(
  `if else for while do switch case default break continue return discard struct class enum interface
extension property get set associatedtype typealias typedef namespace using module implementing import export public internal
private static const extern uniform groupshared in out inout no_diff let var func where is as this This new throws try
__init __subscript __generic void true false nullptr none bwd_diff fwd_diff each expand optional precise globallycoherent
volatile inline numthreads shader mutating Differentiable BackwardDifferentiable ForwardDifferentiable`.split(/\s+/),
)
const TYPES =
  /^((bool|u?int(8|16|32|64)?(_t)?|half|float(16|32|64)?(_t)?|double)([1-4](x[1-4])?)?|vector|matrix|Atomic|Array|Optional|Tuple|DifferentialPair|(RW|Append|Consume|RasterizerOrdered)?(Structured|ByteAddress|Constant|Parameter)?(Buffer|Block)|(RW)?Texture\w+|SamplerState|[DW]+iffTensor|RWTensor|Tensor|String)$/
const TOKEN =
  /\/\/.*|\/\*|"(?:\\.|[^"\\])*"?|(?:0[xX][\da-fA-F]+|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)[fFhHuUlL]*|#\s*\w+|[A-Za-z_]\w*|\s+|[^\w\s]/g

/** Keyword, type, number, comment, string, or anything else. */
export type TokenClass = "k" | "t" | "n" | "c" | "s" | ""

/**
 * Split a line into words.
 * @param state  whether a block comment is open; read, and updated for the next line
 */
export function tokens(line: string, state: {inside: boolean}) {
  const found: [TokenClass, string][] = []
  let at = 0
  while (at < line.length) {
    if (state.inside) {
      const end = line.indexOf("*/", at)
      const stop = end < 0 ? line.length : end + 2
      found.push(["c", line.slice(at, stop)])
      state.inside = end < 0
      at = stop
      continue
    }
    TOKEN.lastIndex = at
    const match = TOKEN.exec(line)
    if (!match) {
      found.push(["", line.slice(at)])
      break
    }
    if (match[0] === "/*") {
      state.inside = true
      continue
    }
    found.push([kindOf(match[0]), match[0]])
    at = TOKEN.lastIndex
  }
  return found
}

function kindOf(text: string): TokenClass {
  const c = text[0]
  if (text.startsWith("//")) return "c"
  if (c === '"') return "s"
  if (c === "#") return "k"
  if ((c >= "0" && c <= "9") || (c === "." && text.length > 1)) return "n"
  if (KEYWORDS.has(text)) return "k"
  return TYPES.test(text) ? "t" : ""
}

const TAGS = {k: "keyword", t: "typeName", n: "number", c: "comment", s: "string"}

/** A CodeMirror stream parser for the same words. */
export const stream = {
  name: "slang",
  startState: () => ({inside: false, depth: 0}),
  token(input: StringStream, state: {inside: boolean; depth: number}) {
    if (!state.inside && input.eatSpace()) return null
    const [[kind, text]] = tokens(input.string.slice(input.pos), state)
    input.pos += text.length
    if (!kind) state.depth = Math.max(0, state.depth + text.split("{").length - text.split("}").length)
    return kind ? TAGS[kind] : null
  },
  /**
   * The indentation of a line: one step for each open brace.
   * @param state  at the end of the previous line
   * @param after  the line's text
   */
  indent: ({depth}: {depth: number}, after: string, {unit}: IndentContext) =>
    Math.max(0, depth - (after.startsWith("}") ? 1 : 0)) * unit,
  languageData: {
    commentTokens: {line: "//", block: {open: "/*", close: "*/"}},
    indentOnInput: /^\s*[{}]$/,
    closeBrackets: {brackets: ["(", "[", "{", '"']},
  },
}
