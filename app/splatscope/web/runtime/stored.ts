// What the browser remembers between visits. Private windows and a notebook's frame may not allow it.

/** The text stored under a key; null for none. */
export function remembered(key: string) {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

/** The value that is stored under a key as JSON; null for none, or for what another version has written. */
export const rememberedJson = (key: string) => parsed(remembered(key))

/** The same, of what this tab has stored. */
export const rememberedJsonInTab = (key: string) => parsed(rememberedInTab(key))

function parsed(text: string | null) {
  try {
    return JSON.parse(text ?? "null")
  } catch {
    return null
  }
}

/** The text that this tab has stored under a key; null for none. */
export function rememberedInTab(key: string) {
  try {
    return sessionStorage.getItem(key)
  } catch {
    return null
  }
}

/** Store nothing under a key any more. */
export function forget(key: string) {
  try {
    localStorage.removeItem(key)
  } catch {
    /* nothing was stored */
  }
}

/**
 * Store a text under a key, for this tab.
 * @returns whether the browser allows it
 */
export function rememberInTab(key: string, value: string): boolean {
  try {
    sessionStorage.setItem(key, value)
    return true
  } catch {
    return false
  }
}

/** Store a text under a key, if the browser allows it. */
export function remember(key: string, value: string) {
  try {
    localStorage.setItem(key, value)
  } catch {
    /* the choice lasts only as long as the page */
  }
}
