// What the browser remembers between visits. Private windows and a notebook's frame may not allow it.

/**
 * The text stored under a key; null for none.
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
 * The value that is stored under a key as JSON; null for none, or for what another version has written.
 * @param {string} key
 */
export function rememberedJson(key) {
  try {
    return JSON.parse(remembered(key) ?? "null")
  } catch {
    return null
  }
}

/**
 * The text that this tab has stored under a key; null for none.
 * @param {string} key
 */
export function rememberedInTab(key) {
  try {
    return sessionStorage.getItem(key)
  } catch {
    return null
  }
}

/**
 * Store a text under a key, for this tab.
 * @param {string} key
 * @param {string} value
 * @returns {boolean} whether the browser allows it
 */
export function rememberInTab(key, value) {
  try {
    sessionStorage.setItem(key, value)
    return true
  } catch {
    return false
  }
}

/**
 * Store a text under a key, if the browser allows it.
 * @param {string} key
 * @param {string} value
 */
export function remember(key, value) {
  try {
    localStorage.setItem(key, value)
  } catch {
    /* the choice lasts only as long as the page */
  }
}
