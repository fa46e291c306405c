// A seat map: each thread a disc in its seat, the seats of the others as points.

const NS = "http://www.w3.org/2000/svg"
const WIDTH = 48, HEIGHT = 24, MOST = 64
export const SEAT = {empty: 0, run: 1, me: 2, wait: 3, held: 4, done: 5, apart: 6}
const CLASSES = ["seat", "ln", "ln me", "ln w", "ln h", "ln d", "ln a"]
const RADII = [0.8, 2.7, 2.7, 2, 2, 1.35, 2.1]
const LOUDEST = [0, 5, 6, 3, 2, 1, 4] // where several threads share a dot, which of them it shows

// Which dot of how many columns and rows a thread has.
export function seating(threads, [x, y]) {
  const each = Math.ceil(threads / MOST), dots = Math.ceil(threads / each)
  const columns = each === 1 && y > 1 && x <= 16 ? x : Math.min(8, dots)
  const rows = Math.ceil(dots / columns), pitch = Math.min(6, WIDTH / columns, HEIGHT / rows)
  return {each, dots, columns, pitch, dot: (thread) => Math.floor(thread / each)}
}

export class Seats {
  constructor(plan) {
    this.plan = plan
    this.shown = new Uint8Array(plan.dots).fill(255)
    this.el = document.createElementNS(NS, "svg")
    const {columns, pitch, dots} = plan
    const rows = Math.ceil(dots / columns), top = (HEIGHT - rows * pitch) / 2
    for (const [name, value] of [["class", "seatmap"], ["width", WIDTH], ["height", HEIGHT], ["viewBox", `0 0 ${WIDTH} ${HEIGHT}`], ["aria-hidden", "true"]]) this.el.setAttribute(name, value)
    this.circles = Array.from({length: dots}, (_, i) => {
      const circle = document.createElementNS(NS, "circle")
      circle.setAttribute("cx", (i % columns + 0.5) * pitch)
      circle.setAttribute("cy", top + (Math.floor(i / columns) + 0.5) * pitch)
      this.el.append(circle)
      return circle
    })
    this.show(new Uint8Array(dots))
  }

  show(seats) {
    const scale = this.plan.pitch / 6
    for (let i = 0; i < seats.length; i++) {
      if (this.shown[i] === seats[i]) continue
      this.shown[i] = seats[i]
      this.circles[i].setAttribute("class", CLASSES[seats[i]])
      this.circles[i].setAttribute("r", RADII[seats[i]] * (seats[i] ? scale : Math.max(0.7, scale)))
    }
  }
}

export const louder = (a, b) => LOUDEST[a] >= LOUDEST[b] ? a : b
