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
        behind: Uint32Array.from({length: pixels * names.length}, (_, place) => behind(place, size, names, photograph)),
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

/** What lies behind a pixel, red in the lowest eight bits, as `background()` says. */
function behind(place: number, [width, height]: Facts["size"], names: string[], photograph: string) {
  const pixel = place % (width * height)
  const [x, y] = [pixel % width, Math.floor(pixel / width)]
  const grey = (light: number) => light * 0x10101
  switch (names[Math.floor(place / (width * height))]) {
    case "white":
      return grey(255)
    case "checkerboard":
      return grey((Math.floor(x / 6) + Math.floor(y / 6)) % 2 ? 214 : 120)
    case "photograph": {
      const [red, green, blue] = photographIn(photograph, width, height).subarray(4 * pixel)
      return red | (green << 8) | (blue << 16)
    }
  }
  return 0
}

let unpacked: Uint8ClampedArray | null = null

function photographIn(bytes: string, width: number, height: number) {
  unpacked ??= pixelsOf(bytes, width, height).data
  return unpacked
}
