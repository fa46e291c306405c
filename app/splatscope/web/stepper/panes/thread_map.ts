// A map of the workgroup beside a line: each thread on the line is a disc at its place, the places of the others are points.

const NS = "http://www.w3.org/2000/svg"
const WIDTH = 48,
  HEIGHT = 24,
  MOST = 64
export const MARK = {empty: 0, run: 1, me: 2, wait: 3, held: 4, done: 5, apart: 6}
const CLASSES = ["seat", "ln", "ln me", "ln w", "ln h", "ln d", "ln a"]
const RADII = [0.8, 2.7, 2.7, 2, 2, 1.35, 2.1]
const LOUDEST = [0, 5, 6, 3, 2, 1, 4] // marks by priority, if several threads share a dot

/** The dots of a map: one for each thread, or in a large workgroup one for several threads. */
export interface Plan {
  dots: number
  columns: number
  /** px from one dot to the next. */
  pitch: number
  /** The dot of a thread. */
  dot: (thread: number) => number
}

/**
 * Lay out a map for a workgroup.
 * @param size  the workgroup's, (x, y, z)
 */
export function layoutThreads(threads: number, [x, y]: number[]): Plan {
  const each = Math.ceil(threads / MOST),
    dots = Math.ceil(threads / each)
  const columns = each === 1 && y > 1 && x <= 16 ? x : Math.min(8, dots)
  const rows = Math.ceil(dots / columns),
    pitch = Math.min(6, WIDTH / columns, HEIGHT / rows)
  return {dots, columns, pitch, dot: (thread) => Math.floor(thread / each)}
}

/** One path for each mark, with the discs of all dots that have it, so that moving a hundred threads changes only two attributes. */
export class ThreadMap {
  plan: Plan
  shown: Uint8Array<ArrayBuffer>
  el: SVGSVGElement
  at: number[][]
  paths: SVGPathElement[]

  constructor(plan: Plan) {
    const {columns, pitch, dots} = plan
    this.plan = plan
    this.shown = new Uint8Array(dots).fill(255)
    this.el = document.createElementNS(NS, "svg")
    const top = (HEIGHT - Math.ceil(dots / columns) * pitch) / 2
    const attributes = {class: "seatmap", width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true"}
    for (const [name, value] of Object.entries(attributes)) this.el.setAttribute(name, String(value))
    this.at = Array.from({length: dots}, (_, i) => [((i % columns) + 0.5) * pitch, top + (Math.floor(i / columns) + 0.5) * pitch])
    this.paths = CLASSES.map((klass) => {
      const path = document.createElementNS(NS, "path")
      path.setAttribute("class", klass)
      this.el.append(path)
      return path
    })
    this.show(new Uint8Array(dots))
  }

  /** Give each dot its mark. */
  show(marks: Uint8Array) {
    const moved = new Set<number>()
    for (let i = 0; i < marks.length; i++) {
      if (this.shown[i] === marks[i]) continue
      moved.add(this.shown[i]).add(marks[i])
      this.shown[i] = marks[i]
    }
    const scale = this.plan.pitch / 6
    for (const state of moved) {
      if (!this.paths[state]) continue
      const r = RADII[state] * (state ? scale : Math.max(0.7, scale)),
        turn = `a${r} ${r} 0 1 0 `
      this.paths[state].setAttribute(
        "d",
        this.at.map(([x, y], i) => (marks[i] === state ? `M${x - r} ${y}${turn}${2 * r} 0${turn}${-2 * r} 0` : "")).join(""),
      )
    }
  }
}

/** Of two marks, the one that a dot for several threads shows. */
export const moreProminent = (a: number, b: number) => (LOUDEST[a] >= LOUDEST[b] ? a : b)
