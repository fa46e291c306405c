// The call stack: for each event, the call that it belongs to, derived from the calls and returns of its thread.
import type {Recording} from "./recording.ts"

/** One call of a function by a thread. */
export interface Frame {
  function: string
  /** The call from which it was made, null for the entry point. */
  parent: Frame | null
  /** 0 for the entry point. */
  depth: number
  /** Number of its first event, among the thread's events. */
  begin: number
  /** Line of the call in its caller, 0 for the entry point; -1 until it is looked up. */
  line: number
}

const IN_RETURN = ["read", "atomic", "out-of-bounds"] // what a return's value may record after the return itself

export class Stacks {
  #threads = new Map<number, Frame[]>() // by thread, the frame of each of its events
  recording: Recording

  constructor(recording: Recording) {
    this.recording = recording
  }

  /**
   * The call that an event of a thread belongs to; null if the thread has no such event.
   * @param turn  its number among the thread's events
   */
  at(thread: number, turn: number): Frame | null {
    let frames = this.#threads.get(thread)
    if (!frames) {
      frames = this.#follow(thread)
      this.#threads.set(thread, frames)
    }
    return frames[turn] ?? null
  }

  /** The line of a call in its caller, searched where the caller was before and where it continues; 0 for the entry point. */
  calledFrom(thread: number, frame: Frame) {
    if (frame.line >= 0) return frame.line
    const {recording} = this,
      {parent, begin, function: name} = frame
    let after = begin
    for (let at = this.at(thread, after); at && at !== parent && isInside(at, parent as Frame); ) at = this.at(thread, ++after)
    const found = [after, begin - 1].flatMap((turn) =>
      turn >= 0 && this.at(thread, turn) === parent ? [recording.about(recording.nth(thread, turn))] : [],
    )
    const [low, high] = [Math.min(...found.map(({line}) => line)), Math.max(...found.map(({line}) => line))]
    const lines = (recording.head.sources[found[0]?.file ?? recording.head.file] ?? "").split("\n")
    const calls = new RegExp(`\\b${name.replace(/\W/g, "")}\\s*[<(]`)
    const likely = found.length ? [found[0].line, ...Array.from({length: high - low + 1}, (_, i) => low + i)] : [0]
    frame.line = likely.find((line) => calls.test(lines[line - 1] ?? "")) ?? likely[0]
    return frame.line
  }

  /**
   * Follow a thread through its calls. A return is recorded before its value is computed, so reads and calls of its statement still
   * belong to the returning function.
   */
  #follow(thread: number) {
    const {recording} = this,
      count = recording.count(thread)
    const frames: Frame[] = []
    const returning = new Map<Frame, number>() // by frame, the turn of its return
    let top: Frame | null = null
    for (let turn = 0; turn < count; turn++) {
      const site = recording.about(recording.nth(thread, turn))
      while (top && returning.has(top) && !this.#isInReturn(thread, turn, returning.get(top) as number, top)) {
        if (!top.parent) break
        top = top.parent
      }
      if (site.kind === "call" || !top)
        top = {
          function: (site.kind === "call" ? site.name : site.function) || recording.head.entry,
          parent: top,
          depth: top ? top.depth + 1 : 0,
          begin: turn,
          line: top ? -1 : 0,
        }
      if (site.kind === "return") returning.set(top, turn)
      frames.push(top)
    }
    return frames
  }

  /**
   * Whether an event after a return belongs to the return's own statement.
   * @param returned  the return
   */
  #isInReturn(thread: number, turn: number, returned: number, frame: Frame) {
    const {recording} = this,
      site = recording.about(recording.nth(thread, turn)),
      statement = recording.about(recording.nth(thread, returned))
    if (site.kind !== "call")
      return (
        IN_RETURN.includes(site.kind) &&
        site.function === frame.function &&
        site.line >= statement.line &&
        site.line <= statement.line + 8
      )
    const text = (recording.head.sources[statement.file] ?? "").split("\n").slice(statement.line - 1, statement.line + 8)
    text[0] = (text[0] ?? "").slice(statement.column - 1)
    const value = /^\s*return\b([^;]*)/.exec(text.join("\n"))?.[1] ?? ""
    return new RegExp(`\\b${(site.name ?? "").replace(/\W/g, "")}\\s*[<(]`).test(value)
  }
}

/** Whether a call was made from another one, directly or indirectly. */
export function isInside(frame: Frame | null, outer: Frame) {
  let at = frame
  while (at && at.depth > outer.depth) at = at.parent
  return at === outer && frame !== outer
}
