// For a room that looks on: a section is laid out as in a small window, and drawn as much larger as the window is.

const LAID_OUT = [1280, 800] // px of the window in which all figures fit with type of 125%

let wanted = false

/**
 * Have sections fill a large window with what a small one shows, or not.
 * @param {boolean} want
 */
export function enlarge(want) {
  if (want === wanted) return
  wanted = want
  if (want) window.addEventListener("resize", fit)
  else window.removeEventListener("resize", fit)
  fit()
}

function fit() {
  const factor = Math.max(1, Math.min(innerWidth / LAID_OUT[0], innerHeight / LAID_OUT[1]))
  document.documentElement.style.setProperty("--enlarged", String(wanted ? factor : 1))
}
