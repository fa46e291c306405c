// The last verdict on each task, with its kernel. It is stored in this browser only, so that it is still there after a reload.
import {remember, rememberedJson} from "#web/runtime/stored.ts"
import type {PublicMark} from "#components"

type Verdict = {source: string; mark: PublicMark}

const KEY = "splatscope-verdicts"
const MOST = 40 // tasks; older verdicts are dropped

const verdicts = (): Record<string, Verdict> => rememberedJson(KEY) ?? {}

/** The stored verdict on a task; null if there is none or it is not valid. */
export function keptVerdict(task: string): Verdict | null {
  const kept = verdicts()[task]
  const {source, mark} = kept ?? {}
  const whole = typeof source === "string" && mark?.task === task && Array.isArray(mark.causes) && Array.isArray(mark.cases)
  return whole ? kept : null
}

/** Store the verdict on a task, or remove it. */
export function keepVerdict(task: string, verdict: Verdict | null) {
  const {[task]: _, ...others} = verdicts()
  const next = verdict ? {...others, [task]: verdict} : others
  remember(KEY, JSON.stringify(Object.fromEntries(Object.entries(next).slice(-MOST))))
}
