// What a reader has set while the server was away: the page sends it once it is there again, loaded anew.
import {rememberedJsonInTab, rememberInTab} from "./stored.ts"

interface Unsent {
  page: string
  /** The component's class: a page has one of each of these. */
  kind: string
  message: unknown
}

const KEY = "splatscope-unsent"
const MOST = 100
const SENT_LATER: Record<string, string[]> = {Controls: ["set"], RunBar: ["start", "pause", "reset"]} // messages by class

/** Store a message that cannot be sent now, if it is one of those that the reader expects to count. */
export function sendLater(page: string, kind: string, message: {type: string}) {
  if (!SENT_LATER[kind]?.includes(message.type)) return
  rememberInTab(KEY, JSON.stringify([...unsent(), {page, kind, message}].slice(-MOST)))
}

/** Return the messages of a page that are still to be sent, in order, and store none any more. */
export function takeUnsent(page: string): Unsent[] {
  const messages = unsent().filter((message) => message.page === page)
  rememberInTab(KEY, "[]")
  return messages
}

function unsent(): Unsent[] {
  return rememberedJsonInTab(KEY) ?? []
}
