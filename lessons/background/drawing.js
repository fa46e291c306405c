// A few pixels on white paper, composited in two ways: both pictures, how far they are apart, and every pixel by its T.
//
// facts: width, height, T, right, shipped [of each pixel, colours 0 … 1]. Memories: gathered, asItShould, asShipped.
// What is not written yet is pale: that is what the run is going to write.
import {h} from "#web/shell/dom.js"
import {show} from "#web/drawing/look.js"
import {s, set} from "#web/drawing/svg.js"

const GAP = 18,
  PAD = 16,
  LEFT = 46,
  MOST = 0.25

export function draw(host) {
  const {root} = host
  let parts = null,
    look = null
  const choose = (thread) => {
    if (look && look.moment.pinned !== thread) look.moment.choose(thread)
  }

  const build = () => {
    const {facts} = host,
      {width, height} = facts,
      room = Math.max(280, root.clientWidth - 2 * PAD),
      cell = Math.floor((room - 2 * GAP) / (3 * width))
    const plate = (caption) => {
      const svg = s("svg", {
        width: cell * width + 4,
        height: cell * height + 4,
        viewBox: `-2 -2 ${cell * width + 4} ${cell * height + 4}`,
        class: "sheet",
        role: "img",
        tabindex: "0",
        "aria-label": `${caption}, ${width} × ${height} pixels. Arrow keys choose a pixel's thread.`,
      })
      const cells = facts.T.map((_, i) =>
        s("rect", {x: (i % width) * cell, y: Math.floor(i / width) * cell, width: cell, height: cell}),
      )
      const mark = s("rect", {class: "chosen", width: cell, height: cell, fill: "none"})
      svg.append(...cells, mark)
      const at = (event) => {
        const box = svg.getBoundingClientRect(),
          x = Math.floor((event.clientX - box.left - 2) / cell),
          y = Math.floor((event.clientY - box.top - 2) / cell)
        return x >= 0 && y >= 0 && x < width && y < height ? y * width + x : -1
      }
      svg.onclick = (event) => {
        if (at(event) >= 0) choose(at(event))
      }
      svg.onkeydown = (event) => {
        const step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -width, ArrowDown: width}[event.key]
        if (step === undefined || !look) return
        event.preventDefault()
        event.stopPropagation()
        const next = look.thread + step
        if (
          next >= 0 &&
          next < facts.T.length &&
          (Math.abs(step) > 1 || Math.floor(next / width) === Math.floor(look.thread / width))
        )
          choose(next)
      }
      const words = h("span", {class: "num"})
      return {
        el: h("figure", {class: "sheet-box"}, svg, h("figcaption", {}, caption, words)),
        cells,
        words,
        mark: (i) => set(mark, {x: (i % width) * cell, y: Math.floor(i / width) * cell}),
      }
    }
    const sheets = [plate("as it should be"), plate("as shipped"), plate("darker by")]
    const chart = scatter(facts, room)
    parts = {sheets, chart, count: facts.T.length}
    root.replaceChildren(h("div", {class: "paper-body"}, h("div", {class: "sheets"}, ...sheets.map((one) => one.el)), chart.el))
  }

  const paint = () => {
    const {facts} = host,
      [right, shipped, off] = parts.sheets,
      memories = ["asItShould", "asShipped"].map((name) => look.memory(name))
    for (let i = 0; i < parts.count; i++) {
      const [first, second] = memories.map((memory, which) =>
        memory.written(i) ? [0, 1, 2].map((part) => memory.number(i, part)) : facts[which ? "shipped" : "right"][i],
      )
      const known = memories[1].written(i),
        darker = Math.max(...first.map((value, channel) => value - second[channel]))
      set(right.cells[i], {fill: css(first), class: memories[0].written(i) ? "" : "pale"})
      set(shipped.cells[i], {fill: css(second), class: known ? "" : "pale"})
      set(off.cells[i], {
        style: `fill: color-mix(in oklab, var(--c-blue) ${Math.round(100 * Math.min(1, darker / MOST))}%, var(--surface))`,
        class: known ? "" : "pale",
      })
      parts.chart.point(i, first[0], second[0], Boolean(known), i === look.thread)
      if (i === look.thread) off.words.textContent = ` ${show(Number(darker.toFixed(3)), 3)}`
    }
    for (const sheet of parts.sheets) sheet.mark(look.thread)
  }

  return {
    open() {
      parts = null
      if (host.facts.T === undefined) return
      const focus = root.getRootNode().activeElement,
        which = [...root.querySelectorAll(".sheet")].indexOf(focus)
      build()
      if (which >= 0) root.querySelectorAll(".sheet")[which].focus()
    },
    changed() {},
    paint(now) {
      look = now
      if (parts) paint()
    },
    resized(now) {
      look = now
      if (parts) {
        build()
        paint()
      }
    },
  }
}

