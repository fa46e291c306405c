// Offers to resume the class that this browser last presented, or else the walk that its reader has left, at the top of the home page.
import {h} from "#web/runtime/dom.ts"
import {lastPresented, resumeAddress} from "./presented.ts"
import {lastReached} from "./reached.ts"

const HOUR = 3600 * 1000
const RECENT = 12 * HOUR // ms after which a class is not offered any more
const FRESH = 60 * 24 * HOUR // ms after which a walk is not

/**
 * Fill the offer of the home page, if this browser presented a class today and did not end it, or if its reader is within a walk.
 * @param root  of the page
 */
export function offerResume(root: HTMLElement) {
  const holder = root.querySelector("[data-resume]") as HTMLElement | null
  if (!holder || new URLSearchParams(location.search).has("walk")) return // a walk's bar has the offer
  const walks = (holder.dataset.resume ?? "").split(" ")
  const at = (walk: string) => lastPresented(walk)?.at ?? 0
  const walk = walks.sort((a, b) => at(b) - at(a))[0]
  const last = lastPresented(walk)
  if (last?.key && Date.now() - at(walk) <= RECENT)
    return offer(holder, "This browser was presenting to a class. ", "Resume your last class", resumeAddress(walk, last))
  const left = walks.map((name) => ({name, ...lastReached(name)})).sort((a, b) => (b.at ?? 0) - (a.at ?? 0))[0]
  if (!left.stop || Date.now() - (left.at ?? 0) > FRESH) return
  const address = `?walk=${encodeURIComponent(left.name)}&stop=${left.stop}`
  offer(holder, `You have left a guided walk at stop ${left.stop + 1}. `, "Go on with the walk", address)
}

function offer(holder: HTMLElement, why: string, label: string, href: string) {
  const link = h("a", {class: "btn", href}, label)
  link.onclick = (event) => {
    event.preventDefault() // the router would open the page alone
    location.assign(link.href)
  }
  holder.replaceChildren(why, link)
  holder.hidden = false
}
