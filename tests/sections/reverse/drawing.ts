// Says how many cells there are.
import {h} from "#web/runtime/dom.ts"
import type {DrawingHost, DrawingView} from "#web/drawing/types.ts"

export function draw(host: DrawingHost<{count?: number}>): DrawingView {
  const line = h("p", {class: "reverse-count"})
  host.root.append(line)
  return {
    paint(look) {
      line.textContent = `${host.facts.count ?? 0} cells, step ${look.step}`
    },
  }
}
