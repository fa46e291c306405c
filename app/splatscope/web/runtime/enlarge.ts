// For a projector: a section is laid out as for a small window, then scaled up to fill the large one.

const LAID_OUT = [1280, 800] // px: a window in which all figures fit, with type at 125%

let wanted = false

/** Turn the enlarging of sections on or off. */
export function enlarge(want: boolean) {
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
