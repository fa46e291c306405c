// Loads the files of the published book. They are scripts, because browsers load nothing else from a disk. Each one calls
// `bookFile(name, content)`.
import {bytesOf} from "#web/drawing/pixels.ts"

const files = new Map<string, {promise: Promise<unknown>; given: (content: unknown) => void}>()

/** The page whose figure this document embeds; undefined for the book itself. */
export const embedded = () => document.documentElement.dataset.embed

Object.assign(window, {
  bookFile(name: string, content: unknown) {
    files.get(name)?.given(content)
  },
})

/**
 * Load a file, once.
 * @param name  without its extension
 * @returns its content, which for files of such names is of this type
 */
export function load<Content>(name: string): Promise<Content> {
  const known = files.get(name)
  if (known) return known.promise as Promise<Content>
  let given = (_: unknown) => {}
  const promise = new Promise<unknown>((resolve, reject) => {
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
  return promise as Promise<Content>
}

/** Load a long value, packed by long_values.py. */
export async function loadValue(name: string) {
  const packed = new Blob([await loadBytes(name)]).stream().pipeThrough(new DecompressionStream("deflate"))
  const unpacked = await new Response(packed).arrayBuffer()
  const start = 4 + new DataView(unpacked).getUint32(0, true)
  const text = new TextDecoder().decode(new Uint8Array(unpacked, 4, start - 4))
  return JSON.parse(text, (_, value) => (value?.$bytes ? bytesAt(new Uint8Array(unpacked, start), value.$bytes) : value))
}

/** Restore a picture's bytes from their differences over the given distances. */
function bytesAt(all: Uint8Array<ArrayBuffer>, [start, length, distances]: [start: number, length: number, distances: number[]]) {
  const bytes = all.slice(start, start + length)
  for (const distance of distances) for (let i = distance; i < length; i++) bytes[i] += bytes[i - distance]
  return bytes
}

/** Load a recording. */
export async function loadBytes(name: string): Promise<Uint8Array<ArrayBuffer>> {
  return bytesOf(await load(name))
}
