// Draws trained Gaussians on the reader's own GPU, with the kernel that draws them on a server's.
import type {TrainingKernels} from "#components"
import {bytesIn} from "#web/drawing/live.ts"
import {encode, gpu, Kernel, read, upload, zeros} from "#web/runtime/gpu.ts"
import {FIELDS} from "./gaussians.ts"
import {bitmap} from "./photograph.ts"

/** A picture of Gaussians, of which the nearest can be drawn alone. */
export class Painter {
  #kernel
  #tile
  #raw
  #width
  #height
  #maxWeight

  private constructor(kernel: Kernel, {constants}: TrainingKernels, raw: Float32Array, width: number, height: number) {
    this.#kernel = kernel
    this.#tile = constants.tiledTile
    this.#maxWeight = constants.maxWeight
    this.#raw = raw
    this.#width = width
    this.#height = height
  }

  /**
   * A painter; null without WebGPU.
   * @param raw  the raw values of all Gaussians, one field after the other
   * @throws {Error}  the device refuses the kernel
   */
  static async of(files: TrainingKernels, raw: Float32Array, width: number, height: number) {
    const device = await gpu()
    return device && new Painter(await Kernel.on(device, files.kernels.imageMain), files, raw, width, height)
  }

  /** Draw the first `count` Gaussians. Returns a bitmap file. */
  async draw(count: number) {
    const [{device}, width, height, all] = [this.#kernel, this.#width, this.#height, this.#raw.length / FIELDS]
    const rows = Array.from({length: FIELDS}, (_, field) => [...this.#raw.subarray(field * all, field * all + count)])
    const [columns, lines] = [Math.ceil(width / this.#tile[0]), Math.ceil(height / this.#tile[1])]
    const buffers = {
      blobsBuffer: upload(device, Float32Array.from(rows.flat())),
      outputBuffer: zeros(device, 16 * width * height),
      listLength: zeros(device, 4 * columns * lines),
    }
    const uniforms = {"scene.size": [width, height], "scene.blobCount": [count], "scene.maxWeight": [this.#maxWeight]}
    const bound = this.#kernel.bind(buffers, uniforms)
    const encoder = device.createCommandEncoder()
    encode(encoder, [[bound, [columns, lines]]])
    const [picture] = await read(device, encoder, [buffers.outputBuffer])
    bound.close()
    for (const buffer of Object.values(buffers)) buffer.destroy()
    return bitmap(width, height, bytesIn(new Float32Array(picture)))
  }
}
