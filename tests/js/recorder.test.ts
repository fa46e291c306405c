// How much a kernel may record in a browser.
import assert from "node:assert/strict"
import {test} from "node:test"
import type {Kernel} from "#web/runtime/gpu.ts"
import {Recorder} from "#web/runtime/recorder.ts"

test("the records of all threads fit into the largest buffer that the device binds", () => {
  for (const bytes of [16 * 1024, 128 * 2 ** 20]) {
    const kernel = {device: {limits: {maxStorageBufferBindingSize: bytes}}, about: {size: [8, 4, 1]}}
    const {mostRoom} = new Recorder(kernel as unknown as Kernel)
    const bytesFor = (room: number) => 16 * (1 + 32 * room)
    assert.ok(bytesFor(mostRoom) <= bytes && bytesFor(mostRoom + 1) > bytes)
  }
})
