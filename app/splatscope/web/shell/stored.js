// What the browser remembers from visit to visit. A page may be refused that: in private windows, in a notebook's frame.

/**
 * What is remembered under a key; null for nothing.
 * @param {string} key
 */
export function remembered(key) {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

/**
 * Remember a text under a key, as long as the page lives at least.
 * @param {string} key
 * @param {string} value
 */
export function remember(key, value) {
  try {
    localStorage.setItem(key, value)
  } catch {
    /* what was chosen lasts as long as the page */
  }
}
