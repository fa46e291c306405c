// A scene in the reader's browser while the camera walks: what lesson.py gives the kernel, and what the drawing shows.
import kernel from "./kernel.wgsl.json" with {type: "json"}
import {bytesIn, type Found, type Live, sceneOf} from "#web/drawing/live.ts"
import type {Facts, Values} from "./drawing.ts"

const TILE = [8, 4] // pixels
const AWAY = 6
const FOCAL = 95
const VISIBLE = 1 / 255 // a smaller alpha changes no colour by a step
const STAGES = ["seen", "center", "arrow", "covariance", "conic"]

export const live: Live<Facts, Values> = {
  kernel,

  inputs({turn, tilt, order, pixel}, _options, {size, numbers, names}) {
    const [width, height] = size
    const radians = Math.PI / 180
    return {
      buffers: {
        numbers: Float32Array.from(numbers.flat()),
        ranks: Uint32Array.from(names.keys()),
        picture: new Float32Array(4 * width * height),
      },
      uniforms: {
        ...sceneOf(size, 0),
        turn: [turn * radians],
        tilt: [tilt * radians],
        away: [AWAY],
        focal: [FOCAL],
        byDepth: [order === "by depth" ? 1 : 0],
      },
      groups: [width / TILE[0], height / TILE[1], 1],
      group: [Math.floor(pixel[0] / TILE[0]), Math.floor(pixel[1] / TILE[1]), 0],
    }
  },

  facts(found, {pixel}, before) {
    const first = (name: string) => found.byThread("project", name).map((all) => all[0].numbers)
    return {
      ...before,
      pixel,
      picture: bytesIn(found.floats("picture")),
      centers: first("center"),
      arrows: found.byThread("project", "arrow").map((all) => all.map(({numbers}) => numbers)),
      depths: first("seen").map(([, , depth]) => depth),
      order: found.byThread("drawScene", "id")[0].map(({numbers}) => numbers[0]),
      alphas: found.byThread("drawScene", "layer").map((all) => all.map(({numbers}) => numbers[3])),
      ends: endsIn(found),
    }
  },

  stops(found, {ends, alphas}) {
    const counts = found.byThread("drawScene", "state.finalCount").map((all) => all.map(({numbers}) => numbers[0]))
    const isTaken = (turn: number) =>
      alphas.some((own, thread) => own[turn] >= VISIBLE && counts[thread][turn + 1] > counts[thread][turn])
    const [stages, turns] = [ends.slice(0, STAGES.length + 1), ends.slice(STAGES.length + 1)]
    const last = found.recording.threads - 1
    return [...stages, ...turns.filter((_, turn) => isTaken(turn)), found.writes("picture", last).at(-1) ?? 0]
  },
}

/** The steps at which the last thread ends each stage, the sort, and each turn of the loop. */
function endsIn(found: Found) {
  const last = (of: string, name: string) => found.byThread(of, name)[found.recording.threads - 1].map(({step}) => step)
  return [...STAGES.map((name) => last("project", name).at(-1) ?? 0), ...last("drawScene", "state.finalCount")]
}
