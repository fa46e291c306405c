// One position for two recordings in lockstep: the same event of both, or the same event of the same epoch.

/** @import {Recording} from "#web/stepper/model/recording.js" */

/** A joint position is one of the longer recording, part by part; the whole is one part, or each epoch is. */
export class Alignment {
  /**
   * @param {Recording[]} recordings
   * @param {boolean} byEpoch  part by part of an epoch
   */
  constructor(recordings, byEpoch) {
    this.bounds = recordings.map((recording) => (byEpoch ? epochs(recording) : [0, recording.length])) // of each recording, where its epochs begin, and its end
    const parts = Math.max(...this.bounds.map((bounds) => bounds.length - 1))
    this.starts = [0]
    for (let k = 0; k < parts; k++)
      this.starts.push(this.starts[k] + Math.max(...this.bounds.map((bounds) => (bounds[k + 1] ?? 0) - (bounds[k] ?? 0))))
    this.length = this.starts[parts]
  }

  /**
   * Where a recording stands at a joint position.
   * @param {number} which  0 or 1
   * @param {number} position
   */
  at(which, position) {
    const bounds = this.bounds[which],
      k = this.#part(this.starts, position)
    if (k >= bounds.length - 1) return bounds[bounds.length - 1]
    return Math.min(bounds[k] + position - this.starts[k], bounds[k + 1])
  }

  /**
   * The joint position at which a recording stands at one of its own.
   * @param {number} which  0 or 1
   * @param {number} position
   */
  of(which, position) {
    const bounds = this.bounds[which],
      k = this.#part(bounds, position)
    return this.starts[k] + position - bounds[k]
  }

  /**
   * The part in which so many events end: its own last one belongs to it, not to the next.
   * @param {number[]} starts
   * @param {number} position
   */
  #part(starts, position) {
    return Math.max(
      0,
      starts.findLastIndex((start, k) => k < starts.length - 1 && start < position),
    )
  }
}

/**
 * Positions in lockstep at which the epochs begin, and the end.
 * @param {Recording} recording
 */
function epochs(recording) {
  const bounds = [0],
    {order} = recording.lockstep
  for (let p = 0; p < recording.length; p++) while (recording.epoch[order[p]] >= bounds.length) bounds.push(p)
  bounds.push(recording.length)
  return bounds
}
