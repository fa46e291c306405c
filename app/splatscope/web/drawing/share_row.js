// A layer's share of a pixel as a bar, with its α and the transmittance before and after it.
import {h} from "#web/runtime/dom.js"

/** @typedef {"past" | "now" | "ahead"} When */

export const short = (/** @type {number} */ x) => (x === 1 ? "1" : x.toFixed(3))

/**
 * A row that ends in a bar: what nearer layers take, the layer's own share, and the rest; with the same as numbers.
 * @param {string} name  its CSS class
 * @param {HTMLElement[]} parts
 */
export function shareRow(name, ...parts) {
  const [taken, own] = [h("i", {class: "taken awaits"}), h("i", {class: "own awaits"})]
  const [alpha, light] = [h("span"), h("span")]
  const bar = h("div", {class: "layer-bar"}, taken, own)
  const el = h("li", {class: name}, ...parts, bar, h("p", {class: "layer-say num awaits"}, alpha, light))
  return {
    el,
    /**
     * @param {string} colour
     * @param {number} before  T
     * @param {number} after  T
     * @param {string} words
     * @param {When} when
     */
    paint(colour, before, after, words, when) {
      taken.style.width = `${100 * (1 - before)}%`
      own.style.cssText = `width: ${100 * (before - after)}%; --own: ${colour}`
      alpha.textContent = words
      light.textContent = after ? `T ${short(before)} → ${short(after)}` : `T ${short(before)}`
      el.dataset.when = when
      el.toggleAttribute("data-here", when === "now")
    },
  }
}
