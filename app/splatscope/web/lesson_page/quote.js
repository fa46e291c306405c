// Source on a page of words: line numbers and colours.
import {h} from "#web/shell/dom.js"
import {tokens} from "#web/widgets/slang.js"

export function quote(root) {
  for (const pre of root.querySelectorAll("pre[data-slang]")) listing(pre, pre.textContent, Number(pre.dataset.first))
}

// `notes`, if there are any, stand beside the lines: what each left.
export function listing(pre, text, first, notes = []) {
  const state = {inside: false}
  const rows = text
    .replace(/\n$/, "")
    .split("\n")
    .map((line, i) => {
      const code = h("span")
      for (const [kind, word] of tokens(line, state)) code.append(kind ? h("i", {class: kind}, word) : word)
      const note = notes[i] ? h("b", {class: "left"}, notes[i]) : null
      return h("span", {class: "qrow"}, h("span", {class: "no", "aria-hidden": "true"}, String(first + i)), code, note)
    })
  pre.replaceChildren(h("code", {}, ...rows))
  return pre
}
