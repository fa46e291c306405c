// A sum by folding: what shared memory holds after each round, a row a round, each row half as long as the one above it.
//
// facts: count, gradients, limit, rounds [{stride, begin, end, stale: [threads]}], rows [[places] before the first round and after each]
// options: memory
import {h} from "#web/shell/dom.js"
import {text} from "#web/stepper/model/values.js"
import {onArrows} from "#web/drawing/arrows.js"
import {redrawn} from "#web/drawing/redrawn.js"
import {lane, s, set} from "#web/drawing/svg.js"

const WORDS = 17,
  GAP = 20
const short = (value) => text(Math.abs(value) >= 100 ? Math.round(value) : Number(value.toFixed(1)), "float", 4)

export const draw = (host) => redrawn(host, (facts) => facts.rows, build)

function build({root, facts, options}, look) {
  const {count, gradients, limit, rounds, rows} = facts,
    width = root.clientWidth
  const left = 4,
    cell = (width - 2 * left) / count,
    tall = count > 32 ? 16 : 24,
    pad = cell > 8 ? 1.5 : 0,
    worded = cell >= 30
  const most = Math.max(...rows.flat().map(Math.abs), 1e-9),
    x = (i) => left + i * cell
  const lanes = count <= 64 ? 18 : 0,
    first = lanes + WORDS,
    pitch = tall + WORDS + GAP,
    y = (row) => first + row * pitch
  const height = y(rounds.length) + tall + 6
  let latest = look

  const svg = s("svg", {
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    class: "folds",
    role: "slider",
    tabindex: 0,
    "aria-label": "Thread, chosen with the arrow keys left and right",
    "aria-valuemin": 0,
    "aria-valuemax": count - 1,
  })
  const discs = lanes ? Array.from({length: count}, (_, i) => lane(x(i) + cell / 2, 9, Math.min(5, cell * 0.34))) : []
  svg.append(...discs.map((disc) => disc.el))
  const lines = rows.map((_, row) => {
    const words = s("text", {x: row ? width - left : left, y: y(row) - 5, "text-anchor": row ? "end" : "start"}),
      live = row ? rounds[row - 1].stride : count
    svg.append(words)
    // from the row above: what lies in its upper half comes down onto the lower half
    const fold = row
      ? s("path", {class: "folds-fold", d: `M${x(live)} ${y(row - 1) + tall + 2}H${x(2 * live)}L${x(live)} ${y(row) - 2}H${x(0)}Z`})
      : null
    const way = row ? s("path", {class: "folds-way"}) : null
    if (fold) svg.prepend(fold)
    const places = Array.from({length: count}, (_, i) => {
      const box = s("rect", {
        x: x(i) + pad / 2,
        y: y(row),
        width: Math.max(1, cell - pad),
        height: tall,
        rx: pad ? 2 : 0,
        "stroke-width": pad ? 1 : 0,
      })
      const value = worded ? s("text", {class: "m", x: x(i) + cell / 2, y: y(row) + tall / 2 + 4, "text-anchor": "middle"}) : null
      const cut =
        row && rounds[row - 1].stale.includes(i)
          ? s("path", {
              class: "folds-cut",
              d: `M${x(i + 1) - pad / 2} ${y(row)}h${-Math.min(8, cell)}l${Math.min(8, cell)} ${Math.min(8, cell)}z`,
            })
          : null
      svg.append(box, ...[value, cut].filter(Boolean))
      return {box, value, cut}
    })
    if (way) svg.append(way)
    return {words, fold, way, places, live}
  })
  const mark = s("path", {class: "folds-mine"})
  svg.append(mark)

  const choose = (thread) => latest.moment.choose(Math.max(0, Math.min(count - 1, thread)))
  svg.onclick = (event) => {
    const box = svg.getBoundingClientRect()
    choose(Math.floor((event.clientX - box.left - left) / cell))
  }
  onArrows(svg, {ArrowLeft: -1, ArrowRight: 1}, (way) => choose(latest.thread + way))
  const words = h("p", {class: "reading num"}),
    el = h("div", {}, svg, words)

  const paint = (now) => {
    latest = now
    const {moment} = now,
      over = (step) => moment.after(step - 1) <= moment.position
    const memory = now.memory(options.memory),
      me = now.thread
    const filled = over(rounds[0].begin),
      done = filled ? rounds.filter((one) => over(one.end)).length : -1
    lines.forEach(({words, fold, way, places, live}, row) => {
      const current = row === done + 1,
        past = row <= done
      words.setAttribute("class", row === done ? "now" : "")
      words.textContent = row ? `stride ${live}: ${live} of ${count} threads add` : "the gradients"
      fold?.setAttribute("class", `folds-fold${past || current ? " lit" : ""}`)
      if (way)
        set(way, {
          class: `folds-way${me < live && (past || current) ? " on" : ""}`,
          d: `M${x(me) + cell / 2} ${y(row - 1) + tall}V${y(row)}M${x(me + live) + cell / 2} ${y(row - 1) + tall}L${x(me) + cell / 2} ${y(row)}`,
        })
      places.forEach(({box, value, cut}, i) => {
        const fresh =
          current && memory?.written(i) && (!row || moment.after(memory.written(i) - 1) > moment.after(rounds[row - 1].begin - 1))
        const number = past ? rows[row][i] : fresh ? memory.number(i) : null
        const clamped = row === 0 && Math.abs(gradients[i]) > limit
        const share = number === null ? 0 : Math.sqrt(Math.min(1, Math.abs(number) / most))
        box.setAttribute(
          "class",
          `folds-cell${number === null ? "" : number < 0 ? " minus" : " plus"}${i >= live && row ? " gone" : ""}${clamped ? " clamped" : ""}${i === me ? " me" : ""}`,
        )
        box.style.setProperty("--share", `${Math.round(100 * share)}%`)
        if (value) {
          value.textContent = number === null || (i >= live && row) ? "" : short(number)
          value.setAttribute("class", `m${share > 0.5 ? " strong" : ""}`)
        }
        cut?.setAttribute("visibility", past ? "visible" : "hidden")
      })
    })
    discs.forEach((disc, i) => disc.show(now.status(i), i === me))
    set(mark, {d: `M${x(me)} ${y(0) - 2}H${x(me + 1)}`})
    set(svg, {"aria-valuenow": me, "aria-valuetext": `thread ${me}`})
    words.textContent = said(done)
  }

  function said(done) {
    if (done < 0) return "→ puts the gradients into shared memory."
    const clamped = gradients.filter((value) => Math.abs(value) > limit).length
    if (done === 0) return `${count} gradients, ${clamped} of them clamped to ±${limit}. Thread 0 holds ${short(rows[0][0])}.`
    const {stride} = rounds[done - 1],
      places = Array.from({length: count / stride}, (_, i) => i * stride)
    const sum = places.length > 8 ? `${places.length} places` : `places ${places.slice(0, -1).join(", ")} and ${places.at(-1)}`
    const stale = rounds.slice(0, done).reduce((total, one) => total + one.stale.length, 0)
    const late = stale ? ` ${stale} ${stale > 1 ? "places were" : "place was"} read too early.` : ""
    const holds = stale ? `It should be the sum of ${sum}` : `the sum of ${sum}`
    return `After round ${done}: ${stride} of ${count} threads added, ${count - stride} waited. Thread 0 holds ${text(rows[done][0], "float", 5)}${stale ? ". " : ", "}${holds}.${late}`
  }
  return {el, paint, width}
}
