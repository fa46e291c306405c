// The class that this browser last presented, by walk.
import {UNNAMED, format} from "#web/runtime/address.ts"
import {remember, rememberedJson} from "#web/runtime/stored.ts"
import type {Place} from "#components"

/** A class that this browser presents; `at`: when, ms. */
type Presenting = Place & {key: string; code: string; stop: number; kernel: string; at?: number}

const placeOf = (walk: string) => `splatscope-presenting-${walk}`

/** The class to which this browser last presented a walk. */
export const lastPresented = (walk: string): Presenting | null => rememberedJson(placeOf(walk))

/** Note where this browser presents. */
export const notePresented = (walk: string, presenting: Presenting) =>
  remember(placeOf(walk), JSON.stringify({at: Date.now(), ...presenting}))

/** The address that resumes a class. */
export function resumeAddress(
  walk: string,
  {key = "", page, step = UNNAMED, inputs = "", stop = 0, kernel = ""}: Partial<Presenting>,
) {
  const place = page ? `${format({page, step, inputs})}&` : "?"
  return `${place}walk=${walk}&key=${encodeURIComponent(key)}&stop=${stop}${page === "debugger" ? kernel : ""}`
}
