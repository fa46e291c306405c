// Threads that want to write one value: a row a thread, a column for each value that it has had. A mark is an attempt, in the column of
// the value that it was based on: made, refused, or lost to a later write.
//
// facts: count (threads), cells, values [what each adds], rounds, attempts [[thread, round, step, outcome]], exact [the sum of each cell]
// options: memory (bits of floats)
import {h} from "#web/shell/dom.js"
import {text} from "#web/stepper/model/values.js"
import {onArrows} from "#web/drawing/arrows.js"
import {redrawn} from "#web/drawing/redrawn.js"
import {lane, s, set} from "#web/drawing/svg.js"

const LEFT = 46,
  TOP = 26,
  ROW = 12.5,
  FLOAT = new DataView(new ArrayBuffer(4))
const asfloat = (bits) => {
  FLOAT.setUint32(0, bits)
  return FLOAT.getFloat32(0)
}
const number = (value) => (value === null || Number.isNaN(value) ? "NaN" : text(value, "float", 7))

export const draw = (host) => redrawn(host, (facts) => facts.attempts, build)

function build({root, facts, options}, look) {
  const {count, cells, values, rounds, attempts, exact} = facts,
    width = root.clientWidth
  const step = Math.min(34, (width - LEFT - 8) / rounds),
    side = Math.max(4, Math.min(9, step - 2.5)),
    y = (thread) => TOP + 8 + thread * ROW
  const height = TOP + 16 + count * ROW + 8
  let latest = look

  const svg = s("svg", {
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    class: "ct",
    role: "slider",
    tabindex: 0,
    "aria-label": "Thread, chosen with the arrow keys up and down",
    "aria-valuemin": 0,
    "aria-valuemax": count - 1,
  })
  const band = s("rect", {class: "ct-now", y: TOP - 6, height: height - TOP - 2, width: step, rx: 3}),
    mine = s("rect", {class: "ct-mine", x: 0, width, height: ROW, rx: 3})
  svg.append(
    band,
    mine,
    s("text", {x: 4, y: 14}, "thread"),
    s("text", {x: LEFT + 4, y: 14}, step * rounds > 150 ? "based on value number …" : "on value …"),
  )
  const every = Math.ceil(22 / step)
  const heads = Array.from({length: rounds}, (_, i) =>
    s("text", {class: "m", x: LEFT + (i + 0.5) * step, y: TOP + 2, "text-anchor": "middle"}, i % every ? "" : String(i)),
  )
  if (step * rounds > 60) svg.append(...heads)
  const rows = Array.from({length: count}, (_, thread) => {
    const disc = lane(10, y(thread) + 4, 4.2)
    svg.append(
      s("path", {class: "ct-line", d: `M${LEFT} ${y(thread) + 4}H${LEFT + rounds * step}`}),
      disc.el,
      s("text", {class: "m", x: 38, y: y(thread) + 8, "text-anchor": "end"}, String(thread)),
    )
    return disc
  })
  const marks = attempts.map(([thread, round, at, outcome]) => {
    const x = LEFT + (round + 0.5) * step,
      my = y(thread) + 4,
      half = side / 2
    const box = s("rect", {x: x - half, y: my - half, width: side, height: side, rx: 2})
    const cross =
      outcome === "lost"
        ? s("path", {class: "ct-cross", d: `M${x - half} ${my - half}l${side} ${side}M${x - half} ${my + half}l${side} ${-side}`})
        : null
    const el = s("g", {}, box, cross)
    svg.append(el)
    return {el, at, outcome, thread, round}
  })
  const choose = (thread) => latest.moment.choose(Math.max(0, Math.min(count - 1, thread)))
  svg.onclick = (event) => {
    const box = svg.getBoundingClientRect()
    choose(Math.floor((event.clientY - box.top - TOP - 6) / ROW))
  }
  onArrows(svg, {ArrowUp: -1, ArrowDown: 1}, (way) => choose(latest.thread + way))
  const words = h("p", {class: "reading num"}),
    el = h("div", {}, svg, words)

  const paint = (now) => {
    latest = now
    const {moment} = now,
      over = ({at}) => moment.after(at - 1) <= moment.position
    const done = marks.filter(over).sort((a, b) => moment.after(a.at - 1) - moment.after(b.at - 1)),
      last = done.at(-1)
    marks.forEach((mark) =>
      mark.el.setAttribute(
        "class",
        !over(mark)
          ? "ct-mark"
          : `ct-mark ${mark.outcome}${mark === last ? " latest" : ""}${mark.thread === now.thread ? " own" : ""}`,
      ),
    )
    rows.forEach((disc, thread) => disc.show(now.status(thread), thread === now.thread))
    set(mine, {y: y(now.thread) - 2.5})
    set(band, {x: LEFT + (last?.round ?? 0) * step, visibility: last ? "visible" : "hidden"})
    set(svg, {"aria-valuenow": now.thread, "aria-valuetext": `thread ${now.thread}`})
    words.textContent = said(now, done, last)
  }

  function said(now, done, last) {
    if (!last) return "→ makes the first write."
    const cell = last.thread % cells,
      bits = now.memory(options.memory)?.number(cell),
      sum = bits === null || bits === undefined ? "not known yet" : number(asfloat(bits))
    const tried = done.filter((mark) => mark.outcome === "refused").length,
      lost = done.filter((mark) => mark.outcome === "lost").length
    const what =
      last.outcome === "refused"
        ? `Thread ${last.thread} came too late and tries again.`
        : `Thread ${last.thread} added ${number(values[last.thread])}${last.outcome === "lost" ? ", in vain" : ""}.`
    const name = cells > 1 ? `Sum ${cell} is` : "The sum is"
    return `${what} ${done.length} of ${marks.length} attempts made, ${tried} refused${lost ? `, ${lost} lost` : ""}. ${name} ${sum}; with every number in it: ${number(exact[cell])}.`
  }
  return {el, paint, width}
}
