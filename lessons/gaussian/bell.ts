// The bell curve: each pixel of the picture is a dot, at its distance from the centre. The dots are the kernel's; the curve is theirs.
import {h} from "#web/runtime/dom.ts"
import {canvas, s, setAttributes} from "#web/drawing/svg.ts"
import {STAGE, cssOf, shareText, type Facts, type Seen} from "./stages.ts"

const FARTHEST = 4 // sizes
const WORD = 7.8 // px, of a letter
const AXIS = 222 // px: the words at the axis
const [LEFT, RIGHT, TOP, BOTTOM] = [22, 10, 10, 34]

export function bellCurve() {
  const el = h("div", {class: "bell awaits", "data-mini": ""})
  let facts: Facts | null = null
  let [width, height] = [0, 0]
  let drawn: ReturnType<typeof chart> | null = null
  const rebuild = () => {
    if (!facts || width <= 0) return
    drawn = chart(facts, width, height)
    el.replaceChildren(drawn.el)
  }
  return {
    el,
    show(given: Facts) {
      facts = given
      rebuild()
    },
    resize(w: number, h_: number) {
      if (w === width && h_ === height) return
      ;[width, height] = [w, h_]
      rebuild()
    },
    paint: (seen: Seen, colour: number[], done: number) => drawn?.paint(seen, colour, done),
  }
}

const NEAR = 0.1 // sizes: a pixel farther from a whole distance does not speak for it

/** What the dots show, in words: the fall-off and alpha of the pixels nearest to each whole distance. */
export function dotsText(dots: Facts["dots"]) {
  const at = Array.from({length: FARTHEST + 1}, (_, whole) => {
    const off = (dot: Facts["dots"][number]) => Math.abs(dot[0] - whole)
    const dot = dots.reduce((best, one) => (off(one) < off(best) ? one : best), dots[0])
    return dot && off(dot) <= NEAR ? `at ${whole}: ${shareText(dot[1])} and ${shareText(dot[2])}` : ""
  })
  return `The bell curve, fall-off and α of the pixels by their distance from the centre, in sizes: ${at.filter(Boolean).join("; ")}.`
}

function chart({dots}: Facts, width: number, height: number) {
  const across = Math.max(1, width - LEFT - RIGHT)
  const up = Math.max(1, height - TOP - BOTTOM)
  const all = dotsText(dots)
  const x = (distance: number) => LEFT + (across * Math.min(distance, FARTHEST)) / FARTHEST
  const y = (share: number) => TOP + up * (1 - share)
  const dotted = (which: 1 | 2) => dots.map((dot) => `M${x(dot[0]).toFixed(1)} ${y(dot[which]).toFixed(1)}h0`).join("")
  const base = y(0)
  const falls = s("path", {class: "bell-dots falls", d: dotted(1)})
  const alphas = s("path", {class: "bell-dots alphas", d: dotted(2)})
  const ticks = Array.from({length: FARTHEST + 1}, (_, i) => [
    s("path", {class: "bell-tick", d: `M${x(i)} ${base}v4`}),
    s("text", {x: x(i), y: base + 16, "text-anchor": "middle"}, String(i)),
  ])
  const line = s("path", {class: "bell-line"})
  const [fall, alpha] = [s("circle", {r: 5, class: "bell-mark"}), s("circle", {r: 5, class: "bell-mark own"})]
  const [fallWords, alphaWords] = [s("text", {class: "bell-words"}), s("text", {class: "bell-words"})]
  const el = canvas(
    width,
    height,
    {role: "img"},
    s("path", {class: "bell-axis", d: `M${LEFT} ${TOP}V${base}H${LEFT + across}`}),
    s("text", {x: LEFT - 6, y: y(1) + 4, "text-anchor": "end"}, "1"),
    s("text", {x: LEFT - 6, y: base + 4, "text-anchor": "end"}, "0"),
    ...ticks.flat(),
    s(
      "text",
      {x: width - 2, y: height - 3, "text-anchor": "end"},
      width < AXIS ? "distance, in sizes" : "distance from the centre, in sizes",
    ),
    falls,
    alphas,
    line,
    fall,
    alpha,
    fallWords,
    alphaWords,
  )
  /**
   * Put the words to the right of the marks, where the curve falls away below them; as far as the chart's edge does not let them, further
   * to the left and higher, above the curve.
   */
  const place = (at: number, falloff: number) => {
    const long = WORD * Math.max(...[fallWords, alphaWords].map((one) => one.textContent?.length ?? 0))
    const most = width - long
    const under = Math.max(TOP + 26, Math.min(y(falloff) + 6, base - 12))
    const clear = Math.sqrt(-2 * Math.log(Math.max(1e-3, 1 - (under + 6 - TOP) / up))) // where the curve has fallen below them
    const beside = Math.max(at + 10, x(clear) + 4)
    const left = Math.max(LEFT + 6, Math.min(beside, most))
    const above = y(Math.exp(-0.5 * (((left - LEFT) * FARTHEST) / across) ** 2)) - 10
    const low = beside <= most ? under : Math.max(TOP + 26, Math.min(base - 12, above))
    setAttributes(fallWords, {x: left, y: low - 16})
    setAttributes(alphaWords, {x: left, y: low})
  }
  return {
    el,
    paint(seen: Seen, colour: number[], done: number) {
      const at = x(seen.distance)
      setAttributes(el, {style: `--own: ${cssOf(colour)}`})
      setAttributes(line, {d: `M${at} ${base}V${y(seen.falloff)}`})
      setAttributes(fall, {cx: at, cy: y(seen.falloff)})
      setAttributes(alpha, {cx: at, cy: y(seen.alpha)})
      const far = seen.distance > FARTHEST ? `at ${seen.distance.toFixed(1)} sizes, ` : ""
      fallWords.textContent = `${far}fall-off ${shareText(seen.falloff)}`
      alphaWords.textContent = `× opacity = α ${shareText(seen.alpha)}`
      place(at, seen.falloff)
      const known = done > STAGE.alpha ? `, α ${shareText(seen.alpha)}` : ""
      const own = `The chosen pixel: at ${seen.distance.toFixed(2)}, fall-off ${shareText(seen.falloff)}${known}.`
      const first = done <= STAGE.falloff ? "The bell curve. No fall-off is known yet." : all
      el.setAttribute("aria-label", done > STAGE.falloff ? `${first} ${own}` : first)
      falls.classList.toggle("later", done <= STAGE.falloff)
      alphas.classList.toggle("later", done <= STAGE.alpha)
      line.classList.toggle("later", done <= STAGE.distance)
      for (const part of [fall, fallWords]) part.classList.toggle("later", done <= STAGE.falloff)
      for (const part of [alpha, alphaWords]) part.classList.toggle("later", done <= STAGE.alpha)
    },
  }
}
