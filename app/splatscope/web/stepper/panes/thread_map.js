// A seat map: each thread a disc in its seat, the seats of the others as points.

const NS = "http://www.w3.org/2000/svg"
const WIDTH = 48,
  HEIGHT = 24,
  MOST = 64
export const MARK = {empty: 0, run: 1, me: 2, wait: 3, held: 4, done: 5, apart: 6}
const CLASSES = ["seat", "ln", "ln me", "ln w", "ln h", "ln d", "ln a"]
const RADII = [0.8, 2.7, 2.7, 2, 2, 1.35, 2.1]
const LOUDEST = [0, 5, 6, 3, 2, 1, 4] // where several threads share a dot, which of them it shows

// Which dot of how many columns and rows a thread has.
export function layoutThreads(threads, [x, y]) {
  const each = Math.ceil(threads / MOST),
    dots = Math.ceil(threads / each)
  const columns = each === 1 && y > 1 && x <= 16 ? x : Math.min(8, dots)
  const rows = Math.ceil(dots / columns),
    pitch = Math.min(6, WIDTH / columns, HEIGHT / rows)
  return {each, dots, columns, pitch, dot: (thread) => Math.floor(thread / each)}
}

// A path a state, each with the discs of all who are in it: to move a hundred threads changes two attributes, not a hundred.
export class ThreadMap {
  constructor(plan) {
    const {columns, pitch, dots} = (this.plan = plan)
    this.shown = new Uint8Array(dots).fill(255)
    this.el = document.createElementNS(NS, "svg")
    const top = (HEIGHT - Math.ceil(dots / columns) * pitch) / 2
    for (const [name, value] of [
      ["class", "seatmap"],
      ["width", WIDTH],
      ["height", HEIGHT],
      ["viewBox", `0 0 ${WIDTH} ${HEIGHT}`],
      ["aria-hidden", "true"],
    ])
      this.el.setAttribute(name, value)
    this.at = Array.from({length: dots}, (_, i) => [((i % columns) + 0.5) * pitch, top + (Math.floor(i / columns) + 0.5) * pitch])
    this.paths = CLASSES.map((klass) => {
      const path = document.createElementNS(NS, "path")
      path.setAttribute("class", klass)
      this.el.append(path)
      return path
    })
    this.show(new Uint8Array(dots))
  }

  show(seats) {
    const moved = new Set()
    for (let i = 0; i < seats.length; i++) {
      if (this.shown[i] === seats[i]) continue
      moved.add(this.shown[i]).add(seats[i])
      this.shown[i] = seats[i]
    }
    const scale = this.plan.pitch / 6
    for (const state of moved) {
      if (!this.paths[state]) continue
      const r = RADII[state] * (state ? scale : Math.max(0.7, scale)),
        turn = `a${r} ${r} 0 1 0 `
      this.paths[state].setAttribute(
        "d",
        this.at.map(([x, y], i) => (seats[i] === state ? `M${x - r} ${y}${turn}${2 * r} 0${turn}${-2 * r} 0` : "")).join(""),
      )
    }
  }
}

export const moreProminent = (a, b) => (LOUDEST[a] >= LOUDEST[b] ? a : b)
