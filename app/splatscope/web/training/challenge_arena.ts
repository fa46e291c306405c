// What plays a round of a challenge: the reader's own GPU, or the server where the browser offers none.
import {bytesIn} from "#web/drawing/live.ts"
import {context2d} from "#web/drawing/pixels.ts"
import {gpu} from "#web/runtime/gpu.ts"
import {blobAt, jsonAt} from "#web/runtime/sources.ts"
import type {TrainingKernels} from "#components"
import type {Model} from "#web/types.ts"
import {FIELDS, type Photograph, type Settings} from "./browser/gaussians.ts"
import {bitmap, photographOf} from "./browser/photograph.ts"
import {kernelsOn, type State, Trainer} from "./browser/trainer.ts"

export type Target = "fish" | "photograph"

/** The settings of a round. */
export interface Round {
  target: Target
  /** The Gaussians to begin with, one field after the other; null for a random start. */
  raw: Float32Array<ArrayBuffer> | null
  blobs: number
  seed: number
  growth: boolean
  /** Times the usual step sizes. */
  rate: number
  /** 0 to draw only. */
  iterations: number
}

/** What came of it. */
export interface Outcome {
  iteration: number
  psnr: number
  raw: Float32Array<ArrayBuffer>
  picture: Blob
}

export interface Arena {
  size: readonly [width: number, height: number]
  /**
   * Play a round, after those that were asked for before.
   * @param tell  called with what there is meanwhile, if the device says so
   * @param signal  ends the round early, if it is played here
   * @throws {Error}  one line, for the reader
   */
  play(round: Round, tell?: (now: Outcome) => void, signal?: AbortSignal): Promise<Outcome>
  /** The picture to come close to. */
  target(which: Target): Promise<Blob>
  /** Where rounds are played, in words; "" if nowhere. */
  where: Promise<string>
}

/** What awaits a round that the server plays. */
interface Waiting {
  resolve: (outcome: Outcome) => void
  reject: (reason: Error) => void
  iterations: number
}

const LONGEST = 128 // px of the photograph
const SLICE = 60 // ms of training between two pictures
export const PHOTOGRAPH = "chelsea.jpg"

