// Ten Gaussians by hand against gradient descent: the reader paints a fish, and its quality is counted while the hand moves.
import {context2d} from "#web/drawing/pixels.ts"
import {THINNEST} from "#web/drawing/live.ts"
import {ellipseHandles, OUTLINE} from "#web/drawing/ellipse_handles.ts"
import {s, setAttributes} from "#web/drawing/svg.ts"
import {h, messageOf} from "#web/runtime/dom.ts"
import {best, keepBest} from "#web/runtime/scores.ts"
import {rememberedJson, remember} from "#web/runtime/stored.ts"
import {arrowsChoose, checkOne} from "#web/widgets/roving.ts"
import {type Arena, drawInto, type Outcome, rowOf, showGoal} from "./challenge_arena.ts"
import type {PublicChallenge} from "#components"
import type {Game} from "./challenge.ts"
import {FIELDS} from "./browser/gaussians.ts"

const KEPT = "splatscope-ten-gaussians"
const COUNT = 10
const ITERATIONS = 300
const [X, Y, FIRST, SECOND, ANGLE, RED, LOGIT] = [0, 1, 2, 3, 4, 5, 8]

/** A slider's number: its name, field, bounds and step. */
const SLIDERS = (width: number, height: number) =>
  [
    ["x", X, 0, width, 0.5],
    ["y", Y, 0, height, 0.5],
    ["first size, log px", FIRST, -1, 4.6, 0.05],
    ["second size, log px", SECOND, -1, 4.6, 0.05],
    ["angle, radians", ANGLE, -1.57, 1.57, 0.02],
    ["opacity, logit", LOGIT, -3, 5, 0.1],
  ] as const

