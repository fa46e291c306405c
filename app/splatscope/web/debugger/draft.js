// What somebody is working on: kept for the tab, and in a link as long as it fits.

const KEY = "splatscope-debugger"
export const MOST = 16_000 // characters of a link

/**
 * What somebody is working on.
 * @typedef {object} Draft
 * @property {string} source  of the file that runs
 * @property {string} [file]  its name; kernel.slang where there is none
 * @property {Record<string, string>} [files]  the other files of its project, by name
 * @property {string} [example]
 * @property {string[] | null} [functions]  those that are recorded; null for all
 * @property {Record<string, import("./inputs.js").Spec>} [inputs]
 * @property {number[]} [groups]
 * @property {number[]} [group]  the one that is recorded
 * @property {string} [entry]
 * @property {number[] | null} [groups_said]  the groups that an attribute said
 * @property {string} [defines]  macros, one a line
 * @property {Record<string, string>} [constants]  link-time constants
 * @property {string} [arguments]  types of the entry point's generic parameters
 * @property {string} [conformances]  types behind interfaces, one a line
 * @property {boolean} [from_file]
 * @property {number} [step]
 * @property {number} [room]  for so many times the usual events
 * @property {boolean} [fix]  the same kernel, with its fault mended
 */

/**
 * Keep a draft for the tab.
 * @param {Draft} draft
 */
export function saveDraft(draft) {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(draft))
  } catch {
    /* private mode: it lasts as long as the page */
  }
}

/**
 * The draft that the address brings, else the tab's; null where there is neither.
 * @returns {Promise<Draft | null>}
 */
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
    return JSON.parse(sessionStorage.getItem(KEY) ?? "null")
  } catch {
    return null
  }
}

/**
 * The address that holds a draft and a step, "" where it would be too long, and how long it would be.
 * @param {Draft} draft
 * @param {number} step
 */
export async function linkTo(draft, step) {
  const packed = await pack(JSON.stringify(draft))
  const address = `${location.origin}${location.pathname}?page=debugger${step ? `&step=${step}` : ""}#kernel=${packed}`
  return {address: address.length > MOST ? "" : address, length: address.length}
}

/**
 * What an address holds of a draft behind #, "" where another session cannot record it: it is too long, or holds files of this one.
 * @param {Draft} draft
 */
export async function hashOf(draft) {
  const files = Object.values(draft.inputs ?? {}).some((spec) => "array" in spec && spec.array)
  const {address} = draft.from_file || files ? {address: ""} : await linkTo(draft, 0)
  return address && new URL(address).hash
}

/**
 * Keep a draft in the address, as far as it fits, so that a reload, a bookmark and Back restore it.
 * @param {Draft} draft
 */
export async function keepLink(draft) {
  const {address} = await linkTo(draft, 0)
  if (address) history.replaceState(history.state, "", location.pathname + location.search + new URL(address).hash)
}

/** Forget the address's draft: what was changed is no longer what it holds. */
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
