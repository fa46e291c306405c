// Syntax colouring for Python: splits a line into words with their classes.
import type {TokenClass} from "./slang.ts"

const KEYWORDS = new Set(
  `False None True and as assert async await break class continue def del elif else except finally for from global if import in is
lambda nonlocal not or pass raise return try while with yield`.split(/\s+/),
)
const TOKEN = /#.*|[fbr]*"(?:\\.|[^"\\])*"?|[fbr]*'(?:\\.|[^'\\])*'?|\d[\w.]*|[A-Za-z_]\w*|\s+|./g

/** Split a line into words. A string over several lines is coloured only on its first line. */
export function tokens(line: string): [TokenClass, string][] {
  return Array.from(line.matchAll(TOKEN), ([word]) => [kindOf(word), word])
}

function kindOf(word: string): TokenClass {
  if (word[0] === "#") return "c"
  if (/["']/.test(word)) return "s"
  if (/^\d/.test(word)) return "n"
  return KEYWORDS.has(word) ? "k" : ""
}
