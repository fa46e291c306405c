// The reader's own GPU: kernels in WGSL run here on buffers, without a server.
import type {Binding, CompiledKernel, Field} from "#components"

/** Uniforms by their dotted names. Those that are not given are 0; numbers are rounded if the type is whole. */
export type Uniforms = Record<string, number[]>

const USAGE = {MAP_READ: 1, COPY_SRC: 4, COPY_DST: 8, UNIFORM: 64, STORAGE: 128} // WebGPU's GPUBufferUsage
const READ = 1 // its GPUMapMode
const LEAST = 16 // bytes of a buffer

let opened: Promise<GPUDevice | null> | null = null

/** The reader's device; null without WebGPU, or if it cannot be opened. It is opened once, and once more after it was lost. */
export function gpu() {
  opened ??= open()
  return opened
}

async function open() {
  try {
    const adapter = await navigator.gpu?.requestAdapter()
    if (!adapter) return null
    const {maxStorageBuffersPerShaderStage: buffers, maxStorageBufferBindingSize: bytes, maxBufferSize} = adapter.limits
    const limits = {maxStorageBuffersPerShaderStage: buffers, maxStorageBufferBindingSize: bytes, maxBufferSize}
    const features = (["subgroups"] as const).filter((name) => adapter.features.has(name))
    const device = await adapter.requestDevice({requiredLimits: limits, requiredFeatures: features})
    device.lost.then(() => {
      opened = null
    })
    return device
  } catch {
    return null
  }
}

/** A kernel, compiled for the reader's device. */
export class Kernel {
  device
  about
  #pipeline

  constructor(device: GPUDevice, about: CompiledKernel, pipeline: GPUComputePipeline) {
    this.device = device
    this.about = about
    this.#pipeline = pipeline
  }

  /**
   * Compile a kernel.
   * @param constants  specialization constants, by their numbers
   * @throws {Error}  the device refuses it
   */
  static async on(device: GPUDevice, about: CompiledKernel, constants: Record<string, number> = {}) {
    const module = device.createShaderModule({code: about.wgsl})
    const compute = {module, entryPoint: about.entry, constants}
    return new Kernel(device, about, await device.createComputePipelineAsync({layout: "auto", compute}))
  }

