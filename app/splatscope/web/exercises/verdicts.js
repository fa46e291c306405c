// The last verdict on each task, with the kernel it is on: kept in this browser alone, so that a page that is loaded anew has it.
import {remember, remembered} from "#web/shell/stored.js"

/**
 * @import {Mark} from "./exercises.js"
 * @typedef {{source: string, mark: Mark}} Verdict
 */

const KEY = "splatscope-verdicts"
const MOST = 40 // tasks; of more, the latest

/** @returns {Record<string, Verdict>} */
function verdicts() {
  try {
    return JSON.parse(remembered(KEY) ?? "{}") ?? {}
  } catch {
    return {}
  }
}

/**
 * The verdict kept of a task; null for none, or for anything that is no verdict on it.
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
 * Keep the verdict on a task, or forget it.
 * @param {string} task
 * @param {Verdict | null} verdict
 */
export function keepVerdict(task, verdict) {
  const {[task]: _, ...others} = verdicts()
  const next = verdict ? {...others, [task]: verdict} : others
  remember(KEY, JSON.stringify(Object.fromEntries(Object.entries(next).slice(-MOST))))
}
