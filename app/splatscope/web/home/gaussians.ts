// The file of a picture's Gaussians, as splatscope/splat/apart.py packs it.

const FIELDS = 9
const HEAD = 12 // bytes: how many, width, height
const LEVELS = 65_535

/** Raw values, one field after the other, and the size in pixels of the picture to which they were fitted. */
export interface Gaussians {
  count: number
  size: [width: number, height: number]
  raw: Float32Array<ArrayBuffer>
}

export function unpack(data: ArrayBuffer): Gaussians {
  const view = new DataView(data)
  const [count, width, height] = [0, 4, 8].map((at) => view.getUint32(at, true))
  const raw = new Float32Array(FIELDS * count)
  for (let field = 0; field < FIELDS; field++) {
    const [low, high] = [0, 4].map((at) => view.getFloat32(HEAD + 8 * field + at, true))
    const codes = HEAD + 8 * FIELDS + 2 * field * count
    for (let i = 0; i < count; i++) raw[field * count + i] = low + ((high - low) * view.getUint16(codes + 2 * i, true)) / LEVELS
  }
  return {count, size: [width, height], raw}
}
