// The reader's own GPU. A kernel that records itself (splatscope/tracing/browser_kernel.py) runs here on arrays, without a server.

/** A uniform: its dotted name, its first byte in the block, its type in WGSL. */
interface Field {
  name: string
  offset: number
  type: string
}

/** A buffer or, with a size in bytes and fields, a block of uniforms. */
interface Binding {
  name: string
  group: number
  binding: number
  size: number
  fields: Field[]
}

/** A kernel as splatscope/tracing/browser_kernel.py describes it. */
export interface BrowserKernel {
  wgsl: string
  entry: string
  /** The threads of a workgroup in x, y and z. */
  size: number[]
  bindings: Binding[]
  batches: Record<number, number[]>
}

/** What a dispatch gets. Arrays are read as words; a uniform's numbers are rounded if its type is whole. */
export interface Inputs {
  buffers: Record<string, ArrayBufferView<ArrayBuffer>>
  uniforms: Record<string, number[]>
  groups: [number, number, number]
  /** The workgroup to record. */
  group: [number, number, number]
}

const BUDGET = 1_000_000 // iterations that a thread may make in all its loops together
const USAGE = {MAP_READ: 1, COPY_SRC: 4, COPY_DST: 8, UNIFORM: 64, STORAGE: 128} // WebGPU's GPUBufferUsage
const READ = 1 // its GPUMapMode

let opened: Promise<GPUDevice | null> | null = null

/** The reader's device; null without WebGPU, or where it has been lost. It is opened once. */
export function gpu() {
  opened ??= open()
  return opened
}

async function open() {
  try {
    const adapter = await navigator.gpu?.requestAdapter()
    if (!adapter) return null
    const {maxStorageBuffersPerShaderStage: buffers, maxStorageBufferBindingSize: bytes} = adapter.limits
    const limits = {maxStorageBuffersPerShaderStage: buffers, maxStorageBufferBindingSize: bytes}
    const features = (["subgroups"] as const).filter((name) => adapter.features.has(name))
    const device = await adapter.requestDevice({requiredLimits: limits, requiredFeatures: features})
    device.lost.then(() => {
      opened = Promise.resolve(null)
    })
    return device
  } catch {
    return null
  }
}

/** A kernel, compiled for the reader's device. */
export class Kernel {
  #buffers = new Map<string, GPUBuffer>()

  device
  about
  pipeline

  constructor(device: GPUDevice, about: BrowserKernel, pipeline: GPUComputePipeline) {
    this.device = device
    this.about = about
    this.pipeline = pipeline
  }

  /**
   * Compile a kernel.
   * @throws {Error}  the device refuses it
   */
  static async on(device: GPUDevice, about: BrowserKernel) {
    const module = device.createShaderModule({code: about.wgsl})
    const pipeline = await device.createComputePipelineAsync({layout: "auto", compute: {module, entryPoint: about.entry}})
    return new Kernel(device, about, pipeline)
  }

  /**
   * Dispatch the kernel once, and read back all its buffers.
   * @param room  how many records each thread of the recorded workgroup may write
   */
  async record({buffers, uniforms, groups, group}: Inputs, room: number) {
    const {device, about} = this
    const threads = about.size.reduce((product, n) => product * n)
    const starts = Uint32Array.from({length: threads + 1}, (_, thread) => 1 + thread * room)
    const own: Record<string, Uint32Array<ArrayBuffer>> = {
      _rec_records: new Uint32Array(4 * (1 + threads * room)),
      _rec_clock: new Uint32Array(2),
      _rec_starts: starts,
    }
    const numbers: Record<string, number[]> = {...uniforms, "_rec.chosen": group, "_rec.all": [0, 0, 0, 0], "_rec.budget": [BUDGET]}
    const before = Object.fromEntries(Object.entries(buffers).map(([name, data]) => [name, wordsOf(data)]))
    const encoder = device.createCommandEncoder()
    const pass = encoder.beginComputePass()
    pass.setPipeline(this.pipeline)
    const byGroup = Map.groupBy(about.bindings, ({group: number}) => number)
    for (const [number, bindings] of byGroup) {
      const entries = bindings.map((one) => {
        const words = one.size ? block(one, numbers) : (own[one.name] ?? before[one.name])
        if (!words) throw new Error(`The kernel reads ${one.name}, which is not given.`)
        return {binding: one.binding, resource: {buffer: this.#write(one.name, words, one.size > 0)}}
      })
      pass.setBindGroup(number, device.createBindGroup({layout: this.pipeline.getBindGroupLayout(number), entries}))
    }
    pass.dispatchWorkgroups(...groups)
    pass.end()
    // The buffers one behind the other in one that can be read.
    let end = 0
    const kept = ["_rec_records", ...Object.keys(before)].map((name) => {
      const buffer = this.#buffers.get(name)
      if (!buffer) throw new Error(`The kernel has no buffer ${name}.`)
      const start = end
      end += buffer.size
      return {name, buffer, start}
    })
    const back = device.createBuffer({size: end, usage: USAGE.MAP_READ | USAGE.COPY_DST})
    for (const {buffer, start} of kept) encoder.copyBufferToBuffer(buffer, 0, back, start, buffer.size)
    device.queue.submit([encoder.finish()])
    await back.mapAsync(READ)
    const all = back.getMappedRange().slice(0)
    back.destroy()
    const lengthOf = (name: string) => (own[name] ?? before[name]).length
    const after = Object.fromEntries(kept.map(({name, start}) => [name, new Uint32Array(all, start, lengthOf(name))]))
    const words = Object.fromEntries(
      this.#fields().map((field) => [field.name, [...wordsOf(typed(field, numbers[field.name] ?? [0]))]]),
    )
    return {records: after._rec_records, starts, before, after, uniforms: words}
  }

  /** Free the buffers. */
  close() {
    for (const buffer of this.#buffers.values()) buffer.destroy()
    this.#buffers.clear()
  }

  /** The uniforms of all blocks. */
  #fields() {
    return this.about.bindings.flatMap(({fields}) => fields)
  }

  /** Write words into the buffer of a name, which is made anew if its size changes. */
  #write(name: string, words: Uint32Array<ArrayBuffer>, isUniform: boolean) {
    const size = Math.max(16, words.byteLength)
    let buffer = this.#buffers.get(name)
    if (buffer?.size !== size) {
      buffer?.destroy()
      const usage = isUniform ? USAGE.UNIFORM : USAGE.STORAGE | USAGE.COPY_SRC
      buffer = this.device.createBuffer({size, usage: usage | USAGE.COPY_DST})
      this.#buffers.set(name, buffer)
    }
    this.device.queue.writeBuffer(buffer, 0, words)
    return buffer
  }
}

const wordsOf = (data: ArrayBufferView<ArrayBuffer>) => new Uint32Array(data.buffer, data.byteOffset, data.byteLength / 4)

/** A uniform's numbers in its own type. */
const typed = ({type}: Field, numbers: number[]) =>
  /f32/.test(type) ? Float32Array.from(numbers) : /i32/.test(type) ? Int32Array.from(numbers) : Uint32Array.from(numbers)

/** The words of a block of uniforms. Those that are not given are 0. */
function block({size, fields}: Binding, numbers: Record<string, number[]>) {
  const words = new Uint32Array(size / 4)
  for (const field of fields) words.set(wordsOf(typed(field, numbers[field.name] ?? [])), field.offset / 4)
  return words
}
