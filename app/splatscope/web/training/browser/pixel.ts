// What a pixel of a run in the browser is made of. A kernel says it, with the functions that training runs.
import type {Layer, TrainingKernels} from "#components"
import {encode, gpu, read, upload, zeros} from "#web/runtime/gpu.ts"
import {FIELDS, type Settings} from "./gaussians.ts"
import {compiled, type Look} from "./trainer.ts"

const FAINT = 1 / 255 // MIN_ALPHA of binned.slang: fainter layers are not blended

/** The layers that are blended at a pixel, the nearest first, and the pixel's colour; null without a GPU. */
export async function layersAt(files: TrainingKernels, {raw, width, height}: Look, at: number[], kernels: Settings["kernels"]) {
  const device = await gpu()
  if (!device) return null
  const count = raw.length / FIELDS
  const kernel = await compiled(device, "layersMain", files.kernels.layersMain)
  const buffers = {blobsBuffer: upload(device, raw), pixelLayers: zeros(device, 16 * (2 * count + 1))}
  const bound = kernel.bind(buffers, {
    "scene.size": [width, height],
    "scene.blobCount": [count],
    "scene.maxWeight": [files.constants.maxWeight],
    chosenPixel: at,
    leastAlpha: [kernels === "binned" ? FAINT : 0],
  })
  const encoder = device.createCommandEncoder()
  encode(encoder, [[bound, [1]]])
  const [bytes] = await read(device, encoder, [buffers.pixelLayers])
  bound.close()
  for (const buffer of Object.values(buffers)) buffer.destroy()
  const values = new Float32Array(bytes)
  const layers: Layer[] = []
  let before = 1
  for (let id = 0; id < count; id++) {
    const [red, green, blue, alpha, , , , after] = values.subarray(8 * id, 8 * id + 8)
    const colour = `rgb(${[red, green, blue].map((part) => Math.round(255 * part)).join(" ")})`
    if (after < before) layers.push([id, colour, alpha, before, after])
    before = after
  }
  return {layers, colour: [...values.subarray(8 * count, 8 * count + 3)]}
}
