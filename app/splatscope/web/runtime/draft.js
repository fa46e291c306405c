// The draft: what the user is working on. It is stored for the tab, and in the address as long as it fits.
//
// An address may come from anyone, so a kernel in it runs by itself only if this browser knows it: the reader has run it, or a link of
// the app has led to it. The links themselves are compared, because their hashes could be forged unless they were long.
import {rememberedInTab, rememberedJson, rememberInTab, remember} from "./stored.js"

const KEY = "splatscope-debugger"
const KNOWN = "splatscope-kernels" // key in the browser's storage: the ends of addresses and the classes whose kernels run by themselves
const MOST_KNOWN = 30
export const MOST = 16_000 // characters of a link
const MOST_UNPACKED = 4 * 2 ** 20 // characters of a draft

/**
 * The specification of a buffer, texture, sampler or uniform.
 * @typedef {object} Spec
 * @property {number[]} [size]  of a texture, in x, y and z
 * @property {boolean} [mips]
 * @property {boolean} [srgb]
 * @property {string} [filter]  of a sampler
 * @property {string} [address]
 * @property {string} [fill]  zeros, ramp, shuffle, random, values, file
 * @property {number} [count]
 * @property {number} [seed]
 * @property {string} [values]  as typed
 * @property {string} [array]  key of the file's array on the server
 * @property {string} [file]
 * @property {string} [words]  a description of the file's contents
 * @property {string} [from]  the attribute that set it
 * @property {string} [wanted]  the file named by the attribute
 */
/**
 * What the user is working on.
 * @typedef {object} Draft
 * @property {string} source  the text of the file that runs
 * @property {string} [file]  its name; kernel.slang if left out
 * @property {Record<string, string>} [files]  the other files of its project, by name
 * @property {string} [example]
 * @property {string[] | null} [functions]  the functions to record; null for all
 * @property {Record<string, Spec>} [inputs]
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
 * @property {boolean} [asks]  whether it came with a link and waits for the reader to run it
 */

/**
 * Note what runs by itself from now on.
 * @param {string} mark  the end of an address, `#kernel=…`, or `class=CODE`
 */
export function know(mark) {
  remember(KNOWN, JSON.stringify([...known().filter((one) => one !== mark), mark].slice(-MOST_KNOWN)))
}

/**
 * Whether this runs by itself.
 * @param {string} mark
 */
export const isKnown = (mark) => known().includes(mark)

/** @returns {string[]} */
function known() {
  const marks = rememberedJson(KNOWN)
  return Array.isArray(marks) ? marks : []
}

/**
 * Store a draft for the tab.
 * @param {Draft} draft
 * @returns {boolean} whether the browser allows it
 */
export const saveDraft = (draft) => rememberInTab(KEY, JSON.stringify(draft))

/** The part of the address with a kernel, "" for none. */
export const linked = () => (location.hash.startsWith("#kernel=") ? location.hash : "")

/**
 * The draft in the address, else the tab's; null if there is neither.
 * @returns {Promise<Draft | null>}
 */
export async function loadDraft() {
  const link = linked()
  try {
    if (link) return {...valid(await unpack(link.slice("#kernel=".length))), asks: !isKnown(link)}
  } catch {
    /* the link was truncated: use the tab's own draft, or the first example */
  }
  try {
    return valid(rememberedInTab(KEY) ?? "null")
  } catch {
    return null
  }
}

/**
 * Read a draft.
 * @param {string} text
 * @returns {Draft} @throws {TypeError} It has no source.
 */
function valid(text) {
  const draft = JSON.parse(text)
  if (typeof draft?.source !== "string" || !draft.source) throw new TypeError("a draft without a source")
  return draft
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
 * What the reader has run, for the part of an address after #; "" if another session could not record it: it is too long, or uses files
 * of this one.
 * @param {Draft} draft
 */
export async function hashOf(draft) {
  const files = Object.values(draft.inputs ?? {}).some((spec) => "array" in spec && spec.array)
  const {address} = draft.from_file || files ? {address: ""} : await linkTo(draft, 0)
  const hash = address && new URL(address).hash
  if (hash) know(hash)
  return hash
}

/**
 * Store a draft in the address, if it fits, so that a reload, a bookmark and Back restore it.
 * @param {Draft} draft
 */
export async function keepLink(draft) {
  const {address} = await linkTo(draft, 0)
  if (!address) return
  const {hash} = new URL(address)
  know(hash) // the reader has run it
  history.replaceState(history.state, "", location.pathname + location.search + hash)
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

/**
 * @param {string} text
 * @throws {RangeError} It is too long.
 */
async function unpack(text) {
  if (text.length > MOST) throw new RangeError("a link that is too long")
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0))
  let unpacked = ""
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).pipeThrough(new TextDecoderStream())
  for (const reader = stream.getReader(); ; ) {
    const {done, value} = await reader.read()
    if (done) return unpacked
    unpacked += value
    if (unpacked.length > MOST_UNPACKED) throw new RangeError("a draft that is too long")
  }
}
