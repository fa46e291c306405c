// Photographs: from a file to pixels, and from pixels to the bytes of a picture that an image element shows exactly.
import type {TrainingConstants} from "#components"
import {context2d} from "#web/drawing/pixels.ts"
import type {Photograph} from "./gaussians.ts"

/**
 * Read a picture, laid over white, and scale it down to a longest side in pixels.
 * @throws {Error}  one line, for the reader
 */
export async function photographOf(file: Blob, name: string, longest: number): Promise<Photograph> {
  const whole = await createImageBitmap(file).catch(() => {
    throw new Error(`${name} is no picture that this browser can read: choose a JPEG, PNG or WebP.`)
  })
  const factor = Math.min(1, longest / Math.max(whole.width, whole.height))
  const [width, height] = [whole.width, whole.height].map((side) => Math.max(1, Math.round(side * factor)))
  const scaled = await createImageBitmap(whole, {resizeWidth: width, resizeHeight: height, resizeQuality: "high"})
  const canvas = document.createElement("canvas")
  canvas.width = width
  canvas.height = height
  const context = context2d(canvas)
  context.fillStyle = "white"
  context.fillRect(0, 0, width, height)
  context.drawImage(scaled, 0, 0)
  whole.close()
  scaled.close()
  return {name, width, height, data: context.getImageData(0, 0, width, height).data}
}

/** Red, green and blue of a pixel as bytes. */
type Colour = (pixel: number) => readonly [number, number, number]

const HEAD = 54 // bytes of a bitmap file before its pixels

/** A picture as a bitmap file: nothing is lost, and nothing takes time. */
export function bitmap(width: number, height: number, colour: Colour) {
  const row = 4 * Math.ceil((3 * width) / 4)
  const bytes = new Uint8Array(HEAD + row * height)
  const view = new DataView(bytes.buffer)
  view.setUint16(0, 0x424d) // "BM"
  view.setUint32(2, bytes.length, true)
  view.setUint32(10, HEAD, true)
  view.setUint32(14, 40, true) // bytes of the second header
  view.setInt32(18, width, true)
  view.setInt32(22, -height, true) // rows from the top down
  view.setUint16(26, 1, true) // planes
  view.setUint16(28, 24, true) // bits a pixel
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [red, green, blue] = colour(y * width + x)
      bytes.set([blue, green, red], HEAD + y * row + 3 * x)
    }
  }
  return bytes
}

const byte = (part: number) => Math.round(255 * Math.min(1, Math.max(0, part)))

/** The colours of a picture of four floats a pixel. */
export const coloursOf =
  (picture: Float32Array): Colour =>
  (pixel) => [byte(picture[4 * pixel]), byte(picture[4 * pixel + 1]), byte(picture[4 * pixel + 2])]

/** The colours of an error map, on a square-root scale that shows small errors. */
export const heatOf =
  (error: Float32Array, {heat}: TrainingConstants): Colour =>
  (pixel) => {
    const place = Math.sqrt(Math.min(1, Math.max(0, error[pixel] || 0))) * (heat.length - 1)
    const [low, high] = [heat[Math.floor(place)], heat[Math.ceil(place)]]
    const [red, green, blue] = low.map((from, channel) => Math.floor(from + (place % 1) * (high[channel] - from)))
    return [red, green, blue]
  }
