// The draft: what the user is working on. It is stored for the tab, and in the address as long as it fits.
//
// An address may come from anyone, so a kernel in it runs by itself only if this browser knows it: the reader has run it, or a link of
// the app has led to it. The links themselves are compared, because their hashes could be forged unless they were long.
import type * as components from "#components"
import {rememberedInTab, rememberedJson, rememberInTab, remember} from "./stored.ts"

const KEY = "splatscope-debugger"
const KNOWN = "splatscope-kernels" // key in the browser's storage: the ends of addresses and the classes whose kernels run by themselves
const MOST_KNOWN = 30
export const MOST = 16_000 // characters of a link
const MOST_UNPACKED = 4 * 2 ** 20 // characters of a draft

/** What the user is working on. */
export interface Draft extends components.Draft {
  /** Whether it came with a link and waits for the reader to run it. */
  asks?: boolean
}

/**
 * Note what runs by itself from now on.
 * @param mark  the end of an address, `#kernel=…`, or `class=CODE`
 */
export function know(mark: string) {
  remember(KNOWN, JSON.stringify([...known().filter((one) => one !== mark), mark].slice(-MOST_KNOWN)))
}

/** Whether this runs by itself. */
export const isKnown = (mark: string) => known().includes(mark)

function known(): string[] {
  const marks = rememberedJson(KNOWN)
  return Array.isArray(marks) ? marks : []
}

/**
 * Store a draft for the tab.
 * @returns whether the browser allows it
 */
export const saveDraft = (draft: Draft): boolean => rememberInTab(KEY, JSON.stringify(draft))

/** The part of the address with a kernel, "" for none. */
export const linked = () => (location.hash.startsWith("#kernel=") ? location.hash : "")

/** The draft in the address, else the tab's; null if there is neither. */
export async function loadDraft(): Promise<Draft | null> {
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
 * @returns @throws {TypeError} It has no source.
 */
function valid(text: string): Draft {
  const draft = JSON.parse(text)
  if (typeof draft?.source !== "string" || !draft.source) throw new TypeError("a draft without a source")
  return draft
}

/** The address of a draft and a step, "" if it would be too long, and its length. */
export async function linkTo(draft: Draft, step: number) {
  const packed = await pack(JSON.stringify(draft))
  const address = `${location.origin}${location.pathname}?page=debugger${step ? `&step=${step}` : ""}#kernel=${packed}`
  return {address: address.length > MOST ? "" : address, length: address.length}
}

/**
 * What the reader has run, for the part of an address after #; "" if another session could not record it: it is too long, or uses files
 * of this one.
 */
export async function hashOf(draft: Draft) {
  const files = Object.values(draft.inputs ?? {}).some((spec) => "array" in spec && spec.array)
  const {address} = draft.from_file || files ? {address: ""} : await linkTo(draft, 0)
  const hash = address && new URL(address).hash
  if (hash) know(hash)
  return hash
}

/** Store a draft in the address, if it fits, so that a reload, a bookmark and Back restore it. */
export async function keepLink(draft: Draft) {
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

async function through(stream: CompressionStream | DecompressionStream, bytes: Uint8Array<ArrayBuffer>) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer())
}

async function pack(text: string) {
  const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(text))
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "")
}

/** @throws {RangeError} It is too long. */
async function unpack(text: string) {
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
