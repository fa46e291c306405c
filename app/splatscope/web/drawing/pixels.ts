// Decodes what Python sends in base64: pictures, as red, green and blue bytes of each pixel, and numbers, as float32.

/** Bytes that Python has sent in base64, or that the published book has unpacked already. */
export const bytesOf = (data: string | Uint8Array<ArrayBuffer>) =>
  typeof data === "string" ? Uint8Array.from(atob(data), (character) => character.charCodeAt(0)) : data

export const floatsOf = (data: string | Uint8Array<ArrayBuffer>) => new Float32Array(bytesOf(data).slice().buffer)

/**
 * Decode a picture, or one of several pictures of the same size.
 * @param pictures  bytes, in base 64 from Python, one picture after the other
 * @param index  which picture
 */
export function pixelsOf(pictures: string | Uint8Array<ArrayBuffer>, width: number, height: number, index = 0) {
  const bytes = bytesOf(pictures)
  const first = index * width * height * 3
  const image = new ImageData(width, height)
  for (let i = 0; i < width * height; i++)
    for (let c = 0; c < 4; c++) image.data[4 * i + c] = c < 3 ? bytes[first + 3 * i + c] : 255
  return image
}

/**
 * Paint a picture into a canvas of its size.
 * @param picture  bytes, in base 64 from Python
 */
export const paintPixels = (canvas: HTMLCanvasElement, picture: string | Uint8Array<ArrayBuffer>) =>
  context2d(canvas).putImageData(pixelsOf(picture, canvas.width, canvas.height), 0, 0)

/** A canvas's 2D context, which every browser has. */
export const context2d = (canvas: HTMLCanvasElement) => canvas.getContext("2d") as CanvasRenderingContext2D
