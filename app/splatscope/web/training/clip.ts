// The pictures of a run beside their target, as a film that the browser encodes.
import {context2d} from "#web/drawing/pixels.ts"

const MOST = 120 // pictures; beyond that or MOST_BYTES, every second one is dropped
const MOST_BYTES = 48e6 // the browser's own runs give bitmaps, which are not compressed
const RATE = 20 // pictures a second
const LAST = 1500 // ms for which the last one stays
const [GAP, LABEL, LEAST] = [8, 28, 256] // px: between the pictures, of the line above them, of a picture's width at least
const TYPES = ["video/mp4;codecs=avc1.42E01E", "video/mp4", "video/webm;codecs=vp9", "video/webm"]

/** The type of film that this browser encodes; "" for none. */
export const filmType = () => TYPES.find((type) => globalThis.MediaRecorder?.isTypeSupported(type)) ?? ""

export class Clip {
  frames: {picture: Blob; iteration: number}[] = []
  #every = 1 // of which pictures one is kept
  #seen = 0

  /** Keep a picture of the run; one of an earlier iteration begins another film. */
  add(picture: Blob, iteration: number) {
    const last = this.frames.at(-1)?.iteration ?? -1
    if (iteration < last) this.clear()
    if (iteration === last || this.#seen++ % this.#every) return
    this.frames.push({picture, iteration})
    const bytes = this.frames.reduce((sum, {picture}) => sum + picture.size, 0)
    if (this.frames.length <= MOST && bytes <= MOST_BYTES) return
    this.frames = this.frames.filter((_, i) => i % 2 === 0)
    this.#every *= 2
  }

  clear() {
    this.frames = []
    this.#every = 1
    this.#seen = 0
  }

  /**
   * Encode the film, which takes as long as it lasts.
   * @param tell  called with the share that is done
   * @throws {Error}  this browser encodes none
   */
  async film(target: Blob | null, tell: (share: number) => void): Promise<Blob> {
    const type = filmType()
    if (!type) throw new Error("This browser cannot encode films.")
    const beside = target && (await createImageBitmap(target))
    const canvas = document.createElement("canvas")
    const context = context2d(canvas)
    const parts: Blob[] = []
    let recorder: MediaRecorder | null = null
    for (const [i, {picture, iteration}] of this.frames.entries()) {
      const image = await createImageBitmap(picture)
      const scale = Math.max(1, Math.round(LEAST / image.width))
      const [width, height] = [scale * image.width, scale * image.height]
      if (!recorder) {
        const even = (side: number) => 2 * Math.ceil(side / 2) // as encoders want it
        Object.assign(canvas, {width: even(beside ? 2 * width + GAP : width), height: even(height + LABEL)})
        recorder = new MediaRecorder(canvas.captureStream(RATE), {mimeType: type, videoBitsPerSecond: 6e6})
        recorder.ondataavailable = ({data}) => parts.push(data)
        recorder.start()
      }
      context.fillStyle = "#fff"
      context.fillRect(0, 0, canvas.width, canvas.height)
      context.imageSmoothingEnabled = false
      context.drawImage(image, 0, LABEL, width, height)
      if (beside) context.drawImage(beside, width + GAP, LABEL, width, height)
      context.fillStyle = "#1a1c20"
      context.font = "16px sans-serif"
      context.fillText(`Iteration ${iteration.toLocaleString("en")}`, 4, 20)
      if (beside) context.fillText("Target", width + GAP + 4, 20)
      image.close()
      tell((i + 1) / this.frames.length)
      await wait(i + 1 < this.frames.length ? 1000 / RATE : LAST)
    }
    beside?.close()
    await stopped(recorder)
    return new Blob(parts, {type: type.split(";")[0]})
  }
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const stopped = (recorder: MediaRecorder | null) =>
  new Promise<void>((resolve) => {
    if (!recorder) return resolve()
    recorder.onstop = () => resolve()
    recorder.stop()
  })
