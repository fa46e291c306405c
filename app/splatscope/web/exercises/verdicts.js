// The last verdict on each task, with its kernel. It is stored in this browser only, so that it is still there after a reload.
import {remember, rememberedJson} from "#web/runtime/stored.js"

/**
 * @import {Mark} from "./exercises.js"
 * @typedef {{source: string, mark: Mark}} Verdict
 */

const KEY = "splatscope-verdicts"
const MOST = 40 // tasks; older verdicts are dropped

/** @returns {Record<string, Verdict>} */
const verdicts = () => rememberedJson(KEY) ?? {}

/**
 * The stored verdict on a task; null if there is none or it is not valid.
 * @param {string} task
 * @returns {Verdict | null}
 */
export function keptVerdict(task) {
  const kept = verdicts()[task]
  const {source, mark} = kept ?? {}
  const whole = typeof source === "string" && mark?.task === task && Array.isArray(mark.causes) && Array.isArray(mark.cases)
  return whole ? kept : null
}

/**
 * Store the verdict on a task, or remove it.
 * @param {string} task
 * @param {Verdict | null} verdict
 */
export function keepVerdict(task, verdict) {
  const {[task]: _, ...others} = verdicts()
  const next = verdict ? {...others, [task]: verdict} : others
  remember(KEY, JSON.stringify(Object.fromEntries(Object.entries(next).slice(-MOST))))
}
