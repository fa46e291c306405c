// Contour lines of heights on a grid.

/**
 * The SVG path along which heights cross a level: one piece in each cell with corners both above and below the level.
 * @param {ArrayLike<number>[]} heights  by row, from the bottom, and column
 * @param {number} level
 * @param {number} width  of the picture
 * @param {number} height
 */
export function contour(heights, level, width, height) {
  const [rows, columns] = [heights.length, heights[0].length]
  const point = (/** @type {number} */ column, /** @type {number} */ row) => {
    const [x, y] = [(column / (columns - 1)) * width, height - (row / (rows - 1)) * height]
    return `${x.toFixed(1)} ${y.toFixed(1)}`
  }
  /** @type {string[]} */
  const pieces = []
  for (let row = 0; row + 1 < rows; row++) {
    for (let column = 0; column + 1 < columns; column++) {
      const points = crossings(heights, level, column, row).map(([c, r]) => point(c, r))
      for (let i = 0; i + 1 < points.length; i += 2) pieces.push(`M${points[i]}L${points[i + 1]}`)
    }
  }
  return pieces.join("")
}

/**
 * Where the sides of a cell cross a level, in columns and rows.
 * @param {ArrayLike<number>[]} heights
 * @param {number} level
 * @param {number} column
 * @param {number} row
 * @returns {[column: number, row: number][]}
 */
function crossings(heights, level, column, row) {
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
    return [/** @type {[number, number]} */ ([c + share * (nextC - c), r + share * (nextR - r)])]
  })
}
