// This tab's runs, kept in the browser's own database, so that neither a reload nor a look at another page ends them. They never
// leave the reader's computer.
import {rememberedInTab, rememberInTab} from "#web/runtime/stored.ts"
import type {Values} from "#web/runtime/host.ts"
import type {State} from "./trainer.ts"

const [DATABASE, RUNS] = ["splatscope", "runs"]
const TAB = "splatscope.tab"
const LASTS = 24 * 3600 * 1000 // ms for which the run of a tab that may be closed is kept

export interface KeptRun {
  /** The values of the settings. */
  values: Values
  /** The photograph. */
  file: Blob
  name: string
  state: State
  running: boolean
}

/** Keep a run in place of the one that this tab has at `place`; null for none. A browser that keeps nothing loses it. */
export async function keepRun(place: string, run: KeptRun | null) {
  const key = keyOf(place)
  if (!key) return
  await using("readwrite", (runs) => {
    const now = Date.now()
    if (!run) return runs.delete(key)
    const old = runs.index("at").openKeyCursor(IDBKeyRange.upperBound(now - LASTS))
    old.onsuccess = () => {
      if (old.result) runs.delete(old.result.primaryKey)
      old.result?.continue()
    }
    return runs.put({...run, at: now}, key)
  })
}

/** The run that this tab has at `place`; null for none. */
export async function keptRun(place: string): Promise<KeptRun | null> {
  const key = keyOf(place)
  return ((key && (await using<KeptRun>("readonly", (runs) => runs.get(key)))) || null) as KeptRun | null
}

/** The key of this tab's run at a place; "" if the browser tells tabs not apart. */
function keyOf(place: string) {
  const tab = rememberedInTab(TAB) ?? crypto.randomUUID()
  return rememberInTab(TAB, tab) ? `${tab} ${place}` : ""
}

/** The result of a request to the database; undefined if there is none. */
async function using<Result>(mode: IDBTransactionMode, ask: (runs: IDBObjectStore) => IDBRequest) {
  try {
    const opening = indexedDB.open(DATABASE, 1)
    opening.onupgradeneeded = () => opening.result.createObjectStore(RUNS).createIndex("at", "at")
    const database = await done(opening)
    try {
      return await done<Result>(ask(database.transaction(RUNS, mode).objectStore(RUNS)))
    } finally {
      database.close()
    }
  } catch {
    return undefined // private windows have no database, or no room in it
  }
}

const done = <Result>(request: IDBRequest<Result>) =>
  new Promise<Result>((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
