// The connection to the server: requests that wait while it is busy or away, and the line that says so.
import {focused, h} from "./dom.ts"
import {rememberedInTab, rememberInTab} from "./stored.ts"

const SOONEST = 1000 // ms before the first attempt to reach the server again
const LATEST = 15_000 // ms between two later attempts
const TRY = 10_000 // ms after which an attempt has failed
const PATIENCE = 5 * 60_000 // ms for which a busy server is asked again
const UNSAID = 5 // s to wait for a busy server that does not say how long
const REFUSALS = 4 // failures of one request while the server answers others
const TYPES = 2000 // ms after a key press in a text field before which the page is not loaded anew
const RENEWED = "splatscope-renewed" // key in the tab's storage: when the page was last loaded anew by itself
const APART = 15_000 // ms between two times that it is loaded anew

const LOST = "The connection to the server is lost. What is on this page stays. Trying again …"
const FORGOTTEN = "The server answers again. To continue, reload this page; what you have set on it is lost then."
const AGAIN = "The connection to the server was lost again. This page will reload in a moment …"
const UNSTORED = "The server answers again. To continue, reload this page."
const REFUSED = "The server has closed the connection, because it did not accept what this page sent."

let absence: Promise<void> | null = null // ends when the server answers again; null while it answers
let stopped = "" // why the page does not go on by itself
let waiting = "" // what a request waits for
let typedAt = -TYPES
const holders = new Set<() => boolean>()

/** Watch what would be lost if the page were loaded anew. Called once, by the router. */
export function watchTyping() {
  window.addEventListener("input", () => (typedAt = performance.now()), true)
}

/** Whether the server does not answer. */
export const isAway = () => absence !== null

/**
 * Note that the server does not answer, and say so.
 * @returns ends when it answers again
 */
export function lose(): Promise<void> {
  absence ??= answers().then(() => {
    absence = null
    paint()
  })
  paint()
  return absence
}

/** Say that the server has closed the connection for good. */
export const refuse = () => stop(REFUSED)

/** Say why the page does not go on by itself, and offer to load it anew. */
export function stop(words: string) {
  stopped = words
  paint()
}

/**
 * Say what a request waits for.
 * @param words  "" for nothing any more
 */
export function say(words: string) {
  waiting = words
  paint()
}

function paint() {
  const line = document.getElementById("lost")
  const words = (isAway() ? LOST : "") || stopped || waiting
  if (!line || line.dataset.words === words) return
  line.dataset.words = words
  const anew = h("button", {type: "button", class: "btn", onclick: () => location.reload()}, "Load anew")
  line.replaceChildren(h("span", {}, words), ...(words && words === stopped ? [anew] : []))
  line.hidden = !words
}

/**
 * Register what would be lost if the page were loaded anew.
 * @param holds  whether there is something
 * @returns ends it
 */
export function losesOnReload(holds: () => boolean): () => void {
  holders.add(holds)
  return () => holders.delete(holds)
}

/**
 * Load the page anew because the server no longer knows its session: at once, but not again and again. If something would be lost,
 * only offer it.
 */
export async function renew() {
  while (performance.now() < typedAt + TYPES) await pause(typedAt + TYPES - performance.now())
  focused()?.blur() // a field reports what was typed when it loses the focus
  if ([...holders].some((holds) => holds())) return stop(FORGOTTEN)
  const rest = Math.min(APART, Number(rememberedInTab(RENEWED)) + APART - Date.now())
  if (rest > 0) {
    say(AGAIN)
    await pause(rest)
  }
  if (!rememberInTab(RENEWED, String(Date.now()))) return stop(UNSTORED) // it could be loaded again and again
  location.reload()
}

/**
 * Fetch from this server. While it is busy, wait as long as it says; while it is away, until it answers again.
 * @param options  its signal also ends the waiting
 * @param tell  shows that the server is busy; "" when it no longer is
 * @throws {Error} It was aborted, the server is busy for too long, or refuses this request alone.
 */
export async function request(address: string, options: RequestInit = {}, tell: (words: string) => void = say) {
  const signal = options.signal ?? undefined
  const end = performance.now() + PATIENCE
  let told = false
  try {
    for (let failures = 0; failures < REFUSALS; ) {
      const answer = await fetch(address, options).catch((reason) => {
        if (signal?.aborted) throw reason
        return null
      })
      if (answer === null || isFromGateway(answer)) {
        failures++
        await unless(signal, lose())
        continue
      }
      const seconds = secondsOf(answer)
      if (seconds === null) return answer
      if (performance.now() + seconds * 1000 > end) throw new Error("The server is busy. Try again later.")
      told = true
      tell(`The server is busy; trying again in ${seconds} s …`)
      await unless(signal, pause(seconds * 1000 * (1 + Math.random() / 4)))
    }
    throw new Error("The server does not answer this request. Load the page anew to try again.")
  } finally {
    if (told) tell("")
  }
}

/** The whole seconds for which a busy server asks to wait, null if it is not busy. */
export function secondsOf({status, headers}: Pick<Response, "status" | "headers">) {
  if (status !== 429 && status !== 503) return null
  const after = headers.get("Retry-After") ?? ""
  const seconds = /^\d+$/.test(after) ? Number(after) : (Date.parse(after) - Date.now()) / 1000
  return Number.isNaN(seconds) ? UNSAID : Math.max(1, Math.ceil(seconds))
}

/** Whether an answer is that of a proxy whose server is away. */
const isFromGateway = ({status, headers}: Response) =>
  status === 502 || status === 504 || (status === 503 && !headers.has("Retry-After"))

/** Wait for a time. */
export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** Wait for a promise, unless a signal is aborted before. */
async function unless(signal: AbortSignal | undefined, promise: Promise<void>) {
  signal?.throwIfAborted()
  let end: () => void = () => {}
  const aborted = new Promise((_, reject) => {
    end = () => reject(signal?.reason)
    signal?.addEventListener("abort", end)
  })
  await Promise.race([promise, aborted])
  signal?.removeEventListener("abort", end)
  signal?.throwIfAborted()
}

/** Wait until the server answers: it is tried at once when the network or the tab is back, else less and less often. */
function answers() {
  return new Promise<void>((resolve) => {
    let delay = SOONEST,
      trying = false
    let timer: ReturnType<typeof setTimeout>
    const attempt = async () => {
      clearTimeout(timer)
      if (trying) return
      trying = true
      const back = await isThere()
      trying = false
      if (!back) return later()
      window.removeEventListener("online", soon)
      document.removeEventListener("visibilitychange", soon)
      resolve()
    }
    const later = () => {
      timer = setTimeout(attempt, delay * (0.5 + Math.random()))
      delay = Math.min(LATEST / 1.5, delay * 1.5)
    }
    const soon = () => {
      if (document.hidden) return
      delay = SOONEST
      attempt()
    }
    window.addEventListener("online", soon)
    document.addEventListener("visibilitychange", soon)
    later()
  })
}

/** Whether the server answers a request that costs it nothing: for the head of the page's style sheet. */
async function isThere() {
  const sheet = document.querySelector("link[rel=stylesheet]") as HTMLLinkElement | null
  try {
    const answer = await fetch(sheet?.href ?? "", {method: "HEAD", cache: "no-store", signal: AbortSignal.timeout(TRY)})
    return !isFromGateway(answer)
  } catch {
    return false
  }
}
