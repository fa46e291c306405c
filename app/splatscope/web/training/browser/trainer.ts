// A training run on the reader's own GPU, as splatscope/splat/trainer.py runs it on a device of the server.
import type {CompiledKernel, TrainingKernels} from "#components"
import {messageOf} from "#web/runtime/dom.ts"
import {type Bound, encode, Kernel, read, sizeFor, type Uniforms, upload, zeros} from "#web/runtime/gpu.ts"
import {begin, FIELDS, grows, logSize, nextStage, type Photograph, placements, type Settings} from "./gaussians.ts"
import {randomFrom} from "./random.ts"

const SUBMIT = 40 // ms that a submission should take: the screen is drawn by the same device
const MOST = 256 // iterations in one
const ELLIPSE = 12 // words of an Ellipse of describe.slang in WGSL, whose vectors of three begin at multiples of four
const THREADS = {gaussians: 64, values: 256} // of a workgroup

/** A run's Gaussians with Adam's moments, and how far it is. */
export interface State {
  iteration: number
  seconds: number
  raw: Float32Array<ArrayBuffer>
  firstMoment: Float32Array<ArrayBuffer>
  secondMoment: Float32Array<ArrayBuffer>
}

/** A run as it is. */
export interface Look extends State {
  width: number
  height: number
  /** In dB, for the picture as a screen shows it. */
  psnr: number
  /** Four floats for each pixel. */
  picture: Float32Array<ArrayBuffer>
  /** The root mean square over the channels of each pixel's error. */
  error: Float32Array<ArrayBuffer>
  ellipses: Float32Array<ArrayBuffer>
}

/** How many iterations to submit at once, if so many took so many milliseconds. */
const paced = (count: number, took: number) =>
  Math.max(1, Math.min(MOST, Math.round(Math.min(2, SUBMIT / Math.max(1, took)) * count)))

/** Which kernels a device can run: the binned ones need waves. */
export const kernelsOn = (device: GPUDevice): Settings["kernels"][] =>
  device.features.has("subgroups") ? ["binned", "tiled"] : ["tiled"]

const onDevices = new WeakMap<GPUDevice, Map<string, Promise<Kernel>>>()

/** A kernel, compiled once for a device: each change of settings begins another run with the same ones. */
export function compiled(device: GPUDevice, name: string, about: CompiledKernel, waves = 1) {
  const known = onDevices.get(device) ?? new Map<string, Promise<Kernel>>()
  onDevices.set(device, known)
  const kernel = known.get(name) ?? Kernel.on(device, about, about.wgsl.includes("override") ? {0: waves} : {})
  known.set(name, kernel)
  kernel.catch(() => known.delete(name)) // so that the next run tries again
  return kernel
}

/** A dispatch: a kernel and its workgroups. */
type Step = readonly [Bound, number[]]

export class Trainer {
  iteration
  seconds
  #device
  #files
  #photograph
  #settings
  #random
  #buffers: Record<string, GPUBuffer>
  #bound = new Map<string, Bound>()
  #lanes: number
  #waves: number
  #capacity: number
  #perSubmit = 1
  #took = 0 // ms of the last submission

  /**
   * Begin a run, or go on with one.
   * @throws {Error}  the device cannot run these kernels; the message says why
   */
  static async on(device: GPUDevice, files: TrainingKernels, photograph: Photograph, settings: Settings, state?: State) {
    const trainer = new Trainer(device, files, photograph, settings, state)
    await trainer.#compile()
    return trainer
  }

