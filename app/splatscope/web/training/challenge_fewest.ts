// As few Gaussians as possible for 30 dB: the reader chooses the settings of a run, and the score is the number of Gaussians.
import {h, messageOf} from "#web/runtime/dom.ts"
import {best, keepBest} from "#web/runtime/scores.ts"
import {type Arena, drawInto, type Outcome, showGoal} from "./challenge_arena.ts"
import type {PublicChallenge} from "#components"
import type {Game} from "./challenge.ts"

const GOAL = 30 // dB
const ITERATIONS = 1000
const [LEAST, MOST] = [16, 2048]

export function fewest(arena: Arena, {name, title}: PublicChallenge): Game {
  const picture = h("canvas", {
    width: 128,
    height: 85,
    role: "img",
    "aria-label": "What the Gaussians draw",
    "data-testid": "challenge-picture",
  })
  const goal = h("canvas", {width: 128, height: 85, role: "img", "aria-label": "The photograph"})
  const psnr = h("output", {class: "score", "data-testid": "challenge-psnr"}, "–")
  const record = h("p", {class: "dim", "data-testid": "challenge-best"})
  const status = h("p", {class: "hint", role: "status", "data-testid": "challenge-verdict"})
  const progress = h("progress", {max: ITERATIONS, value: 0, "aria-label": "Iterations"})
  const blobs = h("input", {type: "number", min: LEAST, max: MOST, value: 1000, "data-testid": "challenge-blobs"})
  const seed = h("input", {type: "number", min: 0, max: 9999, value: 1})
  const rate = h(
    "select",
    {},
    ...(
      [
        ["0.5", "half"],
        ["1", "as usual"],
        ["2", "double"],
      ] as const
    ).map(([value, words]) => h("option", {value}, words)),
  )
  rate.value = "1"
  const growth = h("input", {type: "checkbox", checked: true})
  const go = h("button", {type: "button", class: "btn pri", "data-testid": "challenge-go", onclick: () => run()}, "Train")
  let stop: AbortController | null = null // while it trains

  const showBest = () => {
    const score = best(name)
    record.textContent = score === null ? "" : `Your best: ${score.toLocaleString("en")} Gaussians`
  }
  const run = async () => {
    if (stop) return stop.abort()
    if (!blobs.reportValidity() || !seed.reportValidity()) return
    stop = new AbortController()
    go.textContent = "Stop"
    const count = Number(blobs.value)
    status.textContent = `Training ${count.toLocaleString("en")} Gaussians …`
    delete status.dataset.reached
    try {
      const settings = {raw: null, blobs: count, seed: Number(seed.value), growth: growth.checked, rate: Number(rate.value)}
      const show = (now: Outcome) => {
        psnr.textContent = `${now.psnr.toFixed(1)} dB`
        progress.value = now.iteration
        return drawInto(picture, now.picture)
      }
      const round = {target: "photograph", ...settings, iterations: ITERATIONS} as const
      const end = await arena.play(round, show, stop.signal)
      await show(end)
      const isWhole = end.iteration >= ITERATIONS
      const isReached = isWhole && end.psnr >= GOAL
      const isBest = isReached && keepBest(name, count, "fewer")
      const words = `${count.toLocaleString("en")} Gaussians, ${end.psnr.toFixed(2)} dB`
      if (!isWhole) status.textContent = `${words}: stopped at iteration ${end.iteration}.`
      else if (!isReached) status.textContent = `${words}: not ${GOAL} dB yet.`
      else status.textContent = isBest ? `${words}: your best.` : `${words}: it counts, but you have done it with fewer.`
      status.dataset.reached = String(isReached)
      showBest()
    } catch (reason) {
      status.textContent = messageOf(reason)
    }
    stop = null
    go.textContent = "Train"
  }
  showBest()
  arena.where.then((where) => (go.hidden = !where))
  showGoal(arena, "photograph", goal).catch((reason) => (status.textContent = messageOf(reason)))
  const field = (name: string, input: HTMLElement) => h("label", {}, h("span", {}, name), input)
  return {
    el: h(
      "article",
      {},
      h("h1", {}, title),
      h(
        "p",
        {class: "lede"},
        `Reach a PSNR of at least ${GOAL} dB on the photograph in ${ITERATIONS.toLocaleString("en")} iterations. Your score is the number of Gaussians: fewer is better.`,
      ),
      h("div", {class: "readings"}, psnr, record, h("span", {class: "sp"}), go),
      progress,
      status,
      h(
        "div",
        {class: "canvases"},
        h("figure", {}, h("div", {class: "frame"}, picture), h("figcaption", {}, "Yours")),
        h("figure", {}, h("div", {class: "frame"}, goal), h("figcaption", {}, "The photograph")),
      ),
      h(
        "div",
        {class: "fields controls"},
        field("Gaussians", blobs),
        field("Step sizes", rate),
        field("Seed", seed),
        h("label", {class: "chk"}, growth, "Add them where the error is largest"),
      ),
    ),
    end: () => stop?.abort(),
  }
}
