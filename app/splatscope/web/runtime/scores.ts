// The reader's best score in each challenge. It is stored in this browser only.
import {remember, rememberedJson} from "./stored.ts"

const KEY = "splatscope-scores"

/** The best score in a challenge; null for none. */
export function best(name: string): number | null {
  const score = rememberedJson(KEY)?.[name]
  return typeof score === "number" && Number.isFinite(score) ? score : null
}

/**
 * Keep a score if it is the best so far.
 * @param wins  whether more or fewer is better
 * @returns whether it is
 */
export function keepBest(name: string, score: number, wins: "more" | "fewer") {
  const before = best(name)
  if (before !== null && (wins === "more" ? score <= before : score >= before)) return false
  remember(KEY, JSON.stringify({...rememberedJson(KEY), [name]: score}))
  return true
}
