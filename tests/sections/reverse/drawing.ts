// Says how many cells there are.
import {h} from "#web/runtime/dom.ts"

export function draw(host) {
  const line = h("p", {class: "reverse-count"})
  host.root.append(line)
  return {
    paint(look) {
      line.textContent = `${host.facts.count ?? 0} cells, step ${look.step}`
    },
  }
}
