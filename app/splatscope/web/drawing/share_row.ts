// A layer's share of a pixel as a bar, with its α and the transmittance before and after it.
import {h} from "#web/runtime/dom.ts"

type When = "past" | "now" | "ahead"

export const short = (x: number) => (x === 1 ? "1" : x.toFixed(3))

/**
 * A row that ends in a bar: what nearer layers take, the layer's own share, and the rest; with the same as numbers.
 * @param name  its CSS class
 */
export function shareRow(name: string, ...parts: HTMLElement[]) {
  const [taken, own] = [h("i", {class: "taken awaits"}), h("i", {class: "own awaits"})]
  const [alpha, light] = [h("span"), h("span")]
  const bar = h("div", {class: "layer-bar"}, taken, own)
  const el = h("li", {class: name}, ...parts, bar, h("p", {class: "layer-say num awaits"}, alpha, light))
  return {
    el,
    /**
     * @param before  T
     * @param after  T
     */
    paint(colour: string, before: number, after: number, words: string, when: When) {
      taken.style.width = `${100 * (1 - before)}%`
      own.style.cssText = `width: ${100 * (before - after)}%; --own: ${colour}`
      alpha.textContent = words
      light.textContent = after ? `T ${short(before)} → ${short(after)}` : `T ${short(before)}`
      el.dataset.when = when
      el.toggleAttribute("data-here", when === "now")
    },
  }
}