export function paint(arena: Arena, {name, title}: PublicChallenge): Game {
  const [width, height] = arena.size
  let raw = kept() ?? begin(width, height)
  let chosen = COUNT - 1
  let scale = 1
  let counted: Outcome | null = null
  let isAsked = false // whether a picture of what is in hand is on its way
  let isRacing = false
  let isOver = false
  let isTouched = kept() !== null // what the reader has not touched has no score

  const picture = h("canvas", {role: "img", "aria-label": "What your ten Gaussians paint", "data-testid": "challenge-picture"})
  const goal = h("canvas", {role: "img", "aria-label": "The fish to paint"})
  for (const canvas of [picture, goal]) Object.assign(canvas, {width, height})
  const over = s("svg", {class: "marks", "aria-hidden": "true"})
  const frame = h("div", {class: "frame"}, picture, over)
  const outlines = Array.from({length: COUNT}, () => s("ellipse", {class: "outline"}))
  const psnr = h("output", {class: "score", "data-testid": "challenge-psnr"}, "–")
  const record = h("p", {class: "dim", "data-testid": "challenge-best"})
  const status = h("p", {class: "hint", role: "status"})
  const results = h("div", {class: "race", "data-testid": "challenge-race"})
  const race = h(
    "button",
    {type: "button", class: "btn pri", "data-testid": "challenge-go", onclick: () => run()},
    "Race gradient descent",
  )
  const anew = h("button", {type: "button", class: "btn quiet", onclick: () => change(begin(width, height))}, "Start over")

  const change = (next: Float32Array<ArrayBuffer>) => {
    raw = next
    isTouched = true
    remember(KEPT, JSON.stringify([...raw].map((one) => Math.round(1000 * one) / 1000)))
    arrange()
    draw()
  }
  const set = (values: Record<number, number>) => {
    const next = raw.slice()
    for (const [field, value] of Object.entries(values)) next[Number(field) * COUNT + chosen] = value
    change(next)
  }
  const handles = ellipseHandles(over, () => [width, height], {
    to: (x, y) => set({[X]: x, [Y]: y}),
    stretch: (axis, size, angle) => set({[FIRST + axis]: Math.log(Math.max(0.05, size - THINNEST)), [ANGLE]: angle}),
    done: () => {},
  })
  over.append(...outlines, ...handles.els)

  const layers = outlines.map((_, i) =>
    h(
      "button",
      {type: "button", role: "radio", "aria-label": `Gaussian ${i + 1}${i ? "" : ", the nearest"}`, onclick: () => choose(i)},
      String(i + 1),
    ),
  )
  const strip = h("div", {class: "layers", role: "radiogroup", "aria-label": "Gaussian, the nearest first"}, ...layers)
  arrowsChoose(strip, layers)
  const sliders = SLIDERS(width, height).map(([name, field, min, max, step]) => {
    const input = h("input", {type: "range", min, max, step, "aria-label": name})
    input.oninput = () => set({[field]: Number(input.value)})
    const value = h("output", {class: "num"})
    return {field, input, value, el: h("label", {}, h("span", {}, name, " ", value), input)}
  })
  const colour = h("input", {type: "color", "aria-label": "Colour"})
  colour.oninput = () => {
    const part = (at: number) => Number.parseInt(colour.value.slice(at, at + 2), 16) / 255
    set({[RED]: part(1), [RED + 1]: part(3), [RED + 2]: part(5)})
  }
  goal.onclick = ({offsetX, offsetY}) => {
    const at = [offsetX, offsetY].map((one) => Math.floor((one * width) / goal.clientWidth))
    const [red, green, blue] = context2d(goal).getImageData(at[0], at[1], 1, 1).data
    set({[RED]: red / 255, [RED + 1]: green / 255, [RED + 2]: blue / 255})
  }

  frame.onclick = ({target, offsetX, offsetY}) => {
    if (target !== picture) return
    const away = (i: number) => Math.hypot(rowOf(raw, i)[X] - offsetX / scale, rowOf(raw, i)[Y] - offsetY / scale)
    choose(layers.map((_, i) => i).sort((a, b) => away(a) - away(b))[0])
  }

  const choose = (i: number) => {
    chosen = i
    checkOne(layers, i)
    arrange()
  }
  const arrange = () => {
    for (const [i, outline] of outlines.entries()) {
      const [x, y, first, second, angle] = rowOf(raw, i)
      const radii = [first, second].map((log) => OUTLINE * (THINNEST + Math.exp(log)) * scale)
      const turned = `translate(${(x + 0.5) * scale} ${(y + 0.5) * scale}) rotate(${(angle * 180) / Math.PI})`
      setAttributes(outline, {rx: radii[0], ry: radii[1], transform: turned, class: `outline${i === chosen ? " chosen" : ""}`})
      layers[i].style.setProperty("--own", hexOf(rowOf(raw, i)))
    }
    const row = rowOf(raw, chosen)
    const size = [row[FIRST], row[SECOND]].map((log) => THINNEST + Math.exp(log)) as [number, number]
    handles.show({x: row[X], y: row[Y], angle: row[ANGLE], size}, scale)
    for (const {field, input, value} of sliders) {
      input.value = String(row[field])
      value.textContent = row[field].toFixed(field <= Y ? 0 : 2)
    }
    colour.value = hexOf(row)
  }
  /** Draw what is in hand, always the latest. */
  const draw = async () => {
    if (isAsked || isRacing || isOver) return
    isAsked = true
    try {
      for (let drawn: unknown = null; drawn !== raw && !isOver; ) {
        drawn = raw
        counted = await arena.play({target: "fish", raw, blobs: COUNT, seed: 1, growth: false, rate: 1, iterations: 0})
        await drawInto(picture, counted.picture)
        psnr.textContent = `${counted.psnr.toFixed(1)} dB`
        if (status.textContent?.startsWith("Waiting")) status.textContent = ""
      }
      if (counted && isTouched && keepBest(name, round(counted.psnr), "more")) showBest()
    } catch (reason) {
      status.textContent = messageOf(reason)
    }
    isAsked = false
  }
  const showBest = () => {
    const score = best(name)
    record.textContent = score === null ? "" : `Your best by hand: ${score.toFixed(1)} dB`
  }
  const run = async () => {
    if (isRacing || !counted) return
    isRacing = true
    race.setAttribute("aria-disabled", "true")
    status.textContent = "Training from both starts …"
    const own = counted
    const lanes = (["From yours", "From a random start"] as const).map((name) => {
      const canvas = h("canvas", {width, height, role: "img", "aria-label": name})
      const words = h("b", {}, "–")
      return {name, canvas, words, el: h("figure", {}, canvas, h("figcaption", {}, name, " ", words))}
    })
    results.replaceChildren(...lanes.map(({el}) => el))
    const show =
      ({canvas, words}: (typeof lanes)[number]) =>
      async (now: Outcome) => {
        words.textContent = `${now.psnr.toFixed(1)} dB`
        await drawInto(canvas, now.picture)
      }
    try {
      const rounds = [own.raw, null].map((start, i) => {
        const seed = 1 + Math.floor(1000 * Math.random())
        const settings = {target: "fish", raw: start, blobs: COUNT, seed, growth: false, rate: 1, iterations: ITERATIONS} as const
        return arena.play(settings, show(lanes[i]))
      })
      const [yours, random] = await Promise.all(rounds)
      await Promise.all([yours, random].map((end, i) => show(lanes[i])(end)))
      results.dataset.ended = "true"
      status.textContent = verdict(own.psnr, yours.psnr, random.psnr)
    } catch (reason) {
      status.textContent = messageOf(reason)
    }
    isRacing = false
    race.setAttribute("aria-disabled", "false")
    draw()
  }

  const resized = new ResizeObserver(() => {
    scale = frame.clientWidth / width
    setAttributes(over, {width: frame.clientWidth, height: frame.clientHeight})
    arrange()
  })
  resized.observe(frame)
  showBest()
  choose(chosen)
  arena.where.then((where) => {
    if (where && !counted) status.textContent = `Waiting for ${where} …`
    race.hidden = anew.hidden = !where
  })
  showGoal(arena, "fish", goal)
    .then(draw)
    .catch((reason) => (status.textContent = messageOf(reason)))
  return {
    el: h(
      "article",
      {},
      h("h1", {}, title),
      h(
        "p",
        {class: "lede"},
        "Move, stretch and colour ten Gaussians until they are the fish. Then gradient descent has its turn, from your painting and from a random start.",
      ),
      h("div", {class: "readings"}, psnr, record, h("span", {class: "sp"}), anew, race),
      status,
      results,
      h(
        "div",
        {class: "canvases"},
        h("figure", {}, frame, h("figcaption", {}, "Yours")),
        h("figure", {}, h("div", {class: "frame"}, goal), h("figcaption", {}, "The fish. Click it to take a colour.")),
      ),
      h(
        "div",
        {class: "hand"},
        strip,
        h("div", {class: "sliders"}, ...sliders.map(({el}) => el), h("label", {}, h("span", {}, "colour"), colour)),
      ),
    ),
    end() {
      isOver = true
      resized.disconnect()
    },
  }
}

