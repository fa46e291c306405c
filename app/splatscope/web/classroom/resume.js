// Offers to resume the class that this browser last presented, at the top of the home page.
import {h} from "#web/shell/dom.js"
import {lastPresented, resumeAddress} from "./presented.js"

const RECENT = 12 * 3600 * 1000 // ms after which a class is not offered any more

/**
 * Fill the offer of the home page, if this browser presented a class today and did not end it.
 * @param {HTMLElement} root  of the page
 */
export function offerResume(root) {
  const holder = /** @type {HTMLElement | null} */ (root.querySelector("[data-resume]"))
  if (!holder || new URLSearchParams(location.search).has("walk")) return // a walk's bar has the offer
  const walks = (holder.dataset.resume ?? "").split(" ")
  const at = (/** @type {string} */ walk) => lastPresented(walk)?.at ?? 0
  const walk = walks.sort((a, b) => at(b) - at(a))[0]
  const last = lastPresented(walk)
  if (!last?.key || Date.now() - at(walk) > RECENT) return
  const link = h("a", {class: "btn", href: resumeAddress(walk, last)}, "Resume your last class")
  link.onclick = (event) => {
    event.preventDefault() // the router would open the page alone
    location.assign(link.href)
  }
  holder.replaceChildren("This browser was presenting to a class. ", link)
  holder.hidden = false
}
