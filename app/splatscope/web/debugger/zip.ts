// Reads the directory of a zip, and its files on demand. Nothing in a zip is trusted: a file that unpacks to more than it declares,
// or to more than is allowed, is refused while unpacking.

const END = 0x06054b50,
  ENTRY = 0x02014b50,
  LOCAL = 0x04034b50
const DAMAGED = "The file is damaged or not a zip: pack it again."

type ZipEntry = {path: string; size: number; read: () => Promise<Uint8Array<ArrayBuffer>>}

/**
 * The files in a zip, without folders. Throws an Error with a message of one line.
 * @param most  bytes allowed in a file
 * @param entries  number of files allowed
 */
export function unzip(bytes: Uint8Array<ArrayBuffer>, most: number, entries: number): ZipEntry[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    let end = bytes.length - 22
    while (end >= 0 && view.getUint32(end, true) !== END) end--
    if (end < 0) throw new RangeError()
    const total = view.getUint16(end + 10, true)
    if (total > entries)
      throw new Error(`The zip holds ${total.toLocaleString("en")} files; up to ${entries.toLocaleString("en")} are allowed.`)
    const found: ZipEntry[] = []
    let at = view.getUint32(end + 16, true)
    for (let i = 0; i < total; i++) {
      if (view.getUint32(at, true) !== ENTRY) throw new RangeError()
      const [name, extra, comment] = [28, 30, 32].map((offset) => view.getUint16(at + offset, true))
      const path = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + name))
      const flags = view.getUint16(at + 8, true),
        method = view.getUint16(at + 10, true),
        packed = view.getUint32(at + 20, true),
        size = view.getUint32(at + 24, true),
        local = view.getUint32(at + 42, true)
      if (!path.endsWith("/")) found.push({path, size, read: () => read(path, flags, method, local, packed, size)})
      at += 46 + name + extra + comment
    }
    return found
  } catch (error) {
    if (error instanceof RangeError) throw new Error(DAMAGED)
    throw error
  }

  async function read(
    path: string,
    flags: number,
    method: number,
    local: number,
    packed: number,
    size: number,
  ): Promise<Uint8Array<ArrayBuffer>> {
    if (flags & 1) throw new Error(`${path} is encrypted: pack it without a password.`)
    if (size > most)
      throw new Error(`${path} has ${size.toLocaleString("en")} bytes; a source may have ${most.toLocaleString("en")}.`)
    if (local + 30 > bytes.length || view.getUint32(local, true) !== LOCAL) throw new Error(DAMAGED)
    const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true)
    if (start + packed > bytes.length) throw new Error(DAMAGED)
    const body = bytes.slice(start, start + packed)
    if (method === 0 && packed === size) return body
    if (method !== 8) throw new Error(method ? `${path} uses a compression that is not supported: use a plain zip.` : DAMAGED)
    return inflated(path, body, size)
  }
}

/** Unpack a file, and stop as soon as it is longer than declared. */
async function inflated(path: string, body: Uint8Array<ArrayBuffer>, size: number) {
  const out = new Uint8Array(size)
  const reader = new Blob([body]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader()
  let length = 0
  try {
    for (;;) {
      const {done, value} = await reader.read()
      if (done) break
      if (length + value.length > size)
        throw new Error(`${path} unpacks to more than the zip declares: it is damaged or malicious.`)
      out.set(value, length)
      length += value.length
    }
  } catch (error) {
    await reader.cancel().catch(() => {})
    throw error instanceof TypeError ? new Error(DAMAGED) : error
  }
  if (length !== size) throw new Error(DAMAGED)
  return out
}
