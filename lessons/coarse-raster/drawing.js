// Gaussians over a picture cut into tiles, and the tile that gathers those whose box touches it: the picture with the box under test
// and what separates it, the shadows of both boxes on the four directions, who tests what, and the list.
//
// facts: tiles [across, down], size [of a tile], room, counted (the step of the first count), tests [{gaussian, thread, turn, begin,
// end, asked [steps], place}], shapes [{center, axis, half, strongest, distance[4], box[4], tile[4]}]
import {show} from "#web/drawing/look.js"
import {redrawn} from "#web/drawing/redrawn.js"
import {lane, s, set} from "#web/drawing/svg.js"

const SIDES = ["its short side", "its long side", "the tile's width", "the tile's height"]
const REACH = 4,
  SHOWN = 2 // standard deviations: to the sides of a box, to the ellipse that is drawn

export const draw = (host) => redrawn(host, (facts) => facts.tests, build)

function build({root, facts, values, set: put}) {
  const {
    tiles: [across, down],
    size: [wide, high],
    room,
    tests,
    shapes,
  } = facts
  const width = root.clientWidth,
    narrow = width < 520,
    k = width / (across * wide),
    tall = k * down * high
  const svg = s("svg", {
    viewBox: `0 0 ${width} ${tall}`,
    width,
    height: tall,
    class: "co",
    role: "img",
    "aria-label": `${shapes.length} Gaussians over ${across * down} tiles; tile ${values.tile} gathers`,
  })
  const xy = ([x, y]) => [(x + 0.5) * k, (y + 0.5) * k]
  for (let t = 0; t < across * down; t++) {
    const x = (t % across) * wide * k,
      y = Math.floor(t / across) * high * k
    svg.append(
      s(
        "rect",
        {x, y, width: wide * k, height: high * k, class: "co-tile", onclick: () => put("tile", t)},
        s("title", {}, `Tile ${t}`),
      ),
    )
  }
  const tx = (values.tile % across) * wide * k,
    ty = Math.floor(values.tile / across) * high * k,
    middle = [tx + (wide * k) / 2, ty + (high * k) / 2]
  const ellipses = shapes.map((shape, i) => {
    const el = oval(shape, SHOWN / REACH)
    svg.append(el)
    return {el, test: tests[i]}
  })
  svg.append(s("rect", {x: tx, y: ty, width: wide * k, height: high * k, class: "co-own"}))
  const under = s("g", {class: "co-test"})
  svg.append(under)

  function oval({center, axis, half}, share) {
    const [x, y] = xy(center),
      angle = (Math.atan2(axis[1], axis[0]) * 180) / Math.PI
    return s("ellipse", {cx: x, cy: y, rx: half[0] * k * share, ry: half[1] * k * share, transform: `rotate(${angle} ${x} ${y})`})
  }

  // the four directions in the order in which they are asked
  const left = narrow ? 112 : 132,
    right = narrow ? 76 : 108,
    row = 20,
    span = width - left - right - 12
  const shade = s("svg", {
    viewBox: `0 0 ${width} ${4 * row + 6}`,
    width,
    height: 4 * row + 6,
    class: "co",
    role: "img",
    "aria-label": "The shadows of the two boxes on four directions",
  })
  const rows = SIDES.map((name, i) => {
    const y = 6 + i * row + row / 2,
      line = s("path", {class: "co-line", d: `M${left} ${y}H${width - right}`})
    const tile = s("rect", {class: "co-shadow tile", y: y - 5, height: 4, rx: 1}),
      box = s("rect", {class: "co-shadow box", y: y + 1, height: 4, rx: 1})
    const gap = s("path", {class: "co-gap"}),
      label = s("text", {x: left - 10, y: y + 4, "text-anchor": "end"}, name),
      words = s("text", {x: width - right + 10, y: y + 4, class: "num"})
    shade.append(line, tile, box, gap, label, words)
    return {y, tile, box, gap, label, words}
  })

  // who tests what: a column a thread, a row a turn
  const turns = Math.max(...tests.map((test) => test.turn)) + 1,
    first = narrow ? 0 : 92,
    step = (width - first - 8) / 32,
    cell = Math.min(14, step - 2)
  const work = s("svg", {
    viewBox: `0 0 ${width} ${26 + turns * (cell + 4)}`,
    width,
    height: 26 + turns * (cell + 4),
    class: "co",
    role: "img",
    "aria-label": `32 threads, ${turns} turns`,
  })
  const column = (thread) => first + step * (thread + 0.5),
    line = (turn) => 26 + turn * (cell + 4)
  const lanes = Array.from({length: 32}, (_, thread) => {
    const disc = lane(column(thread), 12, Math.min(4.5, step * 0.36))
    work.append(disc.el)
    return disc
  })
  if (!narrow)
    for (let turn = 0; turn < turns; turn++)
      work.append(s("text", {x: 0, y: line(turn) + cell - 3}, `${32 * turn} to ${Math.min(tests.length, 32 * turn + 32) - 1}`))
  if (!narrow) work.append(s("text", {x: 0, y: 16}, "threads"))
  const seats = tests.map(({thread, turn, gaussian}) => {
    const el = s(
      "rect",
      {x: column(thread) - cell / 2, y: line(turn), width: cell, height: cell, rx: 2},
      s("title", {}, `Gaussian ${gaussian}`),
    )
    work.append(el)
    return el
  })

  const head = document.createElement("p"),
    list = document.createElement("div")
  head.className = "co-head num"
  list.className = "co-list"
  const cells = Array.from({length: room}, () =>
    list.appendChild(Object.assign(document.createElement("span"), {className: "cell"})),
  )
  const el = document.createElement("div"),
    words = document.createElement("p")
  words.className = "reading num"
  el.append(svg, words, shade, work, head, list)

  const paint = (look) => {
    const over = look.step >= facts.counted
    const mine = over ? null : (tests.filter((test) => test.thread === look.thread && test.begin <= look.step).at(-1) ?? null)
    const state = (test) => (look.step < test.end ? "" : test.place < 0 ? "no" : test.place < room ? "yes" : "lost")
    for (const {el: ellipse, test} of ellipses) ellipse.setAttribute("class", `co-g ${state(test)}${test === mine ? " me" : ""}`)
    seats.forEach((seat, i) => seat.setAttribute("class", `co-seat ${state(tests[i])}${tests[i] === mine ? " me" : ""}`))
    lanes.forEach((disc, thread) => disc.show(look.status(thread), thread === look.thread))
    under.replaceChildren(...(mine ? marks(mine, look.step) : []))
    paintShadows(mine, look.step)
    words.textContent = mine
      ? said(mine, look.step)
      : over
        ? `${tests.filter((test) => test.place >= 0).length} boxes touch the tile.`
        : "→ begins the tests."
    const found = look.memory("blobCountAT")?.number(0),
      kept = look.memory("blobCount")?.number(0),
      blobs = look.memory("blobs")
    head.innerHTML = `<code>blobCountAT</code> <b>${found ?? "·"}</b> <code>blobCount</code> <b>${kept ?? "·"}</b> <span>blobs[${room}]</span>${found > room ? ` <b class="co-full">◆ ${found - room} without a place</b>` : ""}`
    cells.forEach((one, i) => {
      const id = blobs?.number(i),
        touched = blobs?.touched(i) || (mine && look.step === mine.end && mine.place === i ? "wr" : "")
      one.textContent = id ?? ""
      one.className = `cell ${touched ?? ""}`
    })
  }

  const sides = ({axis: [x, y]}) => [
    [x, y],
    [-y, x],
    [1, 0],
    [0, 1],
  ]

  function marks(test, step) {
    const shape = shapes[test.gaussian],
      [x, y] = xy(shape.center),
      angle = (Math.atan2(shape.axis[1], shape.axis[0]) * 180) / Math.PI
    const box = s("rect", {
      class: "co-box",
      x: x - shape.half[0] * k,
      y: y - shape.half[1] * k,
      width: 2 * shape.half[0] * k,
      height: 2 * shape.half[1] * k,
      transform: `rotate(${angle} ${x} ${y})`,
    })
    const far = oval(shape, 1)
    far.setAttribute("class", "co-far")
    if (test.place >= 0 || step < test.end) return [box, far]
    // a line through the middle of the gap, across the direction that was asked last
    const i = test.asked.length - 1,
      [ux, uy] = sides(shape)[i],
      d = shape.distance[i],
      sign = Math.sign(d)
    const at = sign * (shape.tile[i] + (Math.abs(d) - shape.tile[i] - shape.box[i]) / 2) * k,
      far_ = width * 2
    const [cx, cy] = [middle[0] + ux * at, middle[1] + uy * at]
    return [box, far, s("path", {class: "co-apart", d: `M${cx - uy * far_} ${cy + ux * far_}L${cx + uy * far_} ${cy - ux * far_}`})]
  }

  function paintShadows(test, step) {
    const shape = test && shapes[test.gaussian]
    const most = shape ? Math.max(...shape.distance.map((d, i) => Math.max(Math.abs(d) + shape.box[i], shape.tile[i]))) : 1
    const x = (v) => left + ((v / most + 1) / 2) * span
    rows.forEach(({tile, box, gap, label, words}, i) => {
      const asked = test && step >= test.asked[i]
      label.setAttribute("class", asked ? "now" : "")
      for (const part of [tile, box, gap]) part.setAttribute("visibility", shape ? "visible" : "hidden")
      if (!shape) {
        words.textContent = ""
        return
      }
      const d = shape.distance[i],
        room_ = Math.abs(d) - shape.tile[i] - shape.box[i],
        sign = Math.sign(d) || 1
      set(tile, {x: x(-shape.tile[i]), width: x(shape.tile[i]) - x(-shape.tile[i]), class: `co-shadow tile${asked ? "" : " off"}`})
      set(box, {
        x: x(d - shape.box[i]),
        width: x(d + shape.box[i]) - x(d - shape.box[i]),
        class: `co-shadow box${asked ? "" : " off"}`,
      })
      set(gap, {d: room_ > 0 && asked ? `M${x(sign * shape.tile[i])} ${rows[i].y}H${x(sign * (shape.tile[i] + room_))}` : ""})
      words.textContent = !asked ? "not asked" : room_ > 0 ? `gap ${show(room_, 3)}` : `overlap ${show(-room_, 3)}`
    })
  }

  const said = (test, step) => {
    const who = `Thread ${test.thread}, Gaussian ${test.gaussian}: `,
      light = shapes[test.gaussian].strongest
    const so = test.asked.filter((at) => step >= at).length
    if (step < test.end) return `${who}${so} of 4 directions asked.`
    if (test.place < 0) return `${who}apart, found with ${so} of 4 directions.`
    const place = test.place < room ? `place ${test.place}` : `place ${test.place}, which the list does not have`
    return `${who}touches, draws ${place}. ${light < 1 / 255 ? `Only its box does: no pixel of the tile gets an alpha of 1/255.` : `Its largest alpha in the tile is ${show(light, 2)}.`}`
  }
  return {el, paint, width}
}
