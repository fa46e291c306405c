// Live pictures: encoded bytes are drawn at their own size, and each frame is acknowledged once it is on the canvas.
import {h, style} from "#web/runtime/dom.js"

/**
 * @import {Model, Render} from "#web/types.d.ts"
 * @typedef {object} Frames
 * @property {number} sequence  number of the newest frame
 * @property {ArrayBuffer | Uint8Array<ArrayBuffer> | null} frame  an encoded picture
 * @property {Record<string, string>} data  for the canvas's dataset
 * @property {string} alt
 */

/** @param {Render<Frames>} component */
export function render({model, el}) {
  style(el)
  const canvas = h("canvas", {width: 300, height: 200}) // space for most pictures until the first one arrives
  showFrames(model, canvas)
  return canvas
}

/**
 * Keep a canvas up to date with the model's newest frame.
 * @param {Model<Frames>} model
 * @param {HTMLCanvasElement} canvas
 * @param {(sequence: number) => void} drawn  called after each
 */
export function showFrames(model, canvas, drawn = () => {}) {
  let last = 0
  canvas.setAttribute("role", "img")

  const draw = async () => {
    const {sequence, frame, data, alt} = model
    if (sequence === last || !frame?.byteLength) return
    last = sequence
    let error = null
    try {
      const bitmap = await createImageBitmap(new Blob([frame]))
      if (canvas.width !== bitmap.width) canvas.width = bitmap.width
      if (canvas.height !== bitmap.height) canvas.height = bitmap.height
      canvas.getContext("2d")?.drawImage(bitmap, 0, 0)
      bitmap.close()
      for (const [name, value] of Object.entries(data)) canvas.dataset[name] = value
      canvas.setAttribute("aria-label", alt)
    } catch (reason) {
      error = String(reason)
    }
    model.send_msg({type: "drawn", sequence, error})
    drawn(sequence)
  }
  // the parts of a frame arrive one by one within a task, so wait until all are there
  const soon = () => queueMicrotask(draw)
  model.on("sequence", soon)
  for (const [name, value] of Object.entries(model.data)) canvas.dataset[name] = value
  canvas.setAttribute("aria-label", model.alt)
  draw()
}
