// A switch for each barrier of a kernel: off, its line is a comment. The score is how many are gone from a kernel that passes.
import {h} from "#web/runtime/dom.ts"

const BARRIER = /^(\s*)(\/\/ )?(GroupMemoryBarrierWithGroupSync\(\);.*)$/

/** The barriers of a kernel: the line of each, counted from 1, and whether it is in place. */
export const barriersIn = (source: string) =>
  source.split("\n").flatMap((line, i) => {
    const match = BARRIER.exec(line)
    return match ? [{line: i + 1, inPlace: !match[2]}] : []
  })

/** The kernel with the barrier of a line put in place or taken out. */
export const withBarrier = (source: string, line: number, inPlace: boolean) =>
  source
    .split("\n")
    .map((text, i) => (i === line - 1 ? text.replace(BARRIER, inPlace ? "$1$3" : "$1// $3") : text))
    .join("\n")

/** How many barriers are in place. */
export const countBarriers = (source: string) => barriersIn(source).filter(({inPlace}) => inPlace).length

/**
 * The switches.
 * @param change  puts another text into the editor
 */
export function barrierSwitches(change: (source: string) => void) {
  const el = h("div", {class: "barriers", role: "group", "aria-label": "Barriers", "data-testid": "barrier-switches"})
  let shown = ""
  return {
    el,
    show(source: string) {
      const barriers = barriersIn(source)
      const state = JSON.stringify(barriers)
      if (state === shown) return
      shown = state
      const held = [...el.querySelectorAll("button")].indexOf((el.getRootNode() as ShadowRoot).activeElement as HTMLButtonElement)
      const buttons = barriers.map(({line, inPlace}) =>
        h(
          "button",
          {
            type: "button",
            class: "btn",
            "aria-pressed": String(inPlace),
            "aria-label": `Barrier on line ${line}`,
            onclick: () => change(withBarrier(source, line, !inPlace)),
          },
          `Line ${line}`,
        ),
      )
      el.replaceChildren(h("span", {class: "dim"}, "Barriers in place:"), ...buttons)
      buttons[held]?.focus()
    },
  }
}