  private constructor(device: GPUDevice, files: TrainingKernels, photograph: Photograph, settings: Settings, state?: State) {
    const {width, height, data} = photograph
    const pixels = width * height
    this.#device = device
    this.#files = files
    this.#photograph = photograph
    this.#settings = settings
    this.#random = randomFrom(settings.seed + (state?.iteration ?? 0))
    this.iteration = state?.iteration ?? 0
    this.seconds = state?.seconds ?? 0
    const {subgroupMinSize: narrow = 32, subgroupMaxSize: wide = 32} = device.adapterInfo ?? {}
    this.#lanes = wide <= 8 ? 8 : 32
    this.#waves = Math.max(1, this.#lanes / narrow)
    this.#capacity = Math.max(2 ** 16, files.constants.pairsPerGaussian * settings.blobs)
    const values = FIELDS * settings.blobs
    const raw = state?.raw ?? begin(photograph, settings, files.constants, this.#random)
    const target = Float32Array.from(data, (byte) => byte / 255)
    this.#buffers = {
      blobsBuffer: upload(device, raw),
      firstMoment: upload(device, state?.firstMoment ?? new Float32Array(values)),
      secondMoment: upload(device, state?.secondMoment ?? new Float32Array(values)),
      targetBuffer: upload(device, target),
      outputBuffer: zeros(device, 16 * pixels),
      errorMap: zeros(device, 4 * pixels),
      errorSums: zeros(device, 8 * this.#measures),
      ellipses: zeros(device, 4 * ELLIPSE * settings.blobs),
    }
    this.#buffers.referenceBuffer = this.#buffers.targetBuffer
    this.#buffers.pictureBuffer = this.#buffers.outputBuffer
    Object.assign(this.#buffers, settings.kernels === "binned" ? this.#binnedBuffers() : this.#tiledBuffers())
  }

  /** Train for at most so many milliseconds, but one submission, or up to an iteration. Returns how many iterations were made. */
  async advance(milliseconds: number, last = this.#settings.iterations) {
    const [from, started] = [this.iteration, performance.now()]
    let ended = started // when the submission before was done
    let underWay: Promise<unknown> | null = null
    const pace = () => {
      this.#took = performance.now() - ended
      this.#perSubmit = paced(this.#perSubmit, this.#took)
    }
    while (this.iteration < last && (this.iteration === from || performance.now() - started + this.#took < milliseconds)) {
      const stage = nextStage(this.#settings, this.iteration, this.#files.constants)
      this.#iterate(Math.min(Math.min(last, stage ?? last) - this.iteration, this.#perSubmit))
      const submitted = this.#device.queue.onSubmittedWorkDone()
      await underWay // one submission waits behind the one that runs
      if (underWay) pace()
      ended = performance.now()
      underWay = submitted
      if (this.iteration === stage) await this.#add()
    }
    await underWay
    if (this.iteration > from) pace()
    this.seconds += (performance.now() - started) / 1000
    await this.#grow()
    return this.iteration - from
  }

  /** Replace the raw values of all Gaussians. */
  put(raw: Float32Array<ArrayBuffer>) {
    if (this.#settings.kernels === "binned") this.#run(this.#listing()) // which takes what was counted for the old ones
    this.#device.queue.writeBuffer(this.#buffers.blobsBuffer, 0, raw)
    this.#run(this.#projecting())
  }

  /** Draw the picture, and measure it. */
  async look(): Promise<Look> {
    const device = this.#device
    const names = ["outputBuffer", "errorMap", "errorSums", "ellipses", "blobsBuffer", "firstMoment", "secondMoment"]
    const buffers = names.map((name) => this.#buffers[name])
    const encoder = device.createCommandEncoder()
    encode(encoder, [...this.#drawing(), ...this.#measuring()])
    const contents = await read(device, encoder, buffers)
    this.#run(this.#projecting())
    const [picture, error, sums, ellipses, raw, firstMoment, secondMoment] = contents.map((bytes) => new Float32Array(bytes))
    const {width, height} = this.#photograph
    const visible = this.#errorIn(sums, 1)
    const packed = ellipses.filter((_, i) => i % ELLIPSE !== 7 && i % ELLIPSE !== 11)
    const psnr = -10 * Math.log10(Math.max(visible / (3 * width * height), 1e-12))
    return {
      width,
      height,
      iteration: this.iteration,
      seconds: this.seconds,
      psnr,
      picture,
      error,
      ellipses: packed,
      raw,
      firstMoment,
      secondMoment,
    }
  }

  /** Free the device's memory. */
  close() {
    for (const buffer of new Set(Object.values(this.#buffers))) buffer.destroy()
    for (const bound of this.#bound.values()) bound.close()
  }

  async #compile() {
    const {kernels} = this.#files
    const entries =
      this.#settings.kernels === "tiled"
        ? ["clearDerivativesMain", "computeDerivativesMain", "updateBlobsMain", "imageMain"]
        : ["projectMain", "allocateMain", "scatterMain", "moveMain", "binnedDerivativesMain", "binnedImageMain"]
    const adding = grows(this.#settings) ? ["blockOddsMain", "tileWorthMain", "worthMain", "placeMain"] : []
    const all = [...entries, ...adding, "measureMain", "ellipsesMain"]
    const pipelines = all.map(async (entry) => {
      const name = entry in kernels ? entry : `${entry}/${this.#lanes}`
      return [entry, await compiled(this.#device, name, kernels[name], this.#waves)] as const
    })
    const made = await Promise.all(pipelines).catch((reason) => {
      throw new Error(`This GPU refuses the ${this.#settings.kernels} kernels: ${messageOf(reason).split("\n")[0]}`)
    })
    this.#compiled = new Map(made)
    this.#run(this.#projecting())
  }

  #compiled = new Map<string, Kernel>()

  /** A kernel with the run's buffers. */
  #kernel(entry: string) {
    let bound = this.#bound.get(entry)
    if (!bound) {
      const kernel = this.#compiled.get(entry)
      if (!kernel) throw new Error(`There is no kernel ${entry}.`)
      bound = kernel.bind(this.#buffers, this.#uniforms())
      this.#bound.set(entry, bound)
    }
    return bound
  }

  /** What all kernels are told, each its part. */
  #uniforms(): Uniforms {
    const {width, height} = this.#photograph
    const {constants} = this.#files
    const {blobs, iterations, rates} = this.#settings
    return {
      "scene.size": [width, height],
      "scene.blobCount": [blobs],
      "scene.maxWeight": [constants.maxWeight],
      "adam.rates": rates,
      "adam.beta1": [constants.beta1],
      "adam.beta2": [constants.beta2],
      "adam.epsilon": [constants.epsilon],
      "rateDecay.log2Factor": [Math.log2(constants.fall) / iterations],
      "rateDecay.lastStep": [iterations],
      pixelCount: [width * height],
      capacity: [this.#capacity],
      logSize: [logSize(constants.densifySize, this.#photograph, blobs)],
    }
  }

  #run(steps: Step[]) {
    if (!steps.length) return
    const encoder = this.#device.createCommandEncoder()
    encode(encoder, steps)
    this.#device.queue.submit([encoder.finish()])
  }

  // The dispatches, as in splatscope/splat/binned.py and sample_kernels.py.

  #iterate(count: number) {
    if (this.#settings.kernels === "binned") {
      const steps = [...this.#listing(), ...this.#tiles("binnedDerivativesMain"), ...this.#each("moveMain"), ...this.#projecting()]
      this.#run(Array.from({length: count}, () => steps).flat())
      this.iteration += count
      return
    }
    const {constants} = this.#files
    const {rates, iterations} = this.#settings
    for (let i = 0; i < count; i++) {
      const factor = constants.fall ** Math.min(1, ++this.iteration / iterations)
      this.#kernel("updateBlobsMain").set({"adam.rates": rates.map((rate) => rate * factor), "adam.step": [this.iteration]})
      this.#run([
        ...this.#values("clearDerivativesMain"),
        ...this.#tiles("computeDerivativesMain"),
        ...this.#values("updateBlobsMain"),
      ])
    }
  }

  #projecting() {
    return this.#settings.kernels === "binned" ? this.#each("projectMain") : []
  }

  #listing(): Step[] {
    const [columns, rows] = this.#tiling()
    return [[this.#kernel("allocateMain"), [Math.ceil((columns * rows) / THREADS.gaussians)]], ...this.#each("scatterMain")]
  }

  #drawing() {
    return this.#settings.kernels === "binned" ? [...this.#listing(), ...this.#tiles("binnedImageMain")] : this.#tiles("imageMain")
  }

  #measuring(): Step[] {
    const ellipses = Math.ceil(this.#settings.blobs / THREADS.values)
    return [
      [this.#kernel("measureMain"), [this.#measures]],
      [this.#kernel("ellipsesMain"), [ellipses]],
    ]
  }

  /** How many workgroups measure the picture. */
  get #measures() {
    const {width, height} = this.#photograph
    return Math.ceil((width * height) / this.#files.constants.measuredPixels)
  }

  /** The squared error of all pixels: 0, of the picture; 1, of what a screen shows of it. */
  #errorIn(sums: Float32Array, part: 0 | 1) {
    let sum = 0
    for (let group = 0; group < this.#measures; group++) sum += sums[2 * group + part]
    return sum
  }

  /** A kernel with a thread for each Gaussian. */
  #each = (entry: string): Step[] => [[this.#kernel(entry), [Math.ceil(this.#settings.blobs / THREADS.gaussians)]]]

  /** A kernel with a thread for each raw value. */
  #values = (entry: string): Step[] => [[this.#kernel(entry), [Math.ceil((FIELDS * this.#settings.blobs) / THREADS.values)]]]

  /** A kernel with a workgroup for each tile. */
  #tiles = (entry: string): Step[] => [[this.#kernel(entry), this.#tiling()]]

  #tiling() {
    const {tile, tiledTile} = this.#files.constants
    const [width, height] = this.#settings.kernels === "binned" ? [tile, tile] : tiledTile
    return [Math.ceil(this.#photograph.width / width), Math.ceil(this.#photograph.height / height)]
  }

  #tiledBuffers() {
    const [columns, rows] = this.#tiling()
    return {
      derivBuffer: zeros(this.#device, 4 * FIELDS * this.#settings.blobs),
      listLength: zeros(this.#device, 4 * columns * rows),
    }
  }

  #binnedBuffers() {
    const [columns, rows] = this.#tiling()
    const [tiles, {blobs}, device] = [columns * rows, this.#settings, this.#device]
    const {blockPixels} = this.#files.constants
    return {
      splats: zeros(device, 48 * blobs),
      tileCount: zeros(device, 4 * tiles),
      tileList: zeros(device, 8 * tiles),
      tileFill: zeros(device, 4 * tiles),
      tileOrder: upload(
        device,
        Uint32Array.from({length: tiles}, (_, tile) => tile),
      ),
      duplicatesOf: zeros(device, 8 * blobs),
      duplicateCount: zeros(device, 8),
      stepsDone: upload(device, Uint32Array.of(this.iteration)),
      blockOdds: zeros(device, 4 * Math.ceil((this.#photograph.width * this.#photograph.height) / blockPixels)),
      worth: zeros(device, 4 * blobs),
      placements: zeros(device, 24 * blobs),
      ...this.#lists(),
    }
  }

  /** Buffers for all lists, and for the partial sums of their entries, with a spare one that nothing reads. */
  #lists() {
    const sums = 4 * FIELDS * (this.#capacity + 1) * this.#waves
    if (sizeFor(sums) > this.#device.limits.maxStorageBufferBindingSize)
      throw new Error(
        "The lists of so many Gaussians do not fit into this GPU's buffers: choose fewer of them, or the tiled kernels.",
      )
    return {lists: zeros(this.#device, 8 * this.#capacity), partialSums: zeros(this.#device, sums)}
  }

  /** Enlarge the lists if they are nearly full. */
  async #grow() {
    if (this.#settings.kernels !== "binned") return
    const [counts] = await read(this.#device, this.#device.createCommandEncoder(), [this.#buffers.duplicateCount])
    const needed = Math.max(...new Uint32Array(counts))
    if (needed <= 0.75 * this.#capacity) return
    this.#capacity = 2 * needed
    const old = [this.#buffers.lists, this.#buffers.partialSums]
    Object.assign(this.#buffers, this.#lists())
    for (const bound of this.#bound.values()) bound.close()
    this.#bound.clear()
    for (const buffer of old) buffer.destroy()
  }

  /** Add Gaussians where the picture is wrong. */
  async #add() {
    const {constants} = this.#files
    const encoder = this.#device.createCommandEncoder()
    const pixels = this.#photograph.width * this.#photograph.height
    const find: Step[] = [
      [this.#kernel("blockOddsMain"), [Math.ceil(pixels / constants.blockPixels)]],
      ...this.#tiles("tileWorthMain"),
      ...this.#each("worthMain"),
    ]
    encode(encoder, [...this.#drawing(), ...this.#measuring(), ...find])
    const {blockOdds, worth, errorSums} = this.#buffers
    const [odds, worths, errors] = await read(this.#device, encoder, [blockOdds, worth, errorSums])
    const blocks = new Float32Array(odds, 0, Math.ceil(pixels / constants.blockPixels))
    const made = placements(
      this.#settings,
      this.iteration,
      new Float32Array(worths, 0, this.#settings.blobs),
      this.#errorIn(new Float32Array(errors), 0),
      blocks,
      constants,
      this.#random,
    )
    if (made.count) {
      this.#device.queue.writeBuffer(this.#buffers.placements, 0, made.words)
      const place = this.#kernel("placeMain")
      place.set({placementCount: [made.count]})
      this.#run([[place, [Math.ceil(made.count / THREADS.gaussians)]]])
    }
    this.#run(this.#projecting())
  }
}