export function arenaFor(model: Model<"Challenge">): Arena {
  const fish = Float32Array.from(model.fish)
  const [width, height] = model.fish_size
  const targets = new Map<Target, Promise<Photograph>>()
  const trainers = new Map<Target, Promise<Trainer>>() // those that draw what is in hand
  const waiting = new Map<number, Waiting>() // rounds that the server plays, by their numbers
  let number = 0
  let turn: Promise<unknown> = Promise.resolve()

  const target = (which: Target) => {
    const known = targets.get(which)
    if (known) return known
    const made =
      which === "fish" ? drawnFish() : blobAt(model.samples[PHOTOGRAPH]).then((file) => photographOf(file, PHOTOGRAPH, LONGEST))
    targets.set(which, made)
    made.catch(() => targets.delete(which))
    return made
  }
  const trainer = async (photograph: Photograph, round: Round) => {
    const device = await gpu()
    if (!device) throw new Error("The browser offers no GPU any more: reload the page.")
    const {blobs, seed, growth, rate} = round
    const rates = model.rates.map((usual) => rate * usual) as Settings["rates"]
    const settings: Settings = {
      blobs,
      seed,
      growth,
      kernels: kernelsOn(device)[0],
      iterations: Math.max(1, round.iterations),
      rates,
    }
    return Trainer.on(
      device,
      await jsonAt<TrainingKernels>(model.kernels),
      photograph,
      settings,
      round.raw ? stateOf(round.raw) : undefined,
    )
  }
  /** The fish, as its own Gaussians draw it. */
  const drawnFish = async () => {
    const black: Photograph = {name: "fish", width, height, data: new Uint8ClampedArray(4 * width * height)}
    const painter = await trainer(black, {...SETTLED, target: "fish", raw: fish})
    const {picture} = await painter.look()
    painter.close()
    const bytes = bytesIn(picture)
    const data = new Uint8ClampedArray(4 * width * height).map((_, i) => (i % 4 === 3 ? 255 : bytes[3 * (i >> 2) + (i % 4)]))
    return {...black, data}
  }
  const outcomeOf = async (made: Trainer): Promise<Outcome> => {
    const look = await made.look()
    const picture = new Blob([bitmap(look.width, look.height, bytesIn(look.picture))])
    return {iteration: look.iteration, psnr: look.psnr, raw: look.raw, picture}
  }

  const here = async (round: Round, tell?: (now: Outcome) => void, signal?: AbortSignal) => {
    const photograph = await target(round.target)
    if (!round.iterations && round.raw) {
      const known = trainers.get(round.target) ?? trainer(photograph, round)
      trainers.set(round.target, known)
      try {
        const made = await known
        made.put(round.raw)
        return await outcomeOf(made)
      } catch (reason) {
        trainers.delete(round.target) // the next round has another, on another device if this one was lost
        throw reason
      }
    }
    const made = await trainer(photograph, round)
    try {
      while (made.iteration < round.iterations && !signal?.aborted) {
        await made.advance(SLICE, round.iterations)
        tell?.(await outcomeOf(made))
      }
      return await outcomeOf(made)
    } finally {
      made.close()
    }
  }
  const there = (round: Round) =>
    new Promise<Outcome>((resolve, reject) => {
      const {raw, ...others} = round
      waiting.set(++number, {resolve, reject, iterations: round.iterations})
      model.send_msg({type: "play", number, raw: [...(raw ?? [])], ...others})
    })
  model.on("played", () => {
    const {number, psnr, raw, picture} = model.played
    const round = number === undefined ? undefined : waiting.get(number)
    if (number === undefined || !round) return
    waiting.delete(number)
    const file = new Blob([Uint8Array.from(atob(picture), (letter) => letter.charCodeAt(0))])
    round.resolve({iteration: round.iterations, psnr, raw: Float32Array.from(raw), picture: file})
  })
  model.on("error", () => {
    if (!model.error) return
    for (const {reject} of waiting.values()) reject(new Error(model.error))
    waiting.clear()
  })
  const play = (round: Round, tell?: (now: Outcome) => void, signal?: AbortSignal) => {
    const act = async () => ((await gpu()) ? here(round, tell, signal) : there(round))
    const made = turn.then(act, act) // one after the other: they share a device
    turn = made
    return made
  }

  return {
    size: [width, height],
    async target(which) {
      if (await gpu()) {
        const {width, height, data} = await target(which)
        return new Blob([bitmap(width, height, bytesIn(data, 255))])
      }
      if (which === "photograph") return blobAt(model.samples[PHOTOGRAPH])
      return (await play({...SETTLED, target: which, raw: fish})).picture
    },
    where: gpu().then((device) => (device ? "your own GPU" : model.server)),
    play,
  }
}

const SETTLED: Omit<Round, "target" | "raw"> = {blobs: 10, seed: 1, growth: false, rate: 1, iterations: 0}

const stateOf = (raw: Float32Array<ArrayBuffer>): State => ({
  iteration: 0,
  seconds: 0,
  raw,
  firstMoment: new Float32Array(raw.length),
  secondMoment: new Float32Array(raw.length),
})

/** The raw values of Gaussian i, one for each field. */
export const rowOf = (raw: Float32Array, i: number) =>
  Array.from({length: FIELDS}, (_, field) => raw[field * (raw.length / FIELDS) + i])

/** Show in a canvas what a challenge is to reach. It fails, and says why, where nothing can play it. */
export async function showGoal(arena: Arena, target: Target, canvas: HTMLCanvasElement) {
  if (!(await arena.where))
    throw new Error("This needs a browser that offers its GPU (WebGPU), or the app on a computer of your own.")
  await drawInto(canvas, await arena.target(target))
}

/** Show a picture in a canvas of its own size. */
export async function drawInto(canvas: HTMLCanvasElement, picture: Blob) {
  const image = await createImageBitmap(picture)
  canvas.width = image.width
  canvas.height = image.height
  context2d(canvas).drawImage(image, 0, 0)
  image.close()
}
