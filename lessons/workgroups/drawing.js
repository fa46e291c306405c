// A workgroup: its threads in their seats, wave by wave, the shared memory between them, and what they did in the device's order.
//
// facts: size [across, down], wave (lanes), away, threads [of each event], kinds ["", write, read or arrive], stale [threads]
// options: memory
import {h} from "#web/shell/dom.js"
import {onArrows} from "#web/drawing/arrows.js"
import {redrawn} from "#web/drawing/redrawn.js"
import {lane, s, set} from "#web/drawing/svg.js"

const ROW = 4

export const draw = (host) => redrawn(host, (facts) => facts.kinds, build)

function build({root, facts, options, step}, look) {
  const {
      size: [across, down],
      wave,
      away,
      threads,
      kinds,
      stale,
    } = facts,
    count = across * down,
    width = root.clientWidth
  const walls = look.recording.length ? kinds.reduce((sum, kind, e) => sum + (kind === "arrive" && threads[e] === 0), 0) : 0
  let latest = look

  const cell = Math.min(58, (width - 8) / across),
    left = (width - cell * across) / 2,
    seat = 25,
    box = 22
  const x = (i) => left + ((i % across) + 0.5) * cell,
    row = (i) => Math.floor(i / across)
  const top = 20,
    seats = (i) => top + (row(i) + 0.5) * seat,
    wallAt = top + down * seat + 20,
    cells = wallAt + 34,
    cellAt = (i) => cells + row(i) * (box + 4)
  const room = s("svg", {
    viewBox: `0 0 ${width} ${cells + down * (box + 4) + 8}`,
    width,
    height: cells + down * (box + 4) + 8,
    class: "st",
    role: "slider",
    tabindex: 0,
    "aria-label": "Thread, chosen with the arrow keys",
    "aria-valuemin": 0,
    "aria-valuemax": count - 1,
  })
  const labelled = s("text", {x: left, y: cells - 8, class: "st-label"}, "shared memory")
  room.append(s("text", {x: left, y: 12}, `${count} threads, waves of ${wave}`))
  // a frame around each wave that is whole rows of seats; where it is not, none
  for (let first = 0; wave % across === 0 && first < count; first += wave) {
    room.append(
      s("rect", {
        class: "st-wave",
        x: left + 1,
        y: top + row(first) * seat + 2,
        width: across * cell - 2,
        height: (wave / across) * seat - 4,
        rx: 8,
      }),
    )
  }
  const ways = s("path", {class: "st-way write"}),
    reads = s("path", {class: "st-way read"})
  room.append(ways, reads)
  const discs = Array.from({length: count}, (_, i) => lane(x(i), seats(i), 7))
  const wall = s("path", {class: "st-wall", d: `M${left} ${wallAt}H${left + across * cell}`}),
    said = s("text", {class: "now", x: left + across * cell, y: wallAt - 6, "text-anchor": "end"})
  const memory = Array.from({length: count}, (_, i) => {
    const frame = s("rect", {x: x(i) - cell / 2 + 2, y: cellAt(i), width: cell - 4, height: box, rx: 3}),
      value = s("text", {class: "m", x: x(i), y: cellAt(i) + 15, "text-anchor": "middle"})
    const cut = s("path", {class: "st-cut", d: `M${x(i) + cell / 2 - 2} ${cellAt(i)}h-9l9 9z`})
    room.append(frame, value, cut)
    return {frame, value, cut}
  })
  room.append(...discs.map((disc) => disc.el), wall, said, labelled)

  // the order: an event a column, a thread a row
  let begin = 0,
    wide = 1
  const tall = count * ROW
  const order = s("svg", {
    viewBox: `0 0 ${width} ${tall + 22}`,
    width,
    height: tall + 22,
    class: "st st-order",
    role: "img",
    "aria-label": "What each thread did, in the order in which it happened",
  })
  const bands = Array.from({length: Math.ceil(count / wave)}, (_, i) =>
    s("rect", {class: i % 2 ? "st-band odd" : "st-band", x: 0, y: 16 + i * wave * ROW, width, height: Math.min(wave, count) * ROW}),
  )
  const name = s("text", {x: 0, y: 11})
  const ticks = kinds.map(
    (kind, e) =>
      kind &&
      s("rect", {
        class: `st-tick ${kind}`,
        y: 16 + threads[e] * ROW + (kind === "arrive" ? 0 : 0.5),
        height: ROW - (kind === "arrive" ? 0 : 1),
      }),
  )
  const mine = s("rect", {class: "st-mine", x: 0, width, height: ROW}),
    cursor = s("path", {class: "st-cursor"})
  // what the ticks mean, at the right end
  const legend = [
    ["read", "reads"],
    ["arrive", "barrier"],
    ["write", "writes"],
  ].map(([kind, word], i) =>
    s(
      "g",
      {transform: `translate(${width - 58 - i * 66} 0)`},
      s("rect", {class: `st-tick ${kind}`, x: 0, y: 3, width: 8, height: 8}),
      s("text", {x: 13, y: 11}, word),
    ),
  )
  order.append(...bands, ...legend, mine, ...ticks.filter(Boolean), cursor, name)

  const choose = (thread) => latest.moment.choose(Math.max(0, Math.min(count - 1, thread)))
  room.onclick = (event) => {
    const frame = room.getBoundingClientRect(),
      c = Math.floor((event.clientX - frame.left - left) / cell),
      at = event.clientY - frame.top
    const r = at < wallAt ? Math.floor((at - top) / seat) : Math.floor((at - cells) / (box + 4))
    if (c >= 0 && c < across && r >= 0 && r < down) choose(r * across + c)
  }
  onArrows(room, {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across}, (way) => choose(latest.thread + way))
  order.onclick = (event) => {
    const frame = order.getBoundingClientRect(),
      at = Math.floor((event.clientX - frame.left) / wide) + begin
    step(latest.moment.eventAt(Math.max(0, Math.min(kinds.length - 1, at))) + 1)
  }
  const words = h("p", {class: "reading num"}),
    el = h("div", {}, room, order, words)
  let lockstep = null

  const paint = (now) => {
    latest = now
    const {moment} = now,
      me = now.thread,
      from = (me + away) % count,
      held = now.memory(options.memory)
    if (lockstep !== moment.lockstep) {
      lockstep = moment.lockstep
      name.textContent = lockstep ? "in lockstep" : "in the order of the device"
      const places = kinds.map((kind, e) => (kind ? moment.after(e) - 1 : Infinity))
      begin = Math.max(0, Math.min(...places) - 4) // what comes before has nothing to do with the others
      wide = width / (kinds.length - begin)
      ticks.forEach((tick, e) => {
        if (tick) set(tick, {x: (places[e] - begin) * wide, width: Math.max(1.8, wide)})
      })
    }
    const waiting = Array.from({length: count}, (_, i) => now.status(i))
    discs.forEach((disc, i) => disc.show(waiting[i], i === me))
    const here = Array(count).fill(0)
    kinds.forEach((kind, e) => {
      if (kind === "arrive" && moment.after(e) <= moment.position) here[threads[e]]++
    })
    const open = Math.min(...here),
      come = here.filter((many) => many > open).length,
      number = Math.min(walls, open + 1)
    said.textContent =
      open >= walls ? "all barriers are behind them" : `barrier ${number} of ${walls}: ${come} of ${count} have come`
    wall.setAttribute("class", `st-wall${come ? " on" : ""}`)
    // who reads now, and has read too early
    const kind = now.step > 0 ? kinds[now.step - 1] : ""
    memory.forEach(({frame, value, cut}, i) => {
      const written = held?.written(i),
        reader = (i - away + count) % count
      const wrong =
        stale.includes(reader) &&
        kinds.some((one, e) => one === "read" && threads[e] === reader && moment.after(e) <= moment.position)
      value.textContent = written ? String(held.number(i)) : ""
      frame.setAttribute(
        "class",
        `st-cell${written && held.number(i) ? " wr" : ""}${i === from ? " from" : ""}${i === me ? " own" : ""}${kind === "read" && i === from ? " rd" : ""}`,
      )
      cut.setAttribute("visibility", wrong ? "visible" : "hidden")
    })
    set(ways, {d: `M${x(me)} ${seats(me) + 8}L${x(me)} ${cellAt(me)}`})
    set(reads, {d: `M${x(me)} ${seats(me) + 8}L${x(from)} ${cellAt(from)}`})
    set(mine, {y: 16 + me * ROW})
    set(cursor, {d: `M${Math.max(0, moment.position - begin) * wide} 14V${tall + 18}`})
    set(room, {"aria-valuenow": me, "aria-valuetext": `thread ${me}`})
    words.textContent = says(waiting, kind, now)
  }

  function says(waiting, kind, now) {
    const many = (status) => waiting.filter((one) => one === status).length
    const did = {write: "writes", read: "reads", arrive: "comes to the barrier"}[kind]
    const first = did ? `Thread ${now.recording.thread[now.moment.event]} ${did}. ` : ""
    const early = stale.length ? ` ${stale.length} threads read too early in this run.` : ""
    return `${first}${many("run")} threads run, ${many("wait") + many("held")} wait, ${many("done")} are done.${early}`
  }
  return {el, paint, width}
}
