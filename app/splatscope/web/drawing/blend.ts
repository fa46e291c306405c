// Blends Gaussians in the browser as shaders/common/gaussian.slang and blending.slang do on a device: for the slider of the
// published book, and as a preview while the reader drags, until a kernel has painted the picture.

const FIELDS = 9 // per Gaussian: x, y, two log sizes, angle, red, green, blue, logit of the opacity
const MIN_SIZE = 0.3 // pixels added to each size
const SIGMAS = 4 // standard deviations beyond which a Gaussian is ignored
const MAX_WEIGHT = 0.99
const OPAQUE = 1 / 255 // the transmittance below which no further layer is blended into a pixel

/**
 * Blend the first `count` Gaussians over white, nearest first.
 * @param raw  their raw values, one field after the other
 * @param count  number of Gaussians to blend
 * @param width  of the picture in pixels
 * @returns red, green, blue and 255 for each pixel, row by row
 */
export function blend(raw: Float32Array, count: number, width: number, height: number): Uint8ClampedArray<ArrayBuffer> {
  const total = raw.length / FIELDS
  const light = new Float32Array(4 * width * height) // for each pixel: accumulated red, green, blue, and the transmittance
  for (let i = 3; i < light.length; i += 4) light[i] = 1
  for (let i = 0; i < Math.min(count, total); i++) {
    const field = (number: number) => raw[number * total + i]
    layer(light, width, height, field)
  }
  const pixels = new Uint8ClampedArray(light.length)
  for (let i = 0; i < light.length; i += 4) {
    for (let channel = 0; channel < 3; channel++) pixels[i + channel] = 255 * (light[i + channel] + light[i + 3])
    pixels[i + 3] = 255
  }
  return pixels
}

/** Blend one Gaussian behind what each pixel has accumulated. */
function layer(light: Float32Array, width: number, height: number, field: (number: number) => number) {
  const [x, y, angle] = [field(0), field(1), field(4)]
  const [sizeX, sizeY] = [MIN_SIZE + Math.exp(field(2)), MIN_SIZE + Math.exp(field(3))]
  const [cosine, sine] = [Math.cos(angle), Math.sin(angle)]
  const [red, green, blue, opacity] = [field(5), field(6), field(7), 1 / (1 + Math.exp(-field(8)))]
  // half the width and height of the box around the ellipse of that many standard deviations
  const reachX = SIGMAS * Math.hypot(cosine * sizeX, sine * sizeY)
  const reachY = SIGMAS * Math.hypot(sine * sizeX, cosine * sizeY)
  const [left, right] = [Math.max(0, Math.ceil(x - reachX)), Math.min(width - 1, Math.floor(x + reachX))]
  const [top, bottom] = [Math.max(0, Math.ceil(y - reachY)), Math.min(height - 1, Math.floor(y + reachY))]
  for (let row = top; row <= bottom; row++) {
    for (let column = left; column <= right; column++) {
      const at = 4 * (row * width + column)
      const transmittance = light[at + 3]
      if (transmittance < OPAQUE) continue
      const along = (cosine * (column - x) + sine * (row - y)) / sizeX
      const across = (cosine * (row - y) - sine * (column - x)) / sizeY
      const distance = along * along + across * across // in standard deviations, squared
      if (distance > SIGMAS * SIGMAS) continue
      const alpha = Math.min(MAX_WEIGHT, opacity * Math.exp(-0.5 * distance))
      light[at] += transmittance * alpha * red
      light[at + 1] += transmittance * alpha * green
      light[at + 2] += transmittance * alpha * blue
      light[at + 3] = transmittance * (1 - alpha)
    }
  }
}
