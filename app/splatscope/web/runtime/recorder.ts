// A kernel that records itself (splatscope/tracing/browser_kernel.py) runs here on arrays.
import {type Bound, encode, fieldWords, Kernel, read, sizeFor, type Uniforms, wordsOf, zeros} from "./gpu.ts"
import type {BrowserKernel} from "#components"

const RECORD = 16 // bytes

/** What a dispatch gets. Arrays are read as words. */
export interface Inputs {
  buffers: Record<string, ArrayBufferView<ArrayBuffer>>
  uniforms: Uniforms
  groups: [number, number, number]
  /** The workgroup to record. */
  group: [number, number, number]
}

/** Runs one kernel again and again, in the same buffers as long as their sizes stay. */
export class Recorder {
  #buffers: Record<string, GPUBuffer> = {}
  #bound: Bound[] = []
  #kernel
  #plain

  /** @param plain  the same kernel for all workgroups, of which the other records one; null if there is only that one */
  constructor(kernel: Kernel, plain: Kernel | null = null) {
    this.#kernel = kernel
    this.#plain = plain
  }

  /**
   * Compile a kernel.
   * @throws {Error}  the device refuses it
   */
  static async on(device: GPUDevice, about: BrowserKernel) {
    const kernels = [about, about.plain].map((one) => one && Kernel.on(device, one))
    const [kernel, plain] = await Promise.all(kernels)
    return new Recorder(kernel as Kernel, plain)
  }

  /** How many records each thread may write at most: the device binds no larger buffer. */
  get mostRoom() {
    const {device, about} = this.#kernel
    const threads = about.size.reduce((product, n) => product * n)
    return Math.floor((device.limits.maxStorageBufferBindingSize / RECORD - 1) / threads)
  }

  /**
   * Dispatch the kernel once, and read back all its buffers.
   * @param room  how many records each thread of the recorded workgroup may write
   */
  async record({buffers, uniforms, groups, group}: Inputs, room: number) {
    const {device, about, fields} = this.#kernel
    const threads = about.size.reduce((product, n) => product * n)
    const starts = Uint32Array.from({length: threads + 1}, (_, thread) => 1 + thread * room)
    const records = 4 * (1 + threads * room) // words
    const before = Object.fromEntries(Object.entries(buffers).map(([name, data]) => [name, wordsOf(data)]))
    const numbers: Uniforms = {...uniforms, "_rec.chosen": group, "_rec.all": [0, 0, 0, 0]}
    this.#buffer("_rec_records", 4 * records)
    this.#write({_rec_clock: new Uint32Array(2), _rec_starts: starts, ...before})
    if (!this.#bound.length)
      this.#bound = [this.#kernel, this.#plain].flatMap((kernel) => (kernel ? kernel.bind(this.#buffers, numbers) : []))
    else for (const bound of this.#bound) bound.set(numbers)
    const encoder = device.createCommandEncoder()
    encoder.clearBuffer(this.#buffers._rec_records)
    encode(
      encoder,
      this.#bound.map((bound, i) => [bound, i ? groups : [1]]),
    )
    const kept = ["_rec_records", ...Object.keys(before)]
    const contents = await read(
      device,
      encoder,
      kept.map((name) => this.#buffers[name]),
    )
    const lengthOf = (name: string) => (name === "_rec_records" ? records : before[name].length)
    const after = Object.fromEntries(kept.map((name, i) => [name, new Uint32Array(contents[i], 0, lengthOf(name))]))
    const words = Object.fromEntries(fields.map((field) => [field.name, [...fieldWords(field, numbers[field.name] ?? [0])]]))
    return {records: after._rec_records, starts, before, after, uniforms: words}
  }

  /** Free the buffers. */
  close() {
    for (const buffer of Object.values(this.#buffers)) buffer.destroy()
    this.#unbind()
    this.#buffers = {}
  }

  #unbind() {
    for (const bound of this.#bound) bound.close()
    this.#bound = []
  }

  /** Write arrays into the buffers of these names. */
  #write(arrays: Record<string, Uint32Array<ArrayBuffer>>) {
    for (const [name, words] of Object.entries(arrays))
      this.#kernel.device.queue.writeBuffer(this.#buffer(name, words.byteLength), 0, words)
  }

  /** The buffer of a name, which is made anew if its size changes. */
  #buffer(name: string, bytes: number) {
    if (this.#buffers[name]?.size !== sizeFor(bytes)) {
      this.#buffers[name]?.destroy()
      this.#buffers[name] = zeros(this.#kernel.device, bytes)
      this.#unbind()
    }
    return this.#buffers[name]
  }
}
