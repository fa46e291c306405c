// A tile that blends its list: the transmittance of the chosen pixel as a staircase, a stair a Gaussian, and all pixels of the tile as
// small multiples, each with its colour so far and its own staircase.
//
// facts: size [across, down] of the tile, count, states [thread][0 … count][r, g, b, T], layers [thread][turn][r, g, b, α],
// counts [thread][0 … count], ends [thread][0 … count]: the steps with which these stood
// options: variable (which is set when a turn is over)
import {h} from "#web/shell/dom.js"
import {show} from "#web/drawing/look.js"
import {onArrows} from "#web/drawing/arrows.js"
import {redrawn} from "#web/drawing/redrawn.js"
import {s, set} from "#web/drawing/svg.js"

const OPAQUE = 1 / 255
const rgb = (c) => `rgb(${c.map((x) => Math.round(255 * Math.min(1, Math.max(0, x)))).join(" ")})`
const onWhite = ([r, g, b, t]) => rgb([r + t, g + t, b + t])

export const draw = (host) => redrawn(host, (facts) => facts.states, build)

function build({root, facts, options}, look) {
  const {
      size: [across, down],
      count,
      states,
      layers,
      counts,
      ends,
    } = facts,
    width = root.clientWidth
  const variable = look.recording.variables.findIndex((one) => one.name === options.variable)
  let latest = look

  // the chosen pixel
  const left = 34,
    room = width - left - 92,
    step = room / count,
    tall = 132,
    top = 24,
    y = (t) => top + (1 - t) * tall
  const stairs = s("svg", {
    viewBox: `0 0 ${width} ${top + tall + 26}`,
    width,
    height: top + tall + 26,
    class: "fi",
    role: "img",
    "aria-label": `Transmittance of the chosen pixel through ${count} Gaussians`,
  })
  stairs.append(
    s("path", {class: "fi-axis", d: `M${left} ${y(1)}H${left + room}M${left} ${y(0)}H${left + room}`}),
    s("text", {x: left - 8, y: y(1) + 4, "text-anchor": "end"}, "1"),
    s("text", {x: left - 8, y: y(0) + 4, "text-anchor": "end"}, "0"),
    s("text", {x: left - 8, y: y(0.5) + 4, "text-anchor": "end", class: "m"}, "T"),
  )
  const every = Math.ceil(18 / step),
    columns = Array.from({length: count}, (_, i) => {
      const x = left + i * step,
        gap = Math.min(4, step * 0.15)
      const before = s("rect", {class: "fi-light", x: x + gap / 2, width: step - gap}),
        taken = s("rect", {class: "fi-taken", x: x + gap / 2, width: step - gap, rx: 1})
      const name = s("text", {x: x + step / 2, y: y(0) + 18, "text-anchor": "middle", class: "m"}, i % every ? "" : String(i)),
        skip = s("text", {x: x + step / 2, y: y(0) - 6, "text-anchor": "middle", class: "fi-skip"}, "✕")
      stairs.append(before, taken, skip, name)
      return {before, taken, name, skip, label: i}
    })
  const level = s("path", {class: "fi-level"}),
    swatch = s("rect", {class: "fi-swatch", x: width - 76, y: top, width: 76, height: 76, rx: 3}),
    tee = s("text", {x: width - 76, y: top + 96, class: "now num"}),
    gone = s("text", {x: width - 76, y: top + 114, class: "num"}),
    blended = s("text", {x: width - 76, y: top + 132, class: "num"})
  stairs.append(level, swatch, tee, gone, blended)

  // all of them
  const gap = 6,
    wide = (width - gap * (across - 1)) / across,
    high = Math.max(46, Math.min(66, wide * 0.86)),
    paper = high * 0.5,
    small = high - paper - 3
  const tile = s("svg", {
    viewBox: `0 0 ${width} ${down * (high + gap)}`,
    width,
    height: down * (high + gap),
    class: "fi fi-tile",
    role: "slider",
    tabindex: "0",
    "aria-label": "Pixel of the tile, moved with the arrow keys",
    "aria-valuemin": "0",
    "aria-valuemax": String(across * down - 1),
  })
  const pixels = states.map((history, thread) => {
    const x = (thread % across) * (wide + gap),
      y0 = Math.floor(thread / across) * (high + gap),
      ty = (t) => y0 + paper + 2 + (1 - t) * small
    const stair = history
      .slice(1)
      .map((state, i) => `H${x + (wide * (i + 1)) / count}V${ty(state[3])}`)
      .join("")
    const colour = s("rect", {class: "fi-swatch", x, y: y0, width: wide, height: paper, rx: 2})
    const past = s("path", {class: "fi-past"}),
      line = s("path", {class: "fi-line", d: `M${x} ${ty(history[0][3])}${stair}`}),
      off = s("rect", {class: "fi-off", y: y0 + paper + 2, height: small})
    const frame = s("rect", {class: "fi-frame", x: x - 1.5, y: y0 - 1.5, width: wide + 3, height: high + 2, rx: 3})
    const words = s("text", {x: x + wide - 3, y: y0 + paper + 12, "text-anchor": "end", class: "fi-count m"})
    tile.append(colour, past, off, line, words, frame)
    return {x, ty, history, colour, past, off, frame, words}
  })
  const choose = (thread) => {
    if (latest.thread === thread && latest.moment.pinned === thread) return
    latest.moment.choose(thread)
  }
  tile.onclick = (event) => {
    const box = tile.getBoundingClientRect(),
      c = Math.floor((event.clientX - box.left) / (wide + gap)),
      r = Math.floor((event.clientY - box.top) / (high + gap))
    choose(Math.min(down - 1, Math.max(0, r)) * across + Math.min(across - 1, Math.max(0, c)))
  }
  onArrows(tile, {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across}, (way) => {
    const next = latest.thread + way
    if (next >= 0 && next < across * down) choose(next)
  })
  const words = h("p", {class: "reading num"}),
    el = h("div", {}, stairs, words, tile)

  // how many turns of the loop a thread has made, -1 before it began
  const turns = (thread) => ends[thread].indexOf(latest.state.set(thread, variable))

  const paint = (now) => {
    latest = now
    const me = now.thread,
      n = turns(me),
      state = states[me][Math.max(0, n)]
    columns.forEach(({before, taken, name, skip}, i) => {
      const [from, to] = [states[me][i][3], states[me][i + 1][3]],
        skipped = counts[me][i + 1] === counts[me][i],
        done = i < n
      set(before, {y: y(from), height: Math.max(0, from * tall), class: `fi-light${done ? " done" : ""}`})
      set(taken, {y: y(from), height: Math.max(0, (from - to) * tall), class: `fi-taken${done ? " done" : ""}`})
      taken.style.fill = done ? rgb(layers[me][i].slice(0, 3)) : ""
      skip.setAttribute("visibility", skipped && done ? "visible" : "hidden")
      name.setAttribute("class", i === n - 1 ? "m mine" : "m")
    })
    set(level, {d: `M${left} ${y(state[3])}H${left + room}`})
    swatch.style.fill = onWhite(state)
    tee.textContent = `T ${show(state[3], 3)}`
    gone.textContent = `1 − T ${show(1 - state[3], 3)}`
    blended.textContent = `${counts[me][Math.max(0, n)]} blended`
    const written = now.memory("maxCount"),
      values = now.memory("finalVal")
    words.textContent = said(me, n, written?.number(me), values)
    pixels.forEach((pixel, thread) => {
      const k = turns(thread),
        own = states[thread][Math.max(0, k)],
        {x, ty} = pixel
      pixel.colour.style.fill = onWhite(own)
      const path = pixel.history
        .slice(1, Math.max(0, k) + 1)
        .map((one, i) => `H${x + (wide * (i + 1)) / count}V${ty(one[3])}`)
        .join("")
      set(pixel.past, {d: `M${x} ${ty(0)}V${ty(1)}${path}V${ty(0)}Z`})
      const first = counts[thread].at(-1),
        over = k > first // turns that it walked in vain
      set(pixel.off, {x: x + (wide * first) / count, width: over ? (wide * (k - first)) / count : 0})
      const final = written?.number(thread)
      pixel.words.textContent = final !== null && final !== undefined ? String(final) : ""
      pixel.frame.setAttribute("class", `fi-frame${thread === me ? " me" : ""}`)
    })
    set(tile, {"aria-valuenow": me, "aria-valuetext": `thread ${me}, column ${me % across}, row ${Math.floor(me / across)}`})
  }

  function said(me, n, final, values) {
    if (n < 0) return "→ begins the loop."
    if (final !== null && final !== undefined) {
      const value = [0, 1, 2, 3]
        .map((part) => values?.number(me, part))
        .map((v) => (v === null || v === undefined ? "·" : show(v, 3)))
      return `Written: maxCount[${me}] = ${final}, finalVal[${me}] = (${value.join(", ")}).`
    }
    const idle = states.filter((history, thread) => {
      const k = turns(thread)
      return k >= 0 && history[k][3] < OPAQUE
    }).length
    return `After ${n} of ${count} Gaussians: ${idle} of ${states.length} pixels are opaque${idle ? " and walk on" : ""}.`
  }
  return {el, paint, width}
}
