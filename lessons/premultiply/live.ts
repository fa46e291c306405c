// One layer over four backgrounds, in the reader's browser: what lesson.py gives its kernel, and what the drawing shows.
import kernel from "./kernel.wgsl.json" with {type: "json"}
import {bytesIn, type Found, type Live} from "#web/drawing/live.ts"
import {pixelsOf} from "#web/drawing/pixels.ts"
import type {Facts, Options} from "./drawing.ts"

interface Values {
  r: number
  g: number
  b: number
  a: number
  over: string
}

export const live: Live<Facts, Values, Options> = {
  kernel,

  inputs({r, g, b, a, over}, {photograph}, {size, names}) {
    const [width, height] = size
    const pixels = width * height
    const outputs = () => new Float32Array(4 * pixels * names.length)
    return {
      buffers: {
        behind: backgrounds(size, names, photograph),
        premultiplied: outputs(),
        straight: outputs(),
      },
      uniforms: {given: [r, g, b, a]},
      groups: [width, height, names.length],
      group: [width / 2, height / 2, names.indexOf(over)],
    }
  },

  facts(found, {over}, before) {
    const {size, names} = before
    const [width, height] = size
    const chosen = names.indexOf(over)
    const at = 4 * ((chosen * height + height / 2) * width + width / 2)
    const sum = (name: string) => [...found.floats(name).subarray(at, at + 3)]
    const pictures = {straight: bytesIn(found.floats("straight")), premultiplied: bytesIn(found.floats("premultiplied"))}
    const pixel = {
      gval: found.last("blendBoth", "gval"),
      wrong: found.last("blendBoth", "wrong"),
      right: found.last("blendBoth", "right"),
      through: found.last("blendBoth", "through"),
      straight: sum("straight"),
      premultiplied: sum("premultiplied"),
    }
    return {...before, chosen, pictures, pixel, stops: stopsIn(found)}
  },

  stops: stopsIn,
}

/** The steps at which the pixel gets each of its values, and the last. */
function stopsIn(found: Found) {
  const values = ["gval", "wrong", "right", "through"].map((name) => found.all("blendBoth", name).at(-1)?.step ?? 0)
  return [...values, found.recording.length]
}

/** What lies behind each pixel of each picture, red in the lowest eight bits, as `background()` says. */
function backgrounds([width, height]: Facts["size"], names: string[], photograph: string) {
  if (known) return known
  const pixels = width * height
  const {data} = pixelsOf(photograph, width, height)
  const grey = (light: number) => light * 0x10101
  const behind: Record<string, (pixel: number, x: number, y: number) => number> = {
    white: () => grey(255),
    checkerboard: (_, x, y) => grey((Math.floor(x / 6) + Math.floor(y / 6)) % 2 ? 214 : 120),
    photograph: (pixel) => data[4 * pixel] | (data[4 * pixel + 1] << 8) | (data[4 * pixel + 2] << 16),
  }
  known = new Uint32Array(pixels * names.length)
  for (const [i, name] of names.entries())
    for (let pixel = 0; pixel < pixels; pixel++)
      known[i * pixels + pixel] = behind[name]?.(pixel, pixel % width, Math.floor(pixel / width)) ?? 0
  return known
}

let known: Uint32Array<ArrayBuffer> | null = null // they are the same for all inputs
