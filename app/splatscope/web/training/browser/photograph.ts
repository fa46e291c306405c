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
    const advice = "choose a JPEG, PNG or WebP, or one of fewer pixels"
    throw new Error(`${name} is no picture that this browser can read, or too large for it: ${advice}.`)
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

const HEAD = 54 // bytes of a bitmap file before its pixels

/**
 * A picture as a bitmap file: nothing is lost, and nothing takes time.
 * @param colours  red, green and blue of each pixel
 */
export function bitmap(width: number, height: number, colours: ArrayLike<number>) {
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
  for (let y = 0, from = 0; y < height; y++)
    for (let x = 0, at = HEAD + y * row; x < width; x++, from += 3, at += 3) {
      bytes[at] = colours[from + 2]
      bytes[at + 1] = colours[from + 1]
      bytes[at + 2] = colours[from]
    }
  return bytes
}

/** The colours of an error map, on a square-root scale that shows small errors. */
export function heatOf(error: Float32Array, {heat}: TrainingConstants) {
  const colours = new Uint8ClampedArray(3 * error.length)
  for (let pixel = 0, at = 0; pixel < error.length; pixel++) {
    const place = Math.sqrt(Math.min(1, Math.max(0, error[pixel] || 0))) * (heat.length - 1)
    const [low, high] = [heat[Math.floor(place)], heat[Math.ceil(place)]]
    for (let channel = 0; channel < 3; channel++)
      colours[at++] = Math.floor(low[channel] + (place % 1) * (high[channel] - low[channel]))
  }
  return colours
}
