// Loads the files of the published book. They are scripts, because browsers load nothing else from a disk. Each one calls
// `bookFile(name, content)`.
import {bytesOf} from "#web/drawing/pixels.js"

/** @type {Map<string, {promise: Promise<any>, given: (content: unknown) => void}>} */
const files = new Map()

/** The page whose figure this document embeds; undefined for the book itself. */
export const embedded = () => document.documentElement.dataset.embed

Object.assign(window, {
  bookFile(/** @type {string} */ name, /** @type {unknown} */ content) {
    files.get(name)?.given(content)
  },
})

/**
 * Load a file, once.
 * @param {string} name  without its extension
 * @returns {Promise<any>} its content
 */
export function load(name) {
  const known = files.get(name)
  if (known) return known.promise
  let given = (/** @type {unknown} */ _) => {}
  const promise = new Promise((resolve, reject) => {
    given = resolve
    const script = document.createElement("script")
    script.src = `${embedded() ? "../" : ""}${name}.js`
    script.onerror = () => {
      files.delete(name) // so that the next request tries again
      reject(new Error(`${name}.js could not be loaded.`))
    }
    document.head.append(script)
  })
  files.set(name, {promise, given})
  return promise
}

/**
 * Load a long value, packed by long_values.py.
 * @param {string} name
 */
export async function loadValue(name) {
  const packed = new Blob([await loadBytes(name)]).stream().pipeThrough(new DecompressionStream("deflate"))
  const unpacked = await new Response(packed).arrayBuffer()
  const start = 4 + new DataView(unpacked).getUint32(0, true)
  const text = new TextDecoder().decode(new Uint8Array(unpacked, 4, start - 4))
  return JSON.parse(text, (_, value) => (value?.$bytes ? bytesAt(new Uint8Array(unpacked, start), value.$bytes) : value))
}

/**
 * Restore a picture's bytes from their differences over the given distances.
 * @param {Uint8Array<ArrayBuffer>} all
 * @param {[start: number, length: number, distances: number[]]} place
 */
function bytesAt(all, [start, length, distances]) {
  const bytes = all.slice(start, start + length)
  for (const distance of distances) for (let i = distance; i < length; i++) bytes[i] += bytes[i - distance]
  return bytes
}

/**
 * Load a recording.
 * @param {string} name
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
export async function loadBytes(name) {
  return bytesOf(await load(name))
}