const css = (rgb) => `rgb(${rgb.map((value) => Math.round(255 * Math.min(1, Math.max(0, value)))).join(" ")})`

// The red channel over T: a ring as it should be, a disc as shipped, and what lies between for the chosen pixel.
function scatter(facts, width) {
  const height = Math.max(200, Math.min(280, width * 0.42)),
    right = 22,
    top = 30,
    bottom = 34
  const x = (T) => LEFT + T * (width - LEFT - right),
    y = (value) => top + (1 - value) * (height - top - bottom)
  const svg = s("svg", {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    class: "sag",
    role: "img",
    "aria-label": "The red channel of every pixel by its T, as it should be and as shipped",
  })
  for (const value of [0, 0.25, 0.5, 0.75, 1])
    svg.append(
      s("path", {class: "grid", d: `M${x(0)} ${y(value)}H${x(1)}`}),
      s("text", {x: LEFT - 8, y: y(value) + 4, "text-anchor": "end", class: "m"}, String(value)),
    )
  for (const T of [0, 0.5, 1]) svg.append(s("text", {x: x(T), y: height - 14, "text-anchor": "middle", class: "m"}, String(T)))
  svg.append(
    s("text", {x: x(0.25), y: height - 14, "text-anchor": "middle"}, "T"),
    s("text", {x: 0, y: top + (height - top - bottom) * 0.12}, "red"),
  )
  const order = facts.T.map((_, i) => i).sort((a, b) => facts.T[a] - facts.T[b])
  const line = (values, klass) =>
    svg.append(s("path", {class: klass, d: `M${order.map((i) => `${x(facts.T[i])} ${y(values[i][0])}`).join("L")}`}))
  line(facts.right, "should")
  line(facts.shipped, "does")
  const gap = s("path", {class: "missing"})
  svg.append(gap)
  const middle = order[order.length >> 1],
    deepest = Math.min(...facts.shipped.map(([red]) => red))
  svg.append(
    s("text", {x: x(1), y: y(1) - 12, "text-anchor": "end", class: "should-word"}, "as it should be"),
    s("text", {x: x(facts.T[middle]), y: y(deepest) + 22, "text-anchor": "middle", class: "does-word"}, "as shipped"),
  )
  const points = facts.T.map((T) => {
    const ring = s("circle", {cx: x(T), r: 4.5, class: "ring"}),
      disc = s("circle", {cx: x(T), r: 4, class: "dot"})
    svg.append(ring, disc)
    return {ring, disc}
  })
  return {
    el: svg,
    point(i, first, second, known, chosen) {
      const {ring, disc} = points[i]
      set(ring, {cy: y(first), class: `ring${known ? "" : " pale"}${chosen ? " me" : ""}`})
      set(disc, {cy: y(second), class: `dot${known ? "" : " pale"}${chosen ? " me" : ""}`})
      if (!chosen) return
      set(gap, {d: `M${x(facts.T[i])} ${y(first)}V${y(second)}`})
      svg.append(ring, disc)
    },
  }
}
