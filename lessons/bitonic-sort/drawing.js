// A sorting network: the keys as bars, which places meet pass by pass, the pass at hand lit. Longer lists: a strip of colours.
//
// facts: count, passes [{k, j, swapped: [lower places]}], after [[keys after each pass]], keys [at the start]
// options: memory (the array that is sorted)
import {lane, s, set} from "#web/drawing/svg.js"
import {PADDING, strip} from "#web/drawing/strip.js"

const ROW = 27,
  LEFT = 34,
  BAR = 100,
  TOP = 34

export function draw(host) {
  let drawn = null
  return {
    open() {
      const {count} = host.facts
      drawn = count === undefined ? null : count <= 16 ? wires(host) : strip(host)
      host.root.replaceChildren(...(drawn ? [drawn.el] : []))
    },
    paint(look) {
      drawn?.paint(look)
    },
    resized(look) {
      if (drawn) {
        this.open()
        drawn.paint(look)
      }
    },
  }
}

function wires({root, facts, options}) {
  const {count, passes, keys} = facts,
    most = Math.max(1, ...keys.filter((key) => key !== PADDING))
  const narrow = root.clientWidth < 520
  const bar = narrow ? 44 : BAR,
    first = LEFT + bar + 34,
    room = root.clientWidth - first - 12
  // one column of arrows for each pair that would cross another of its pass; what is left lies between the passes
  const arrows = passes.reduce((sum, {j}) => sum + Math.min(j, count / 2), 0)
  const gap = Math.max(6, Math.min(16, (room * 0.66) / arrows)),
    between = Math.max(4, (room - gap * arrows) / passes.length)
  const row = count <= 8 ? ROW * 1.35 : ROW,
    y = (i) => TOP + 14 + i * row
  let x = first
  const columns = passes.map(({k, j}) => {
    const lanes = Math.min(j, count / 2)
    const column = {k, j, x, width: lanes * gap + between, lanes}
    x += column.width
    return column
  })
  const width = x + 8,
    height = y(count - 1) + 44
  const svg = s("svg", {
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    class: "net",
    role: "img",
    "aria-label": `A sorting network of ${count} places and ${passes.length} passes`,
  })
  const band = s("rect", {class: "band", y: TOP - 22, height: height - TOP - 4, rx: 4})
  const wall = s("path", {class: "wallp"})
  svg.append(band, s("text", {x: first - 12, y: TOP - 8, "text-anchor": "end", class: "m"}, "j ="))
  const heads = columns.map((c) => s("text", {x: c.x + c.width / 2, y: TOP - 8, "text-anchor": "middle", class: "m"}, String(c.j)))
  svg.append(...heads)
  // below: which k
  const groups = [...new Set(passes.map((p) => p.k))].map((k) => {
    const own = columns.filter((c) => c.k === k),
      from = own[0].x + 4,
      to = own.at(-1).x + own.at(-1).width - 4
    const text = s(
      "text",
      {x: (from + to) / 2, y: height - 10, "text-anchor": "middle", class: "m"},
      to - from > 40 ? `k = ${k}` : String(k),
    )
    svg.append(s("path", {class: "wire", d: `M${from} ${height - 26}H${to}`}), text)
    return {k, text}
  })
  const rows = Array.from({length: count}, (_, i) => {
    const disc = lane(8, y(i)),
      key = s("rect", {class: "bar", x: LEFT + 10, y: y(i) - row * 0.26, height: row * 0.52, rx: 2}),
      value = s("text", {class: "m", y: y(i) + 4})
    svg.append(
      s("path", {class: "wire", d: `M${first - 6} ${y(i)}H${width - 4}`}),
      disc.el,
      s("text", {class: "m", x: LEFT, y: y(i) + 4, "text-anchor": "end"}, String(i)),
      key,
      value,
    )
    return {disc, key, value}
  })
  const pairs = columns.flatMap((column, pass) =>
    Array.from({length: count}, (_, i) => i)
      .filter((i) => (i ^ column.j) > i)
      .map((i) => {
        const l = i ^ column.j,
          up = (i & column.k) === 0
        const at = column.x + (column.width * ((i % column.j) + 0.5)) / column.lanes
        const [a, b] = up ? [y(i), y(l)] : [y(l), y(i)],
          tip = up ? -1 : 1
        const arrow = s(
          "g",
          {},
          s("path", {d: `M${at} ${a}V${b + tip * 4}`, fill: "none"}),
          s("circle", {cx: at, cy: a, r: 2}),
          s("path", {d: `M${at - 3.5} ${b + tip * 6}h7l-3.500 ${-tip * 6}z`, class: "tip"}),
        )
        svg.append(arrow)
        return {arrow, pass, i, l}
      }),
  )
  svg.append(wall)

  const paint = (look) => {
    const memory = look.memory(options.memory),
      at = Math.min(passes.length - 1, passOf(look)),
      begun = passOf(look) >= 0
    const i = look.value("i"),
      l = look.value("l"),
      here = i !== null && l !== null && look.moment.event >= 0 ? [i, l].sort((a, b) => a - b) : []
    rows.forEach(({disc, key, value}, place) => {
      if (place < look.threads) disc.show(look.status(place), place === look.thread)
      else disc.el.setAttribute("visibility", "hidden")
      const n = memory?.number(place),
        known = n !== null && n !== undefined,
        sentinel = n === PADDING
      const size = known ? (sentinel ? bar : Math.max(2, (n / most) * bar)) : 0,
        touched = memory?.touched(place)
      set(key, {
        width: size,
        class: `bar${here.includes(place) ? " pair" : ""}${touched === "wr" ? " wr" : ""}${sentinel ? " pad" : ""}`,
      })
      set(value, {x: LEFT + 14 + size, class: `m${here.includes(place) ? " now" : ""}`})
      value.textContent = known ? (sentinel ? "∞" : n) : ""
    })
    const column = columns[Math.max(0, at)]
    set(band, {x: column.x, width: column.width, visibility: begun ? "visible" : "hidden"})
    set(wall, {d: `M${column.x + column.width} ${TOP - 22}V${height - 26}`, visibility: begun ? "visible" : "hidden"})
    heads.forEach((head, p) => head.setAttribute("class", p === at && begun ? "m now" : "m"))
    groups.forEach(({k, text}) => text.setAttribute("class", k === column.k && begun ? "m now" : "m"))
    for (const pair of pairs) {
      const past = pair.pass < at || (pair.pass === at && look.step >= (passes[at].end ?? Infinity))
      const mine = pair.pass === at && begun && here[0] === pair.i && here[1] === pair.l
      const swapped = passes[pair.pass].swapped.includes(pair.i)
      pair.arrow.setAttribute(
        "class",
        mine ? "mine" : past ? `past${swapped ? "" : " no"}` : pair.pass === at && begun ? "lit" : "cmp",
      )
    }
  }
  // the pass that the run is in: the first that is not over
  const passOf = (look) =>
    look.step < passes[0].begin
      ? -1
      : passes.findIndex((p) => look.step <= p.end) < 0
        ? passes.length - 1
        : passes.findIndex((p) => look.step <= p.end)
  return {el: svg, paint}
}
