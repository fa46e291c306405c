// What is written with signs, as a screen reader should say it: by default it skips many of them.

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"

/** @param sign  and digits, raised */
const lowered = (sign: string) => [...sign].map((one) => (one === "⁻" ? "minus " : RAISED.indexOf(one))).join("")

const SAID: [RegExp, string | ((...found: string[]) => string)][] = [
  [/\u2060/g, ""], // keeps a line from breaking
  [/\s×\s10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)/g, (_, power) => ` times 10 to the ${lowered(power)}`],
  [/\b10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)/g, (_, power) => `10 to the ${lowered(power)}`],
  [/(\d) × (\d)/g, "$1 by $2"],
  [/\s?[·×]\s?/g, " times "],
  [/\s?÷\s?/g, " divided by "],
  [/∂/g, "d"],
  [/√/g, "the root of "],
  [/\u0302/g, " hat"], // m̂: the letter, then its hat
  [/₋₁/g, " before"],
  [/ ?± ?/g, " plus or minus "],
  [/ ≠ /g, " is not "],
  [/ ≤ /g, " is at most "],
  [/ ≥ /g, " is at least "],
  [/press →/g, "press the right arrow"],
  [/ → /g, ": "],
  [/µs\b/g, "microseconds"],
  [/∞/g, "infinity"],
]

/** A sentence about a figure in words: "T times α is off by 3 times 10 to the minus 8". */
export const aloud = (text: string) => SAID.reduce((said, [sign, words]) => said.replace(sign, words as string), text)
