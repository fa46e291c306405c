// A picture of Gaussians on a canvas, taken apart on the reader's own GPU as splatscope/splat/apart.py does it.
import {type Bound, encode, Kernel, read, upload, zeros} from "#web/runtime/gpu.ts"
import {context2d} from "#web/drawing/pixels.ts"
import type {OpeningKernels} from "#components"
import type {Gaussians} from "./gaussians.ts"

const WIDTHS = [384, 768, 1152] // pixels of the canvas
const [SLOW, QUICK] = [40, 12] // ms for a picture, beyond which the next is smaller, or larger
const THREADS = {gaussians: 64, pixels: 256} // of a workgroup

/** How far a picture is taken apart: all of it, and around the hand. */
export interface Apart {
  share: number
  /** In pixels of the fitted picture. */
  hand: [x: number, y: number]
  reach: number
}

export class Splats {
  #device
  #about
  #gaussians
  #context
  #kernels
  #whole: GPUBuffer
  #blobs: GPUBuffer
  #size = 0 // index into WIDTHS
  #drawing: {width: number; height: number; steps: [move: Bound, image: Bound, present: Bound]; buffers: GPUBuffer[]} | null = null

  private constructor(
    device: GPUDevice,
    about: OpeningKernels,
    gaussians: Gaussians,
    context: CanvasRenderingContext2D,
    kernels: Record<string, Kernel>,
  ) {
    this.#device = device
    this.#about = about
    this.#gaussians = gaussians
    this.#context = context
    this.#kernels = kernels
    this.#whole = upload(device, gaussians.raw)
    this.#blobs = zeros(device, gaussians.raw.byteLength)
  }

  /** @throws {Error}  the device refuses a kernel */
  static async on(device: GPUDevice, about: OpeningKernels, gaussians: Gaussians, canvas: HTMLCanvasElement) {
    const compiled = Object.entries(about.kernels).map(async ([name, kernel]) => [name, await Kernel.on(device, kernel)] as const)
    return new Splats(device, about, gaussians, context2d(canvas), Object.fromEntries(await Promise.all(compiled)))
  }

  /** Draw the picture. Resolves once it is drawn. */
  async draw({share, hand, reach}: Apart) {
    const device = this.#device
    const {size, count} = this.#gaussians
    const {width, height, steps, buffers} = this.#prepare()
    const [move, image, present] = steps
    move.set({
      "apart.share": [share],
      "apart.hand": hand,
      "apart.reach": [reach],
      "apart.size": size,
      "apart.zoom": [width / size[0]],
    })
    const encoder = device.createCommandEncoder()
    const [columns, rows] = this.#about.tile
    encode(encoder, [
      [move, [Math.ceil(count / THREADS.gaussians)]],
      [image, [Math.ceil(width / columns), Math.ceil(height / rows)]],
      [present, [Math.ceil((width * height) / THREADS.pixels)]],
    ])
    const began = performance.now()
    const [pixels] = await read(device, encoder, [buffers[buffers.length - 1]])
    const canvas = this.#context.canvas
    if (canvas.width !== width) Object.assign(canvas, {width, height})
    this.#context.putImageData(new ImageData(new Uint8ClampedArray(pixels), width, height), 0, 0)
    this.#pace(performance.now() - began)
  }

  close() {
    this.#free()
    for (const buffer of [this.#whole, this.#blobs]) buffer.destroy()
  }

  /** Choose the size of the next picture by how long this one took, in ms. */
  #pace(took: number) {
    const next = took > SLOW ? this.#size - 1 : took < QUICK ? this.#size + 1 : this.#size
    if (next === this.#size || !(next in WIDTHS)) return
    this.#size = next
    this.#free()
  }

  #free() {
    for (const step of this.#drawing?.steps ?? []) step.close()
    for (const buffer of this.#drawing?.buffers ?? []) buffer.destroy()
    this.#drawing = null
  }

  /** The kernels with the buffers of a picture of the current size. */
  #prepare() {
    if (this.#drawing) return this.#drawing
    const device = this.#device
    const {count, size} = this.#gaussians
    const width = WIDTHS[this.#size]
    const height = Math.round((width * size[1]) / size[0])
    const [columns, rows] = this.#about.tile
    const outputBuffer = zeros(device, 16 * width * height)
    const listLength = zeros(device, 4 * Math.ceil(width / columns) * Math.ceil(height / rows))
    const canvasBuffer = zeros(device, 4 * width * height)
    const all = {
      ...{wholeBuffer: this.#whole, blobsBuffer: this.#blobs, outputBuffer, listLength},
      ...{pictureBuffer: outputBuffer, canvasBuffer},
    }
    const uniforms = {"scene.size": [width, height], "scene.blobCount": [count], "scene.maxWeight": [this.#about.maxWeight]}
    const bound = (name: string) => this.#kernels[name].bind(all, uniforms)
    this.#drawing = {
      ...{width, height, buffers: [outputBuffer, listLength, canvasBuffer]},
      steps: [bound("takeApartMain"), bound("imageMain"), bound("presentMain")],
    }
    return this.#drawing
  }
}
