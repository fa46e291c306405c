// Gaussians as a .ply file, as splatscope/splat/files/ply.py writes it, which says what its fields mean.
import {THINNEST} from "#web/drawing/live.ts"
import {FIELDS} from "./gaussians.ts"

const DEPTH = 2 ** -5 // units from the nearest to the farthest
const FLAT = 1e-4 // units
const SH_C0 = 0.5 / Math.sqrt(Math.PI)
const NAMES = [
  ...["x", "y", "z", "nx", "ny", "nz", "f_dc_0", "f_dc_1", "f_dc_2", "opacity"],
  ...["scale_0", "scale_1", "scale_2", "rot_0", "rot_1", "rot_2", "rot_3"],
]

/** @param raw  the raw values of all Gaussians, one field after the other */
export function plyOf(raw: Float32Array, width: number, height: number) {
  const count = raw.length / FIELDS
  const side = Math.max(width, height)
  const head = [
    "ply",
    "format binary_little_endian 1.0",
    `comment Splatscope: 2D Gaussians over white, picture ${width} x ${height} pixels, one unit is half its longer side`,
    "comment z is their order, near to far; y goes down",
    `element vertex ${count}`,
    ...NAMES.map((name) => `property float ${name}`),
    "end_header\n",
  ]
  const between = DEPTH / 2 ** Math.ceil(Math.log2(Math.max(count, 1)))
  const logScale = (logSize: number) => Math.log((2 * (THINNEST + Math.exp(logSize))) / side)
  const vertices = new DataView(new ArrayBuffer(4 * NAMES.length * count))
  for (let i = 0; i < count; i++) {
    const [x, y, size1, size2, angle, ...others] = Array.from({length: FIELDS}, (_, field) => raw[field * count + i])
    const [colour, opacity] = [others.slice(0, 3).map((part) => (part - 0.5) / SH_C0), others[3]]
    const place = [(2 * x + 1 - width) / side, (2 * y + 1 - height) / side, i * between]
    const scales = [logScale(size1), logScale(size2), Math.log(FLAT)]
    const turn = [Math.cos(angle / 2), 0, 0, Math.sin(angle / 2)]
    const values = [...place, 0, 0, 0, ...colour, opacity, ...scales, ...turn]
    values.forEach((value, at) => vertices.setFloat32(4 * (i * NAMES.length + at), value, true))
  }
  return new Blob([head.join("\n"), vertices])
}
