// One joint position for two recordings in lockstep: the same event number in both, or the same event within the same epoch.
import type {Recording} from "#web/recording/recording.ts"

/** The recordings are aligned part by part: one part for the whole, or one for each epoch. A part is as long as the longer of the two. */
export class Alignment {
  bounds: number[][]
  starts: number[]
  length: number

  /** @param byEpoch  whether each epoch is a part */
  constructor(recordings: Recording[], byEpoch: boolean) {
    // for each recording, where its parts begin, and its end
    this.bounds = recordings.map((recording) => (byEpoch ? epochs(recording) : [0, recording.length]))
    const parts = Math.max(...this.bounds.map((bounds) => bounds.length - 1))
    this.starts = [0]
    for (let k = 0; k < parts; k++)
      this.starts.push(this.starts[k] + Math.max(...this.bounds.map((bounds) => (bounds[k + 1] ?? 0) - (bounds[k] ?? 0))))
    this.length = this.starts[parts]
  }

  /**
   * The position of a recording at a joint position.
   * @param which  0 or 1
   */
  at(which: number, position: number) {
    const bounds = this.bounds[which],
      k = this.#part(this.starts, position)
    if (k >= bounds.length - 1) return bounds[bounds.length - 1]
    return Math.min(bounds[k] + position - this.starts[k], bounds[k + 1])
  }

  /**
   * The joint position for a position of one recording.
   * @param which  0 or 1
   */
  of(which: number, position: number) {
    const bounds = this.bounds[which],
      k = this.#part(bounds, position)
    return this.starts[k] + position - bounds[k]
  }

  /** The part that contains a position. A part's last position belongs to it, not to the next part. */
  #part(starts: number[], position: number) {
    return Math.max(
      0,
      starts.findLastIndex((start, k) => k < starts.length - 1 && start < position),
    )
  }
}

/** Positions in lockstep at which the epochs begin, and the end. */
function epochs(recording: Recording) {
  const bounds = [0],
    {order} = recording.lockstep
  for (let p = 0; p < recording.length; p++) while (recording.epoch[order[p]] >= bounds.length) bounds.push(p)
  bounds.push(recording.length)
  return bounds
}
