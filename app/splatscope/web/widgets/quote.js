// Quoted source in a page's text: adds line numbers and colours.
import {h} from "#web/runtime/dom.js"
import {tokens as python} from "./python.js"
import {tokens as slang} from "./slang.js"

/**
 * Number and colour all quoted source in a part of the page.
 * @param {ParentNode} root
 */
export function quote(root) {
  for (const pre of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("pre[data-language]")))
    listing(pre, pre.textContent ?? "", Number(pre.dataset.first), [], pre.dataset.language === "python" ? python : slang)
}

/**
 * Fill an element with source.
 * @param {HTMLElement} pre
 * @param {string} text
 * @param {number} first  number of its first line
 * @param {string[]} [notes]  shown beside the lines: the result of each
 * @param {typeof slang} [tokens]  splits a line in its language
 */
export function listing(pre, text, first, notes = [], tokens = slang) {
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
