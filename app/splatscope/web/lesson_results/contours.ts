// Contour lines of heights on a grid.

/**
 * The SVG path along which heights cross a level: one piece in each cell with corners both above and below the level.
 * @param heights  by row, from the bottom, and column
 * @param width  of the picture
 */
export function contour(heights: ArrayLike<number>[], level: number, width: number, height: number) {
  const [rows, columns] = [heights.length, heights[0].length]
  const point = (column: number, row: number) => {
    const [x, y] = [(column / (columns - 1)) * width, height - (row / (rows - 1)) * height]
    return `${x.toFixed(1)} ${y.toFixed(1)}`
  }
  const pieces: string[] = []
  for (let row = 0; row + 1 < rows; row++) {
    for (let column = 0; column + 1 < columns; column++) {
      const points = crossings(heights, level, column, row).map(([c, r]) => point(c, r))
      for (let i = 0; i + 1 < points.length; i += 2) pieces.push(`M${points[i]}L${points[i + 1]}`)
    }
  }
  return pieces.join("")
}

/** Where the sides of a cell cross a level, in columns and rows. */
function crossings(heights: ArrayLike<number>[], level: number, column: number, row: number): [column: number, row: number][] {
  const corners = [
    [column, row],
    [column + 1, row],
    [column + 1, row + 1],
    [column, row + 1],
  ]
  return corners.flatMap(([c, r], i) => {
    const [nextC, nextR] = corners[(i + 1) % 4]
    const [from, to] = [heights[r][c], heights[nextR][nextC]]
    if (from < level === to < level) return []
    const share = (level - from) / (to - from)
    return [[c + share * (nextC - c), r + share * (nextR - r)] as [number, number]]
  })
}
