// What a thread's value went through, iteration by iteration: rows of curves over one axis, and the picture at the cursor.
//
// facts: names [of threads], ends [thread][iteration] the steps, size, target and frames [iteration] as bytes in base 64,
//   rows [{title, levels, log, curves [{label, mark: line, dashed or dots, values [thread][iteration]}]}]
// options: choice (what a thread is), unit (what an iteration is called)
import {h} from "#web/shell/dom.js"
import {show} from "#web/drawing/look.js"
import {s, set} from "#web/drawing/svg.js"

const LEFT = 52,
  HEAD = 22,
  GAP = 10,
  FOOT = 24

export function draw(host) {
  const {root} = host
  let look = null,
    parts = null,
    built = ""

  const build = () => {
    const {facts, options} = host
    const menu = h("select", {"aria-label": options.choice}, ...facts.names.map((name, i) => h("option", {value: i}, name)))
    menu.onchange = () => look.moment.choose(+menu.value)
    const plates = ["target", "now"].map((name) => plate(name, facts.size))
    plates[0].paint(facts.target)
    const words = h("p", {class: "num"}),
      body = h("div", {class: "trk-rows"})
    parts = {menu, now: plates[1], words, body, chart: null, thread: -1}
    root.replaceChildren(
      h(
        "div",
        {class: "trk"},
        h("div", {class: "trk-top"}, h("div", {}, h("label", {}, options.choice, menu), words), ...plates.map((one) => one.el)),
        body,
      ),
    )
  }

  const paint = () => {
    const {facts, options} = host,
      thread = Math.min(look.thread < 0 ? 0 : look.thread, facts.names.length - 1),
      ends = facts.ends[thread]
    if (parts.thread !== thread) {
      parts.thread = thread
      parts.menu.value = String(thread)
      parts.chart = chart(host, thread, Math.max(280, root.clientWidth - 32))
      parts.body.replaceChildren(parts.chart.el)
    }
    const done = ends.filter((step) => step <= look.step).length
    parts.chart.at(done)
    parts.now.paint(facts.frames[done])
    parts.words.textContent = done ? `${options.unit} ${done} of ${ends.length}` : `before the first ${options.unit}`
  }

  return {
    open(now) {
      look = now
      if (!host.facts.rows) return
      const like = host.facts.names.join()
      if (like === built)
        parts.thread = -1 // the menu stays, and with it the focus
      else build()
      built = like
      parts.thread = -1
    },
    changed() {},
    paint(now) {
      look = now
      if (parts) paint()
    },
    resized(now) {
      look = now
      if (parts) {
        parts.thread = -1
        paint()
      }
    },
  }
}

function plate(name, [width, height]) {
  const canvas = h("canvas", {
    width,
    height,
    class: "pixels",
    role: "img",
    "aria-label": name === "now" ? "The picture now" : "The picture to fit",
  })
  return {
    el: h("figure", {}, canvas, h("figcaption", {}, name)),
    paint(text) {
      const bytes = atob(text),
        image = canvas.getContext("2d").createImageData(width, height)
      for (let i = 0; i < width * height; i++)
        for (let c = 0; c < 4; c++) image.data[4 * i + c] = c < 3 ? bytes.charCodeAt(3 * i + c) : 255
      canvas.getContext("2d").putImageData(image, 0, 0)
    },
  }
}

function chart({facts, options, step}, thread, width) {
  const count = facts.ends[thread].length,
    right = 78,
    each = (width - LEFT - right) / count,
    x = (t) => LEFT + t * each
  const tall = 74,
    height = facts.rows.length * (HEAD + tall + GAP) + FOOT
  const svg = s("svg", {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    class: "trk-chart",
    role: "img",
    "aria-label": `${facts.names[thread]} over ${count} iterations: ${facts.rows.map((row) => row.title).join(", ")}`,
  })
  const band = s("rect", {class: "band", y: 0, height: height - FOOT, width: Math.max(3, each)}),
    over = s("rect", {class: "hit", x: LEFT, y: 0, width: width - LEFT - right, height: height - FOOT})
  svg.append(band)
  const rows = facts.rows.map((row, i) =>
    track(svg, row, thread, {top: i * (HEAD + tall + GAP) + HEAD, tall, x, end: width - right, count}),
  )
  for (let t = 12; t <= count; t += 12) svg.append(s("text", {x: x(t - 0.5), y: height - 8, "text-anchor": "middle"}, String(t)))
  svg.append(s("text", {x: width - right + 16, y: height - 8}, options.unit))
  over.onclick = (event) => {
    const t = Math.floor((event.clientX - over.getBoundingClientRect().left) / each)
    step(facts.ends[thread][Math.min(count - 1, Math.max(0, t))])
  }
  svg.append(over)
  return {
    el: svg,
    at(done) {
      set(band, {x: x(Math.max(0, done - 1)), visibility: done ? "visible" : "hidden"})
      for (const row of rows) row.at(done)
    },
  }
}

// One row: all of each curve pale, and up to the cursor in full.
function track(svg, row, thread, {top, tall, x, end, count}) {
  const curves = row.curves.map((curve) => ({
    ...curve,
    values: curve.values[thread].map((value) => (row.log ? (value > 0 ? Math.log10(value) : null) : value)),
  }))
  const all = [...curves.flatMap((curve) => curve.values), ...(row.levels ?? [])].filter((value) => value !== null)
  const low = Math.min(...all),
    high = Math.max(...all),
    span = high - low || Math.abs(high) || 1
  const y = (value) => top + tall - ((value - low + (high === low ? span / 2 : 0)) / span) * tall
  svg.append(s("text", {x: LEFT, y: top - 9, class: "title"}, row.title))
  const levels = row.levels ?? (row.log ? powers(low, high) : [low, high])
  levels.forEach((value) =>
    svg.append(
      s("path", {class: "grid", d: `M${LEFT} ${y(value)}H${end}`}),
      s("text", {x: LEFT - 8, y: y(value) + 4, "text-anchor": "end", class: "m"}, row.log ? power(value) : show(value, 3)),
    ),
  )
  const taken = []
  const drawn = curves.map((curve, i) => {
    const klass = `c${row.curves.length - 1 - i} ${curve.mark}`,
      pale = s("path", {class: `${klass} pale`, d: line(curve, count)}),
      full = s("path", {class: klass})
    const last = curve.values.at(-1)
    let at = Math.min(top + tall, Math.max(top + 4, y(last ?? low) + 4))
    for (const other of taken) if (Math.abs(other - at) < 14) at = other + (at < other ? -14 : 14)
    taken.push(at)
    svg.append(pale, full, s("text", {x: end + 6, y: at, class: `name c${row.curves.length - 1 - i}`}, curve.label))
    return {full, curve}
  })
  function line({values, mark}, upTo) {
    const known = values
      .slice(0, upTo)
      .map((value, t) => (value === null ? null : `${x(t + 0.5).toFixed(1)} ${y(value).toFixed(1)}`))
      .filter(Boolean)
    return known.length ? (mark === "dots" ? known.map((place) => `M${place}h0`).join("") : `M${known.join("L")}`) : "M0 0"
  }
  return {
    at(done) {
      for (const {full, curve} of drawn) set(full, {d: line(curve, done)})
    },
  }
}

const powers = (low, high) => {
  const whole = []
  for (let p = Math.ceil(low); p <= high; p++) whole.push(p)
  return whole.length > 3 ? [whole[0], whole[whole.length >> 1], whole.at(-1)] : whole
}
const power = (exponent) => `10${[...String(exponent)].map((sign) => (sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[+sign])).join("")}`
