// Source on a page of words: line numbers and colours.
import {h} from "../dom.js"
import {tokens} from "../slang.js"

export function quote(root) {
  for (const pre of root.querySelectorAll("pre[data-slang]")) {
    const state = {inside: false}, first = Number(pre.dataset.first)
    const rows = pre.textContent.replace(/\n$/, "").split("\n").map((line, i) => {
      const code = h("span")
      for (const [kind, word] of tokens(line, state)) code.append(kind ? h("i", {class: kind}, word) : word)
      return h("span", {class: "qrow"}, h("span", {class: "no", "aria-hidden": "true"}, String(first + i)), code)
    })
    pre.replaceChildren(h("code", {}, ...rows))
  }
}
