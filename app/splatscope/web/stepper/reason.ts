// A message that the user got elsewhere, such as a test's, and what of a recording explains it.
import {findingOf} from "./panes/findings.ts"
import type {Reason} from "#components"
import type {Recording} from "#web/recording/recording.ts"

/**
 * Where a recording explains a message: at a finding, else at the thread's last event on the line or at the element.
 * @returns each -1 or null for none
 */
export function explained(
  recording: Recording,
  reason: Reason,
): {finding: number; cell: {memory: number; cell: number} | null; event: number} {
  const finding = findingOf(recording, reason)
  if (finding >= 0) return {finding, cell: null, event: -1}
  const memory = recording.memories.findIndex(({name}) => name === reason.name)
  const cell = memory >= 0 && reason.element >= 0 ? recording.memories[memory].cell(reason.element) : -1
  const last = (is: (event: number) => boolean) => {
    for (let event = recording.length - 1; event >= 0; event--) if (is(event)) return event
    return -1
  }
  const writes = (event: number) => ["write", "atomic"].includes(recording.about(event).kind)
  const there = (event: number) => recording.about(event).line === reason.line
  const own = (event: number) => reason.lane < 0 || recording.thread[event] === reason.lane
  const touches = (event: number) => {
    const found = recording.cellOf(event)
    return found?.memory === memory && found.cell === cell
  }
  const ways: ((event: number) => boolean)[] = reason.line
    ? [(e) => there(e) && own(e) && touches(e), (e) => there(e) && own(e), there]
    : [(e) => writes(e) && touches(e), (e) => writes(e) && recording.cellOf(e)?.memory === memory]
  const event = ways.map(last).find((found) => found >= 0) ?? -1
  return {finding, cell: cell >= 0 ? {memory, cell} : null, event}
}
