// What somebody is working on: kept for the tab, and in a link as long as it fits.

const KEY = "splatscope-debugger"
export const MOST = 16_000 // characters of a link

export function saveDraft(draft) {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(draft))
  } catch {
    /* private mode: it lasts as long as the page */
  }
}

// The draft that the address brings, else the tab's; null where there is neither.
export async function loadDraft() {
  const packed = /^#kernel=(.+)$/.exec(location.hash)?.[1]
  if (packed) {
    try {
      return JSON.parse(await unpack(packed))
    } catch {
      /* cut short on its way: the tab's own draft, or the first example */
    }
  }
  try {
    return JSON.parse(sessionStorage.getItem(KEY))
  } catch {
    return null
  }
}

// The address that holds the draft and the step, "" where it would be too long, and how long it would be.
export async function linkTo(draft, step) {
  const packed = await pack(JSON.stringify(draft))
  const address = `${location.origin}${location.pathname}?page=debugger${step ? `&step=${step}` : ""}#kernel=${packed}`
  return {address: address.length > MOST ? "" : address, length: address.length}
}

// What was changed is no longer what the address holds.
export function clearLink() {
  if (location.hash) history.replaceState(history.state, "", location.pathname + location.search)
}

async function through(stream, bytes) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer())
}

async function pack(text) {
  const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(text))
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "")
}

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0))
  return new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), bytes))
}
