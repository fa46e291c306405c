// Finds places for labels, so that none overlaps a line, a curve or another label.

export type Point = [x: number, y: number]

/** A label before it is placed. `places` are candidates for its top left corner, the best first. */
interface Label {
  width: number
  height: number
  places: Point[]
}

/** What labels must not overlap: points placed densely along lines and curves, and boxes. */
interface Obstacles {
  points: Point[]
  boxes?: {x: number; y: number; width: number; height: number}[]
}

const APART = 2 // px between a label and any obstacle
const DENSE = 3 // px between points along a line

/** Place labels one after another, each at the first of its places that is inside and free; null if there is none. */
export function placeLabels(
  labels: Label[],
  room: {width: number; height: number},
  {points, boxes = []}: Obstacles,
): (Point | null)[] {
  const taken = [...boxes]
  return labels.map(({width, height, places}) => {
    const free = places.find(([x, y]) => {
      if (x < 0 || y < 0 || x + width > room.width || y + height > room.height) return false
      const meets = ([px, py] = [0, 0]) => px > x - APART && px < x + width + APART && py > y - APART && py < y + height + APART
      const overlaps = (box: (typeof taken)[number]) =>
        x < box.x + box.width + APART && box.x < x + width + APART && y < box.y + box.height && box.y < y + height
      return !points.some(meets) && !taken.some(overlaps)
    })
    if (free) taken.push({x: free[0], y: free[1], width, height})
    return free ?? null
  })
}

/** The place for a label if none is free: the first of those that cover no box and the fewest points. */
export function clearest({width, height, places}: Label, {points, boxes = []}: Obstacles): Point {
  const inside = ([x, y] = [0, 0], [px, py] = [0, 0]) =>
    px > x - APART && px < x + width + APART && py > y - APART && py < y + height + APART
  const meets = ([x, y] = [0, 0]) =>
    boxes.some((box) => x - 4 < box.x + box.width && box.x < x + width + 4 && y - 4 < box.y + box.height && box.y < y + height + 4)
  const covered = (place: Point) => {
    const lines = points.filter((point) => inside(place, point)).length
    return meets(place) ? Infinity : lines
  }
  const counts = places.map(covered)
  return places[counts.indexOf(Math.min(...counts))]
}

/** Points along a line. */
export function alongLine([x, y]: Point, [toX, toY]: Point): Point[] {
  const count = Math.ceil(Math.hypot(toX - x, toY - y) / DENSE) || 1
  return Array.from({length: count + 1}, (_, i) => [x + ((toX - x) * i) / count, y + ((toY - y) * i) / count])
}

/** Points along the lines between corners. */
export const alongPath = (corners: Point[]) => corners.slice(1).flatMap((corner, i) => alongLine(corners[i], corner))

/**
 * Points along an ellipse.
 * @param angle  of the first, in radians
 */
export function alongEllipse([x, y]: Point, [first, second]: Point, angle: number): Point[] {
  const count = Math.max(8, Math.ceil((2 * Math.PI * Math.max(first, second)) / DENSE))
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)]
  return Array.from({length: count}, (_, i) => {
    const [u, v] = [first * Math.cos((2 * Math.PI * i) / count), second * Math.sin((2 * Math.PI * i) / count)]
    return [x + u * cos - v * sin, y + u * sin + v * cos]
  })
}