  /** Give it buffers, of which it takes those that it has, and uniforms. */
  bind(buffers: Record<string, GPUBuffer>, uniforms: Uniforms) {
    const {device} = this
    const blocks = new Map<Binding, GPUBuffer>()
    const byGroup = Map.groupBy(this.about.bindings, ({group: number}) => number)
    const groups = [...byGroup].map(([number, bindings]) => {
      const entries = bindings.map((one) => {
        if (one.size) blocks.set(one, device.createBuffer({size: one.size, usage: USAGE.UNIFORM | USAGE.COPY_DST}))
        const buffer = blocks.get(one) ?? buffers[one.name]
        if (!buffer) throw new Error(`The kernel reads ${one.name}, which is not given.`)
        return {binding: one.binding, resource: {buffer}}
      })
      return [number, device.createBindGroup({layout: this.#pipeline.getBindGroupLayout(number), entries})] as const
    })
    return new Bound(this, this.#pipeline, groups, blocks, uniforms)
  }

  /** The uniforms of all blocks. */
  get fields() {
    return this.about.bindings.flatMap(({fields}) => fields)
  }
}

/** A kernel with its buffers and uniforms. */
export class Bound {
  kernel
  #pipeline
  #groups
  #blocks
  #uniforms: Uniforms

  constructor(
    kernel: Kernel,
    pipeline: GPUComputePipeline,
    groups: (readonly [number, GPUBindGroup])[],
    blocks: Map<Binding, GPUBuffer>,
    uniforms: Uniforms,
  ) {
    this.kernel = kernel
    this.#pipeline = pipeline
    this.#groups = groups
    this.#blocks = blocks
    this.#uniforms = {}
    this.set(uniforms)
  }

  /** Change uniforms. What was submitted before has the earlier ones. */
  set(uniforms: Uniforms) {
    this.#uniforms = {...this.#uniforms, ...uniforms}
    for (const [block, buffer] of this.#blocks) this.kernel.device.queue.writeBuffer(buffer, 0, words(block, this.#uniforms))
  }

  /** Encode a dispatch of so many workgroups. */
  encode(pass: GPUComputePassEncoder, [x, y = 1, z = 1]: number[]) {
    pass.setPipeline(this.#pipeline)
    for (const [number, group] of this.#groups) pass.setBindGroup(number, group)
    pass.dispatchWorkgroups(x, y, z)
  }

  /** Free the uniforms. */
  close() {
    for (const buffer of this.#blocks.values()) buffer.destroy()
  }
}

/** The size of the buffer for so many bytes. */
export const sizeFor = (bytes: number) => Math.max(LEAST, 4 * Math.ceil(bytes / 4))

/** Encode dispatches, each of which sees what those before it have written. */
export function encode(encoder: GPUCommandEncoder, dispatches: (readonly [Bound, number[]])[]) {
  const pass = encoder.beginComputePass()
  for (const [bound, groups] of dispatches) bound.encode(pass, groups)
  pass.end()
}

/** A buffer of so many bytes, which are 0. */
export const zeros = (device: GPUDevice, bytes: number) =>
  device.createBuffer({size: sizeFor(bytes), usage: USAGE.STORAGE | USAGE.COPY_SRC | USAGE.COPY_DST})

/** A buffer that holds an array. */
export function upload(device: GPUDevice, data: ArrayBufferView<ArrayBuffer>) {
  const buffer = zeros(device, data.byteLength)
  device.queue.writeBuffer(buffer, 0, data)
  return buffer
}

const spare = new WeakMap<GPUDevice, GPUBuffer[]>() // buffers to read from, which nobody uses right now

/** A buffer of so many bytes to read from, or one up to twice as large that was used before. */
function readable(device: GPUDevice, bytes: number) {
  const known = spare.get(device) ?? []
  spare.set(device, known)
  const at = known.findIndex(({size}) => size >= bytes && size <= 2 * bytes)
  if (at >= 0) return known.splice(at, 1)[0]
  for (const buffer of known.splice(0)) buffer.destroy()
  return device.createBuffer({size: bytes, usage: USAGE.MAP_READ | USAGE.COPY_DST})
}

/** What buffers hold once all that was submitted and encoded is done. The encoder is submitted. */
export async function read(device: GPUDevice, encoder: GPUCommandEncoder, buffers: GPUBuffer[]): Promise<ArrayBuffer[]> {
  const ends: number[] = []
  for (const {size} of buffers) ends.push((ends.at(-1) ?? 0) + size)
  const back = readable(device, ends.at(-1) ?? LEAST)
  buffers.forEach((buffer, i) => encoder.copyBufferToBuffer(buffer, 0, back, ends[i] - buffer.size, buffer.size))
  device.queue.submit([encoder.finish()])
  await back.mapAsync(READ)
  const all = back.getMappedRange()
  const contents = buffers.map(({size}, i) => all.slice(ends[i] - size, ends[i]))
  back.unmap()
  spare.get(device)?.push(back)
  return contents
}

/** An array's 32-bit words. */
export const wordsOf = (data: ArrayBufferView<ArrayBuffer>) => new Uint32Array(data.buffer, data.byteOffset, data.byteLength / 4)

/** The words of a uniform's numbers in its own type. */
export function fieldWords({type}: Field, numbers: number[]) {
  return wordsOf(
    /f32/.test(type) ? Float32Array.from(numbers) : /i32/.test(type) ? Int32Array.from(numbers) : Uint32Array.from(numbers),
  )
}

/** The words of a block of uniforms. */
function words({size, fields}: Binding, uniforms: Uniforms) {
  const block = new Uint32Array(size / 4)
  for (const field of fields) block.set(fieldWords(field, uniforms[field.name] ?? []), field.offset / 4)
  return block
}
