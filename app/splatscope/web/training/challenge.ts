// The challenges that are trained: which of them the address names, its best score, and what plays its rounds.
import {h, style} from "#web/runtime/dom.ts"
import {on} from "#web/runtime/events.ts"
import {UNNAMED} from "#web/runtime/address.ts"
import {current} from "#web/runtime/router.ts"
import type {PublicChallenge} from "#components"
import type {Render} from "#web/types.ts"
import {type Arena, arenaFor} from "./challenge_arena.ts"
import {fewest} from "./challenge_fewest.ts"
import {paint} from "./challenge_paint.ts"

/** A challenge's page, and what ends it. */
export interface Game {
  el: HTMLElement
  end(): void
}

const GAMES: Record<string, (arena: Arena, about: PublicChallenge) => Game> = {"ten-gaussians": paint, "thirty-decibels": fewest}

export function render({model, el}: Render<"Challenge">) {
  style(el)
  const root = h("div", {class: "challenge", "data-testid": "challenge"})
  const arena = arenaFor(model)
  let game: Game | null = null
  const show = () => {
    const name = new URLSearchParams(current().inputs).get("task") ?? ""
    if (root.dataset.name === name) return
    game?.end()
    root.dataset.name = name
    const challenge = model.challenges.find((one) => one.name === name)
    game = challenge ? GAMES[name](arena, challenge) : null
    const back = h("a", {class: "back", href: "?page=exercises"}, "← All exercises")
    root.replaceChildren(...(game ? [back, game.el] : []))
  }
  show()
  const end = on("step", (step) => {
    if (step === UNNAMED) show()
  })
  model.on("remove", () => {
    end()
    game?.end()
  })
  return root
}
