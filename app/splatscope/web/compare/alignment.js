// One position for two recordings in lockstep: the same event of both, or the same event of the same epoch.

export class Alignment {
  constructor(recordings, byEpoch) {
    this.bounds = recordings.map((recording) => (byEpoch ? epochs(recording) : [0, recording.length])) // of each recording, where its epochs begin, and its end
    const parts = Math.max(...this.bounds.map((bounds) => bounds.length - 1))
    this.starts = [0]
    for (let k = 0; k < parts; k++)
      this.starts.push(this.starts[k] + Math.max(...this.bounds.map((bounds) => (bounds[k + 1] ?? 0) - (bounds[k] ?? 0))))
    this.length = this.starts.at(-1)
  }

  // Where a recording stands at a joint position.
  at(which, position) {
    const bounds = this.bounds[which],
      k = this.#part(this.starts, position)
    if (k >= bounds.length - 1) return bounds.at(-1)
    return Math.min(bounds[k] + position - this.starts[k], bounds[k + 1])
  }

  // The joint position at which a recording stands at its own.
  of(which, position) {
    const bounds = this.bounds[which],
      k = this.#part(bounds, position)
    return this.starts[k] + position - bounds[k]
  }

  // The part in which so many events end: its own last one belongs to it, not to the next.
  #part(starts, position) {
    return Math.max(
      0,
      starts.findLastIndex((start, k) => k < starts.length - 1 && start < position),
    )
  }
}

function epochs(recording) {
  const bounds = [0],
    {order} = recording.lockstep
  for (let p = 0; p < recording.length; p++) while (recording.epoch[order[p]] >= bounds.length) bounds.push(p)
  bounds.push(recording.length)
  return bounds
}
