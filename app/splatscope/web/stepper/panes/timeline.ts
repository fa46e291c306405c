// When: the whole run, with a row for each thread, a wall for each barrier, and findings pinned to their moments.
import {h} from "#web/runtime/dom.ts"
import {colour, onTheme} from "#web/theme/theme.ts"
import {KIND} from "#web/recording/kinds.ts"
import {severityIcon} from "./icons.ts"
import {severityOf} from "./findings.ts"
import type {Moment} from "#web/recording/moment.ts"
import type {Recording} from "#web/recording/recording.ts"
import type {Slice} from "#web/recording/slice.ts"
import type {Stepper} from "#web/stepper/stepper.ts"
import type {Finding} from "#web/types.ts"

const LABELS = 4
const STRIDES = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] // from one number written to the next
const DIGIT = 8.4 // px: the width of a digit
const PIN = 9 // px: half the width of a pin

type Paper = CanvasRenderingContext2D
/** Where a position is drawn. */
type Scale = (position: number) => number
/** Thread, from, to; thread, from, to; … */
type Spans = number[]

const INKS = [
  "--room-a",
  "--room-b",
  "--lane-active",
  "--cell-write",
  "--wall",
  "--lane-wait",
  "--sev-error",
  "--lane-chosen",
  "--surface",
  "--line",
] as const
type Inks = Record<(typeof INKS)[number], string>

export class Timeline {
  recording: Recording | undefined
  drawn: string | null = null // key of what the background shows
  chain: Slice | null = null
  pinned: [Finding, HTMLElement][] = []
  stepper: Stepper
  canvas: HTMLCanvasElement
  cursor: HTMLElement
  pins: HTMLDivElement
  epochs: HTMLDivElement
  labels: HTMLDivElement
  slider: HTMLDivElement
  foot: HTMLDivElement
  el: HTMLDivElement
  resized: ResizeObserver
  endTheme: () => void

  constructor(stepper: Stepper) {
    this.stepper = stepper
    this.canvas = h("canvas", {class: "tl"})
    this.cursor = h("i", {class: "cursor"})
    this.pins = h("div", {class: "pins"})
    this.epochs = h("div", {class: "elab", "aria-hidden": "true"})
    this.labels = h("div", {class: "lab", "aria-hidden": "true"})
    this.slider = h(
      "div",
      {class: "tlbox", role: "slider", tabindex: "0", "aria-label": "Position in the run", "aria-valuemin": "0"},
      this.canvas,
      this.cursor,
    )
    const mark = (style: string) => h("i", {style})
    this.foot = h(
      "div",
      {class: "foot"},
      h("span", {}, mark("background:var(--lane-active);opacity:.45"), "running"),
      h("span", {}, mark("background:var(--cell-write)"), "writes shared memory"),
      h("span", {}, mark("border-bottom:1px solid var(--lane-wait);height:5px"), "waiting, or not resumed yet"),
      h("span", {}, mark("width:3px;height:11px;background:var(--wall)"), "barrier passed"),
      h("span", {}),
    )
    this.el = h("div", {class: "time"}, h("span"), this.epochs, this.labels, this.slider, this.pins)
    this.slider.onpointerdown = (event) => {
      if (event.button !== 0) return
      this.slider.setPointerCapture(event.pointerId)
      this.#scrub(event)
      this.slider.onpointermove = (move) => this.#scrub(move)
      this.slider.onpointerup = this.slider.onpointercancel = () => {
        this.slider.onpointermove = null
        stepper.scrubbing(false)
      }
      stepper.scrubbing(true)
    }
    this.resized = new ResizeObserver(() => this.draw())
    this.resized.observe(this.canvas)
    this.endTheme = onTheme(() => this.draw())
  }

  close() {
    this.resized.disconnect()
    this.endTheme()
  }

