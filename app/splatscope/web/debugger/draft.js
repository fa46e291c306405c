// The draft: what the user is working on. It is stored for the tab, and in the address as long as it fits.

const KEY = "splatscope-debugger"
export const MOST = 16_000 // characters of a link

/**
 * What the user is working on.
 * @typedef {object} Draft
 * @property {string} source  the text of the file that runs
 * @property {string} [file]  its name; kernel.slang if left out
 * @property {Record<string, string>} [files]  the other files of its project, by name
 * @property {string} [example]
 * @property {string[] | null} [functions]  the functions to record; null for all
 * @property {Record<string, import("./inputs.js").Spec>} [inputs]
 * @property {number[]} [groups]
 * @property {number[]} [group]  the workgroup to record
 * @property {string} [entry]
 * @property {number[] | null} [groups_said]  the groups that an attribute set
 * @property {string} [defines]  macros, one per line
 * @property {Record<string, string>} [constants]  link-time constants
 * @property {string} [arguments]  types of the entry point's generic parameters
 * @property {string} [conformances]  types that implement interfaces, one per line
 * @property {boolean} [from_file]
 * @property {number} [step]
 * @property {number} [room]  factor on the usual number of events
 * @property {boolean} [fix]  whether this is the same kernel with its fix
 */

/**
 * Store a draft for the tab.
 * @param {Draft} draft
 */
export function saveDraft(draft) {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(draft))
  } catch {
    /* private mode: the draft lasts only as long as the page */
  }
}

/**
 * The draft in the address, else the tab's; null if there is neither.
 * @returns {Promise<Draft | null>}
 */
export async function loadDraft() {
  const packed = /^#kernel=(.+)$/.exec(location.hash)?.[1]
  if (packed) {
    try {
      return JSON.parse(await unpack(packed))
    } catch {
      /* the link was truncated: use the tab's own draft, or the first example */
    }
  }
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "null")
  } catch {
    return null
  }
}

/**
 * The address of a draft and a step, "" if it would be too long, and its length.
 * @param {Draft} draft
 * @param {number} step
 */
export async function linkTo(draft, step) {
  const packed = await pack(JSON.stringify(draft))
  const address = `${location.origin}${location.pathname}?page=debugger${step ? `&step=${step}` : ""}#kernel=${packed}`
  return {address: address.length > MOST ? "" : address, length: address.length}
}

/**
 * A draft for the part of an address after #, "" if another session could not record it: it is too long, or uses files of this one.
 * @param {Draft} draft
 */
export async function hashOf(draft) {
  const files = Object.values(draft.inputs ?? {}).some((spec) => "array" in spec && spec.array)
  const {address} = draft.from_file || files ? {address: ""} : await linkTo(draft, 0)
  return address && new URL(address).hash
}

/**
 * Store a draft in the address, if it fits, so that a reload, a bookmark and Back restore it.
 * @param {Draft} draft
 */
export async function keepLink(draft) {
  const {address} = await linkTo(draft, 0)
  if (address) history.replaceState(history.state, "", location.pathname + location.search + new URL(address).hash)
}

/** Remove the draft from the address, after it was changed. */
export function clearLink() {
  if (location.hash) history.replaceState(history.state, "", location.pathname + location.search)
}

/**
 * @param {CompressionStream | DecompressionStream} stream
 * @param {Uint8Array<ArrayBuffer>} bytes
 */
async function through(stream, bytes) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer())
}

/** @param {string} text */
async function pack(text) {
  const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(text))
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "")
}

/** @param {string} text */
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0))
  return new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), bytes))
}