const round = (psnr: number) => Math.round(10 * psnr) / 10

function verdict(hand: number, yours: number, random: number) {
  const from =
    yours > random + 0.1
      ? "Your start was the better one"
      : random > yours + 0.1
        ? "The random start was the better one"
        : "Both starts were equally good"
  return `By hand ${hand.toFixed(1)} dB. After ${ITERATIONS} iterations ${yours.toFixed(1)} dB from yours, ${random.toFixed(1)} dB from a random start. ${from}.`
}

/** The Gaussians that the reader has left here; null for none. */
function kept(): Float32Array<ArrayBuffer> | null {
  const numbers = rememberedJson(KEPT)
  const isWhole = Array.isArray(numbers) && numbers.length === FIELDS * COUNT && numbers.every((one) => Number.isFinite(one))
  return isWhole ? Float32Array.from(numbers) : null
}

/** Ten grey Gaussians in two rows, the last behind all and as large as the picture. */
function begin(width: number, height: number) {
  const rows = Array.from({length: COUNT}, (_, i) => {
    if (i === COUNT - 1) return [width / 2, height / 2, Math.log(width), Math.log(width), 0, 0.75, 0.8, 0.85, 4]
    const grey = 0.35 + 0.05 * (i % 5)
    return [((i % 5) + 0.5) * (width / 5), (i < 5 ? 0.3 : 0.7) * height, 1.4, 1.4, 0, grey, grey, grey, 2]
  })
  return Float32Array.from(Array.from({length: FIELDS}, (_, field) => rows.map((row) => row[field])).flat())
}

const hexOf = (row: number[]) =>
  `#${row
    .slice(RED, LOGIT)
    .map((part) =>
      Math.round(255 * Math.min(1, Math.max(0, part)))
        .toString(16)
        .padStart(2, "0"),
    )
    .join("")}`
