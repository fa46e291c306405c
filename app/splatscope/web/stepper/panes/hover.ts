// The value of the expression under the pointer in the source, for the chosen thread.
import {known, parse} from "#web/recording/expressions/expression.ts"
import {lookup} from "#web/recording/expressions/lookup.ts"
import {showQuantity} from "#web/recording/expressions/quantities.ts"
import type {Moment} from "#web/recording/moment.ts"

/**
 * The expression at a column of a line: a name with the members before it and the subscripts after it, "" if there is none.
 * In `As[lid.y][k].w`, `As` leads to `As[lid.y][k]`, `lid` to `lid`, and `y` to `lid.y`.
 * @param column  from 0
 */
export function expressionAt(text: string, column: number) {
  const word = [...text.matchAll(/[A-Za-z_]\w*/g)].find(({index, 0: name}) => index <= column && column < index + name.length)
  if (!word) return ""
  let start = word.index,
    end = start + word[0].length
  for (let before = /([A-Za-z_]\w*)\.$/.exec(text.slice(0, start)); before; before = /([A-Za-z_]\w*)\.$/.exec(text.slice(0, start)))
    start -= before[0].length
  while (text[end] === "[") {
    let depth = 0,
      at = end
    do {
      if (text[at] === "[") depth++
      if (text[at] === "]") depth--
      at++
    } while (depth && at < text.length)
    if (depth) break
    end = at
  }
  return text[end] === "(" ? "" : text.slice(start, end)
}

/** An expression's value for the chosen thread, `i = 4 in thread 3`; "" if it has no meaning or no value yet. */
export function valueUnder(text: string, moment: Moment) {
  if (!text) return ""
  try {
    const value = known(parse(text), moment.recording).quantity(lookup(moment.recording, moment.state, moment.thread))
    return value ? `${text} = ${showQuantity(value)} in thread ${moment.thread}` : ""
  } catch {
    return "" // a keyword, or a name that the recording does not have
  }
}

/**
 * The column of a line of code under the pointer, -1 beside the text.
 * @param text  of the line
 */
export function columnAt(code: HTMLElement, text: string, x: number) {
  const indent = /^\s*/.exec(text)?.[0].length ?? 0
  const {left, width} = code.getBoundingClientRect(),
    lead = code.querySelector(".ind")?.getBoundingClientRect().width ?? 0
  const letter = (width - lead) / (text.length - indent)
  const column = Math.floor((x - left - lead) / letter) + indent
  return x >= left + lead && column < text.length ? column : -1
}
