// Live pictures: encoded bytes are drawn at their own size, and each frame is acknowledged once it is on the canvas.
import {h, style} from "#web/runtime/dom.ts"
import type {Model, Render} from "#web/types.ts"

export function render({model, el}: Render<"Frame">) {
  style(el)
  const canvas = h("canvas", {width: 300, height: 200}) // space for most pictures until the first one arrives
  showFrames(model, canvas)
  return canvas
}

/**
 * Keep a canvas up to date with the model's newest frame.
 * @param drawn  called after each
 */
export function showFrames(model: Model<"Frame">, canvas: HTMLCanvasElement, drawn: (sequence: number) => void = () => {}) {
  let last = 0
  canvas.setAttribute("role", "img")

  const draw = async () => {
    const {sequence, frame, data, alt} = model
    if (sequence === last || !frame?.byteLength) return
    last = sequence
    try {
      const bitmap = await createImageBitmap(new Blob([frame]))
      if (canvas.width !== bitmap.width) canvas.width = bitmap.width
      if (canvas.height !== bitmap.height) canvas.height = bitmap.height
      canvas.getContext("2d")?.drawImage(bitmap, 0, 0)
      bitmap.close()
      for (const [name, value] of Object.entries(data)) canvas.dataset[name] = value
      canvas.setAttribute("aria-label", alt)
    } catch {
      /* a picture that cannot be drawn is acknowledged too, so that the next one comes */
    }
    model.send_msg({type: "drawn", sequence})
    drawn(sequence)
  }
  // the parts of a frame arrive one by one within a task, so wait until all are there
  const soon = () => queueMicrotask(draw)
  model.on("sequence", soon)
  for (const [name, value] of Object.entries(model.data)) canvas.dataset[name] = value
  canvas.setAttribute("aria-label", model.alt)
  draw()
}
