// A pixel's transmittance layer by layer, on a logarithmic scale, down to the limit and past it.
//
// facts: layers [{before, after, open (with no layer left out), adds (in steps of 255), blended, end}], finalCount
// options: limit
import {h} from "#web/shell/dom.js"
import {s, set} from "#web/drawing/svg.js"

const TOP = 14,
  TALL = 264,
  LEFT = 46,
  MARK = 11

export function draw(host) {
  let drawn = null
  const draw = (look) => {
    drawn = host.facts.layers ? chart(host) : null
    host.root.replaceChildren(...(drawn ? [drawn.el] : []))
    drawn?.paint(look)
  }
  return {
    open: draw,
    resized: draw,
    changed() {},
    paint(look) {
      drawn?.paint(look)
    },
  }
}

function chart({root, facts, options, step}) {
  const {layers, finalCount} = facts,
    {limit} = options
  const width = Math.max(280, root.clientWidth),
    room = width - LEFT - 14,
    each = room / layers.length
  const least = Math.min(limit / 8, ...layers.map((one) => one.open).filter((T) => T > 1e-7)),
    lowest = Math.log10(Math.max(least, 1e-7)) - 0.12
  const y = (T) => TOP + TALL * Math.min(1, Math.log10(Math.max(T, 1e-30)) / lowest),
    x = (i) => LEFT + i * each
  const bottom = TOP + TALL,
    height = bottom + 62
  const svg = s("svg", {
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    class: "dcl",
    role: "img",
    "aria-label": `T after each of ${layers.length} layers. ${finalCount} are blended, ${layers.length - finalCount} left out.`,
  })

  for (let power = 0; power >= lowest; power--) {
    svg.append(
      s("path", {class: "grid", d: `M${LEFT} ${y(10 ** power)}H${width - 14}`}),
      s(
        "text",
        {x: LEFT - 8, y: y(10 ** power) + 4, "text-anchor": "end"},
        power > -4 ? String(10 ** power) : `10${[...String(-power)].reduce((word, digit) => word + "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit], "⁻")}`,
      ),
    )
  }
  const band = s("rect", {class: "band", y: TOP, height: TALL + 22, width: Math.max(3, each)})
  svg.append(band)
  const stairs = (name) => {
    const out = layers.findIndex((one) => Math.log10(one[name]) < lowest),
      shown = out < 0 ? layers : layers.slice(0, out)
    const steps = shown.map((one, i) => `H${x(i + 0.5)}V${y(one[name])}H${x(i + 1)}`).join("")
    return `M${x(0)} ${y(1)}${steps}${out < 0 ? "" : `H${x(out + 0.5)}V${bottom}`}`
  }
  if (finalCount < layers.length) svg.append(s("path", {class: "open", d: stairs("open")}))
  svg.append(
    s("path", {class: "limit", d: `M${LEFT} ${y(limit)}H${width - 14}`}),
    s("text", {class: "m now", x: width - 14, y: y(limit) - 7, "text-anchor": "end"}, "1/255"),
  )
  svg.append(s("path", {class: "stairs", d: stairs("after")}))
  const point = s("circle", {class: "point", r: 5})
  svg.append(point)

  // the layers, a square each
  const side = Math.min(MARK, Math.max(1.5, each - 1.5))
  layers.forEach((one, i) =>
    svg.append(
      s("rect", {
        class: one.blended ? "sq" : "sq no",
        x: x(i + 0.5) - side / 2,
        y: bottom + 8,
        width: side,
        height: Math.max(6, side),
      }),
    ),
  )
  const every = [1, 2, 5, 10, 20, 50].find((n) => n * each > 26)
  layers.forEach((_, i) => {
    if ((i + 1) % every === 0) svg.append(s("text", {x: x(i + 0.5), y: bottom + 35, "text-anchor": "middle"}, String(i + 1)))
  })
  const end = x(finalCount),
    right = end > width - 130
  svg.append(
    s("path", {class: "countline", d: `M${end} ${bottom + 4}V${bottom + 44}`}),
    s(
      "text",
      {class: "m now", x: end + (right ? -6 : 6), y: bottom + 56, "text-anchor": right ? "end" : "start"},
      `finalCount = ${finalCount}`,
    ),
  )

  const over = s("rect", {x: LEFT, y: TOP, width: room, height: TALL + 24, class: "hit"})
  over.onclick = (event) => {
    const at = Math.floor((event.clientX - over.getBoundingClientRect().left) / each)
    step(layers[Math.min(layers.length - 1, Math.max(0, at))].end)
  }
  svg.append(over)
  const words = h("p", {class: "reading num"}),
    el = h("div", {}, svg, words)

  const paint = (look) => {
    const done = layers.filter((one) => look.step >= one.end).length,
      at = Math.max(0, done - 1),
      one = layers[at]
    set(band, {x: x(at), visibility: done ? "visible" : "hidden"})
    set(point, {cx: done ? x(at + 1) : x(0), cy: y(done ? one.after : 1)})
    words.textContent = !done
      ? "T = 1: all light comes through."
      : one.blended
        ? `Layer ${done} is blended: T goes from ${one.before.toPrecision(3)} to ${one.after.toPrecision(3)}. It adds up to ${one.adds.toPrecision(2)} of 255 steps.`
        : `Layer ${done} is left out: T stays ${one.after.toPrecision(3)}. It would have added at most ${one.adds.toPrecision(2)} of 255 steps.`
  }
  return {el, paint}
}
