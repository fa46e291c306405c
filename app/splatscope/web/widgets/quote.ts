// Quoted source in a page's text: adds line numbers and colours.
import {h} from "#web/runtime/dom.ts"
import {tokens as python} from "./python.ts"
import {tokens as slang} from "./slang.ts"

/** Number and colour all quoted source in a part of the page. */
export function quote(root: ParentNode) {
  for (const pre of root.querySelectorAll("pre[data-language]") as NodeListOf<HTMLElement>)
    listing(pre, pre.textContent ?? "", Number(pre.dataset.first), [], pre.dataset.language === "python" ? python : slang)
}

/**
 * Fill an element with source.
 * @param first  number of its first line
 * @param notes  shown beside the lines: the result of each
 * @param tokens  splits a line in its language
 */
export function listing(pre: HTMLElement, text: string, first: number, notes: string[] = [], tokens: typeof slang = slang) {
  const state = {inside: false}
  const rows = text
    .replace(/\n$/, "")
    .split("\n")
    .map((line, i) => {
      const code = h("span", {style: `--in: ${/^\s*/.exec(line)?.[0].length ?? 0}`})
      for (const [kind, word] of tokens(line, state)) code.append(kind ? h("i", {class: kind}, word) : word)
      const note = notes[i] ? h("b", {class: "left"}, notes[i]) : null
      return h("span", {class: "qrow"}, h("span", {class: "no", "aria-hidden": "true"}, String(first + i)), code, note)
    })
  pre.replaceChildren(h("code", {}, ...rows))
  return pre
}
