// The files of the published book. They are scripts, since from a disk a browser reads nothing else; each calls
// `bookFile(name, content)`.

/** @type {Map<string, {promise: Promise<any>, given: (content: unknown) => void}>} */
const files = new Map()

/** The page whose figure alone this document shows, in somebody else's page; undefined for the book itself. */
export const embedded = () => document.documentElement.dataset.embed

Object.assign(window, {
  bookFile(/** @type {string} */ name, /** @type {unknown} */ content) {
    files.get(name)?.given(content)
  },
})

/**
 * Load a file, once.
 * @param {string} name  without its ending
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
      files.delete(name) // the next one to ask tries again
      reject(new Error(`${name}.js cannot be loaded.`))
    }
    document.head.append(script)
  })
  files.set(name, {promise, given})
  return promise
}

/**
 * Load a long value: JSON, compressed.
 * @param {string} name
 */
export async function loadValue(name) {
  const packed = new Blob([await loadBytes(name)]).stream().pipeThrough(new DecompressionStream("deflate"))
  return new Response(packed).json()
}

/**
 * Load a recording.
 * @param {string} name
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
export async function loadBytes(name) {
  return Uint8Array.from(atob(await load(name)), (character) => character.charCodeAt(0))
}