  #scrub(event: PointerEvent) {
    const {left, width} = this.slider.getBoundingClientRect()
    if (this.recording) this.stepper.seek(Math.round(((event.clientX - left) / width) * this.recording.length))
  }

  open(recording: Recording) {
    this.recording = recording
    const each = recording.threads / Math.min(LABELS, recording.threads)
    this.labels.replaceChildren(
      ...Array.from({length: Math.min(LABELS, recording.threads)}, (_, i) => {
        const first = Math.round(i * each),
          last = Math.round((i + 1) * each) - 1
        return h(
          "span",
          {style: `top:${((first + last + 1) / 2 / recording.threads) * 100}%`},
          first === last ? `${first}` : `${first} to ${last}`,
        )
      }),
    )
    this.pinned = recording.findings.flatMap((finding, i) => {
      if (!finding.events.length) return []
      const pin = h(
        "button",
        {type: "button", class: "pin", title: finding.message, "aria-label": `Finding: ${finding.message}`, tabindex: "-1"},
        severityIcon(severityOf(finding)),
      )
      pin.onclick = () => this.stepper.showFinding(i)
      return [[finding, pin] as [Finding, HTMLElement]]
    })
    this.pins.replaceChildren(...this.pinned.map(([, pin]) => pin))
    const marks = new Set(this.pinned.map(([finding]) => severityOf(finding)))
    this.foot.lastElementChild?.replaceChildren(...[...marks].map(severityIcon), "finding")
    this.slider.setAttribute("aria-valuemax", String(recording.length))
    this.drawn = null
    this.draw()
  }

  paint(moment: Moment) {
    const at = moment.recording.length ? moment.position / moment.recording.length : 0
    this.cursor.style.left = `${at * 100}%`
    this.slider.setAttribute("aria-valuenow", String(moment.position))
    const key = `${moment.lockstep} ${moment.finding}`
    if (key !== this.drawn || moment.chain !== this.chain) this.draw()
    this.drawn = key
    this.chain = moment.chain
  }

  /** Draw everything that does not move with the cursor; again only for another size, theme, order or finding. */
  draw() {
    const {moment} = this.stepper,
      {width, height} = this.canvas.getBoundingClientRect()
    if (!this.recording || !moment || !width) return
    const {recording} = this,
      density = window.devicePixelRatio || 1
    this.canvas.width = Math.round(width * density)
    this.canvas.height = Math.round(height * density)
    const paper = this.canvas.getContext("2d") as Paper
    paper.scale(density, density)
    const x = (position: number) => (position / recording.length) * width,
      row = height / recording.threads
    const inks = Object.fromEntries(INKS.map((name) => [name, colour(name)])) as Inks
    const walls = this.#walls(moment)

    for (let k = 0; k <= walls.length; k++) {
      paper.fillStyle = inks[k % 2 ? "--room-b" : "--room-a"]
      const from = walls[k - 1],
        to = walls[k]
      for (let t = 0; t < recording.threads; t++) {
        if (from && Number.isNaN(from[t])) continue
        const left = from ? x(from[t]) : 0
        paper.fillRect(left, t * row, (to && !Number.isNaN(to[t]) ? x(to[t]) : width) - left, row + 0.5)
      }
    }
    const writes = this.#rows(paper, moment, inks, x, row, width)
    ;[true, writes, walls.length, walls.length, this.pinned.length].forEach((there, i) => {
      this.foot.children[i].toggleAttribute("hidden", !there)
    })
    const fat = recording.threads > 96 ? 2 : 2.4
    paper.strokeStyle = inks["--wall"]
    paper.lineWidth = fat
    for (const wall of walls) {
      paper.beginPath()
      for (let t = 0; t < recording.threads; t++) {
        if (Number.isNaN(wall[t])) continue
        if (t && !Number.isNaN(wall[t - 1])) paper.lineTo(x(wall[t]), t * row)
        else paper.moveTo(x(wall[t]), t * row)
        paper.lineTo(x(wall[t]), (t + 1) * row)
      }
      paper.stroke()
    }
    this.#finding(paper, moment, inks, x, row)
    const pins = this.pinned.map(([{events}, pin]) => {
      const left = x(moment.after(events[events.length - 1] - 1))
      pin.style.left = `${(left / width) * 100}%`
      return left
    })
    this.#names(walls, pins, x, width)
  }

  /**
   * walls[k][thread]: where the thread continues after its barrier k, NaN if it never does; in lockstep all at the same position.
   */
  #walls(moment: Moment) {
    const {recording} = moment,
      passed = new Uint32Array(recording.threads)
    const walls: Float64Array[] = []
    for (let p = 0; p < recording.length; p++) {
      const e = moment.eventAt(p),
        t = recording.thread[e]
      if (recording.kind[recording.site[e]] !== KIND.resume) continue
      const k = passed[t]++
      if (!walls[k]) walls[k] = new Float64Array(recording.threads).fill(moment.lockstep ? p : NaN)
      if (!moment.lockstep) walls[k][t] = p
    }
    return walls
  }

  /**
   * Draw when each thread runs, waits and writes. Returns the number of writes drawn, at most one per pixel.
   * @param row  height of a thread's row
   */
  #rows(paper: Paper, moment: Moment, inks: Inks, x: Scale, row: number, width: number) {
    const {recording} = moment,
      gap = row > 3 ? 1 : row > 1.5 ? 0.5 : 0
    const {running, waiting} = moment.lockstep ? this.#together(moment) : this.#apart(moment)
    const writes = [],
      painted = new Int32Array(recording.threads).fill(-1)
    for (let p = 0; p < recording.length; p++) {
      const e = moment.eventAt(p),
        t = recording.thread[e],
        s = recording.site[e],
        pixel = Math.floor(x(p))
      if (
        painted[t] === pixel ||
        (recording.kind[s] !== KIND.write && recording.kind[s] !== KIND.atomic) ||
        recording.sites[s].space !== "shared"
      )
        continue
      painted[t] = pixel
      writes.push(t, p)
    }
    paper.globalAlpha = 0.45
    paper.fillStyle = inks["--lane-active"]
    for (let i = 0; i < running.length; i += 3)
      paper.fillRect(
        x(running[i + 1]),
        running[i] * row + gap / 2,
        Math.max(0.75, x(running[i + 2]) - x(running[i + 1])),
        Math.max(0.5, row - gap),
      )
    if (row > 2) {
      paper.fillStyle = inks["--lane-wait"]
      for (let i = 0; i < waiting.length; i += 3)
        paper.fillRect(x(waiting[i + 1]), (waiting[i] + 0.5) * row - 0.25, x(waiting[i + 2]) - x(waiting[i + 1]), 0.5)
    }
    paper.globalAlpha = 1
    paper.fillStyle = inks["--cell-write"]
    const thick = Math.max(1.2, Math.min(3, (width / recording.length) * 0.9))
    for (let i = 0; i < writes.length; i += 2)
      paper.fillRect(x(writes[i + 1]), writes[i] * row + gap / 2, thick, Math.max(0.5, row - gap))
    return writes.length
  }

  /** When each thread runs and waits in the device's order, from one barrier to the next. */
  #apart(moment: Moment) {
    const {recording} = moment
    const running: Spans = []
    const waiting: Spans = []
    const [begun, waits, last] = [0, 0, 0].map(() => new Float64Array(recording.threads).fill(-1))
    for (let p = 0; p < recording.length; p++) {
      const e = moment.eventAt(p),
        t = recording.thread[e]
      if (begun[t] < 0) {
        begun[t] = p
        if (waits[t] >= 0) {
          waiting.push(t, waits[t], p)
          waits[t] = -1
        }
      }
      last[t] = p
      if (recording.kind[recording.site[e]] !== KIND.arrive) continue
      running.push(t, begun[t], p + 1)
      begun[t] = -1
      waits[t] = p + 1
    }
    for (let t = 0; t < recording.threads; t++) {
      if (begun[t] >= 0) running.push(t, begun[t], last[t] + 1)
      else if (waits[t] >= 0) waiting.push(t, waits[t], recording.length)
    }
    return {running, waiting}
  }

  /** The same in lockstep: a thread runs where it takes part in a statement, and waits while others are on a different path. */
  #together(moment: Moment) {
    const running: Spans = []
    const waiting: Spans = []
    const {recording} = moment,
      from = new Float64Array(recording.threads).fill(-1),
      until = new Float64Array(recording.threads)
    const close = (t: number) => {
      if (from[t] >= 0) running.push(t, from[t], until[t])
    }
    for (let p = 0, end: number; p < recording.length; p = end) {
      for (end = p + 1; end < recording.length && moment.isTogether(moment.eventAt(end - 1), moment.eventAt(end)); ) end++
      for (let i = p; i < end; i++) {
        const t = recording.thread[moment.eventAt(i)]
        if (until[t] === end) continue
        if (until[t] !== p || from[t] < 0) {
          close(t)
          if (from[t] >= 0) waiting.push(t, until[t], p)
          from[t] = p
        }
        until[t] = end
      }
    }
    for (let t = 0; t < recording.threads; t++) close(t)
    return {running, waiting}
  }

  /** Draw the two accesses of the shown finding, or the events of a chain, joined by a dashed line. */
  #finding(paper: Paper, moment: Moment, inks: Inks, x: Scale, row: number) {
    const {recording} = moment,
      events = moment.chain?.events ?? recording.findings[moment.finding]?.events.map((step) => step - 1) ?? []
    if (!events.length) return
    const spots = events.map((event) => ({x: x(moment.after(event)), y: (recording.thread[event] + 0.5) * row}))
    paper.strokeStyle = inks["--sev-error"]
    paper.lineWidth = 1.6
    paper.setLineDash([4, 3])
    paper.beginPath()
    for (const spot of spots) paper.lineTo(spot.x, spot.y)
    paper.stroke()
    paper.setLineDash([])
    spots.forEach((spot, i) => {
      paper.beginPath()
      paper.arc(spot.x, spot.y, 3.6, 0, 2 * Math.PI)
      paper.fillStyle = inks[i === spots.length - 1 ? "--lane-chosen" : "--surface"]
      paper.fill()
      if (i < spots.length - 1) paper.stroke()
    })
  }

  /**
   * Write the epochs' numbers, and the word "epoch" before them if all have room for it. Where many would touch, only every second, fifth,
   * tenth … is written. A number stands beside a pin.
   * @param pins  where the pins are drawn
   */
  #names(walls: Float64Array[], pins: number[], x: Scale, width: number) {
    const lefts = [0, ...walls.map((wall) => x(wall.find((position) => !Number.isNaN(position)) ?? NaN))]
    const parts: HTMLElement[] = []
    const type = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16 // larger for a presenter
    const wide = (words: string) => words.length * DIGIT * type + 4
    const room = wide("epoch 0") + 2
    const long = lefts.every((left, k) => (lefts[k + 1] ?? width) - left > room || k === 0 || k === walls.length)
    const sorted = [...pins].sort((a, b) => a - b)
    const close = (each: number) => {
      const written = lefts.filter((_, k) => k % each === 0)
      const touch = written.filter((left, i) => i > 0 && left - written[i - 1] < wide(`${(i - 1) * each}`) + 2)
      return touch.length > written.length / 4
    }
    const each = long ? 1 : (STRIDES.find((stride) => !close(stride)) ?? lefts.length)
    let free = 0
    lefts.forEach((left, k) => {
      if (k % each) return
      const words = long && (lefts[k + 1] ?? width) - left > room ? `epoch ${k}` : `${k}`
      const size = wide(words)
      const first = Math.min(left, width - size) // the last one is not cut
      let place = first
      for (const pin of sorted) if (pin + PIN > place && pin - PIN < place + size) place = pin + PIN
      if (place < free || width - left < 4 || (place > first && place + size > (lefts[k + 1] ?? width))) return
      parts.push(h("span", {style: `left:${place}px`}, words))
      free = place + size + 2
    })
    this.epochs.replaceChildren(...(walls.length ? parts : []))
  }
}
