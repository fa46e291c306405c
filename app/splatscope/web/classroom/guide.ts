// The reader's position in a walk: alone, following a presenter, or presenting. The router asks the guide for the address.
import {hashOf} from "#web/runtime/draft.ts"
import {within} from "#web/runtime/dom.ts"
import {emit, on} from "#web/runtime/events.ts"
import {addKeys} from "#web/runtime/keys.ts"
import {UNNAMED, format} from "#web/runtime/address.ts"
import {pageRoot} from "#web/runtime/router.ts"
import * as router from "#web/runtime/router.ts"
import {remember, remembered} from "#web/runtime/stored.ts"
import {lastPresented, notePresented, resumeAddress} from "./presented.ts"
import {noteReached} from "./reached.ts"
import {bring, land} from "./view.ts"
import type {Place, PublicStop} from "#components"
import type {Model} from "#web/types.ts"

/** How many students follow, and how many are on their own. */
export type Heads = {follow: number; apart: number}
/** Where the presenter is. */
type Presented = Place & {stop: number; show: string}

export type WalkModel = Model<"WalkBar">

// Messages from the server.
type Joined = {
  type: "joined"
  role: WalkModel["role"]
  where: Partial<Presented>
  kernel: string
  present: boolean
  ended: boolean
  heads?: Heads
  began: number
}

export interface Question {
  /** Its block's name, as in `revealed`. */
  name: string
  text: string
  /** Whether it is a claim. */
  bet: boolean
  /** How many students have answered. */
  answered: number
  /** How many of these were right. */
  right: number
  /** How many chose each. */
  options: [option: string, count: number, right: boolean][]
}

/** A page and the students on it; steps as [name of the step, number of students]. */
export interface Attended {
  page: string
  title: string
  here: number
  steps: [step: string, count: number][]
  stuck: [step: string, count: number][]
  /** Including claims. */
  questions: Question[]
  exercises: {title: string; tried: number; solved: number; tries: number; causes: [heading: string, count: number][]}[]
}

type Message =
  | Joined
  | {type: "class"; class: Attended[]; heads: Heads}
  | {type: "asked"; asked: {stop: number; page: string}}
  | {type: "where"; where: Presented; spread: number}
  | {type: "kernel"; kernel: string; spread: number}
  | {type: "present"; present: boolean}
  | {type: "ended"; ended: boolean}
  | {type: "began"; began: number}

const KEYS = ["PageDown", "PageUp"]
const UNMOVING = "#walk, [data-block^=quiz-], [data-block^=claim-]" // where a reader moves no figure: answering is following
const LOOK = 2000 // ms between two requests for the class's numbers
const BACK = 8000 // ms for which students are told that the presenter is back

const keyPlace = (code: string) => `splatscope-key-${code}`

/**
 * A stored name for this browser, so that a student with two tabs, or one who reloads the page, is counted once.
 * @param code  of the class
 */
function browserOf(code: string) {
  const place = `splatscope-student-${code}`
  const known = remembered(place) ?? randomName()
  remember(place, known)
  return known
}

/** Twenty random letters and digits, which cannot be guessed. */
export const randomName = () => [...crypto.getRandomValues(new Uint8Array(20))].map((byte) => (byte % 36).toString(36)).join("")

/** Where a reader is in a walk, and who decides that. */
export class Guide {
  model: WalkModel
  changed: () => void
  stops: PublicStop[]
  named: boolean
  stop: number
  last: Partial<Presented>
  kernel: string
  opened: string
  mine: string | null
  told: string | null
  joined: boolean
  present: boolean
  ended: boolean
  back: boolean
  heads: Heads
  began: number
  attended: Attended[]
  key: string
  presented: string
  revealed: Set<string>
  role: WalkModel["role"]
  led: boolean
  touched: boolean
  before: boolean
  press: number
  show: string
  timer: number
  lands: boolean
  refocus: () => void

  constructor(model: WalkModel, changed: () => void) {
    this.model = model
    this.changed = changed
    this.stops = model.stops
    const query = new URLSearchParams(location.search)
    this.named = query.has("page") // the address names a page, so the stop does not decide where to begin
    this.stop = model.start
    this.last = {} // where the presenter is
    this.kernel = "" // the presenter's kernel in the debugger, as after the # of an address; "" for one too long for an address
    this.opened = location.hash // the kernel that this page was last told to open
    this.mine = null // the presenter's own kernel; null until it is known
    this.told = null // the kernel that was last sent to the class
    this.joined = !model.code // whether the class was joined, if there is one; leading before that would move the class
    this.present = true // whether the presenter's page is connected; assumed until the server answers
    this.ended = false // whether the presenter has stopped
    this.back = false // the presenter's page has just reconnected
    this.heads = {follow: 0, apart: 0}
    this.began = 0
    this.attended = [] // filled for the presenter only
    this.key = this.#key(query.get("key"))
    this.presented = this.key ? "" : this.#presented() // the key, if this browser has presented the class in another window
    this.revealed = new Set() // "page name" of each question whose answer the presenter has revealed
    this.role = this.key ? "present" : model.role // assumed until the server answers
    this.led = this.role === "follow" && (!this.named || query.has("stop")) // only a presenter's address has a stop, and this may be a copy of one
    this.touched = false // whether the reader did anything since the presenter's last step
    this.before = false // `touched` before the pointer came down
    this.press = -1 // how often to press → once there is a recording
    this.show = "" // what to bring into view once the page is there
    this.timer = 0 // delays the request for another page
    this.lands = false // whether the focus goes to what the stop shows, once it is there
    this.refocus = () => {} // gives the focus back to the arrow that was pressed
  }

  /**
   * The presenter's key. It is removed from the address, which others see and students get copies of; this window stores it.
   * @param given  in the address
   */
  #key(given: string | null) {
    const place = keyPlace(this.model.code)
    if (given) remember(place, given)
    try {
      if (given) sessionStorage.setItem(place, given)
      return given || sessionStorage.getItem(place) || ""
    } catch {
      return given || ""
    }
  }

  /** The key of the class in the address, if this browser has presented it. Without a class, the key of this walk's last one. */
  #presented() {
    const {code, walk, teaches} = this.model
    if (code) return remembered(keyPlace(code)) ?? ""
    return teaches ? (lastPresented(walk)?.key ?? "") : ""
  }

  /** Resume a class that this browser has presented: where the class is, else where this browser left it. */
  resume() {
    const {walk, code} = this.model
    const last = lastPresented(walk)
    const own = last && (!code || last.code === code) ? last : null
    const where = this.last.page ? this.last : (own ?? {})
    location.assign(resumeAddress(walk, {...where, key: this.presented, kernel: this.kernel || own?.kernel || ""}))
  }

  /** The address after presenting has stopped: the same place, read alone. */
  get aloneAddress() {
    return `${location.pathname}${format(router.current())}&walk=${encodeURIComponent(this.model.walk)}&stop=${this.stop}`
  }

  /** Note which questions of the page the presenter has revealed. */
  see() {
    if (this.role !== "present" || this.model.window === "notes") return
    const page = router.current().page
    for (const {name} of this.attended.find((one) => one.page === page)?.questions ?? []) {
      const block = pageRoot()?.querySelector(`[data-block="${CSS.escape(name)}"]`)
      if (block && within(block, ".quiz > .opts.shown, .claim[data-bet]")) this.revealed.add(`${page} ${name}`)
    }
  }

  /** Begin, once the page is there and the router asks this guide. */
  start() {
    const {model} = this
    history.replaceState(history.state, "", router.address())
    this.#note()
    this.changed()
    model.on("message", (message: Message) => this.#receive(message))
    for (const type of ["keydown", "pointerdown", "input"]) window.addEventListener(type, (event) => this.#touch(event), true)
    window.addEventListener("pointercancel", () => this.#untouch(), true) // the finger scrolled the page
    addKeys({
      active: () => this.own,
      keys: {PageDown: () => this.#turnAndLand(1), PageUp: () => this.#turnAndLand(-1)},
      whileTyping: true,
      inDialogs: true,
    })
    if (model.code)
      model.send_msg({type: "join", key: this.key, base: location.origin + location.pathname, browser: browserOf(model.code)})
    on("answered", (answer) => this.#answered(answer))
    on("kernel", async (draft) => {
      if (this.role !== "present" || !this.joined) return
      this.mine = await hashOf(draft)
      this.#lead()
    })
    on("bet", (bet) => this.#answered(bet))
    setInterval(() => this.#look(), LOOK)
    if (this.role === "follow") return
    const {page, show} = this.stops[this.stop]
    if (!this.named) this.#prepare(this.stops[this.stop])
    else if (page === router.current().page && history.state?.scroll === undefined) this.#prepare({press: -1, show}) // resuming a class
  }

  /** Note where a lone reader is, so that the home page can lead back here. */
  #note() {
    const {walk, code} = this.model
    if (!code && this.role === "alone") noteReached(walk, this.stop, this.stops.length)
  }

  /** Whether this reader chooses the stops. */
  get own() {
    return this.role !== "follow"
  }

  /** The address: page, step and inputs, followed by the walk; for a reader who is led, the walk alone. */
  address(place: string) {
    const {walk, code} = this.model
    const tail = `walk=${encodeURIComponent(walk)}${code ? `&class=${code}` : ""}`
    if (this.model.window === "notes") return `?${tail}&notes=1`
    if (this.led) return `?${tail}`
    return `${place}&${tail}${this.own ? `&stop=${this.stop}` : ""}`
  }

  #receive(message: Message) {
    switch (message.type) {
      case "joined":
        return this.#joined(message)
      case "asked":
        if (this.model.window === "page") this.#goAsked(message.asked)
        return
      case "where":
        this.last = message.where
        if (this.led) this.#follow(message.spread)
        break
      case "kernel":
        this.kernel = message.kernel
        if (this.led) this.#follow(message.spread)
        break
      case "class":
        this.attended = message.class
        this.heads = message.heads
        break
      case "present":
        this.#meet(message.present)
        break
      case "ended":
        this.ended = message.ended
        break
      case "began":
        this.began = message.began
    }
    this.changed()
  }

  /**
   * Go where the presenter's second window asks this one to go.
   * @param asked  `page`: one outside the walk, "" for the stop's
   */
  #goAsked({stop, page}: {stop: number; page: string}) {
    this.go(stop, page ? {page, step: UNNAMED, inputs: ""} : null)
  }

  /** Tell the class that the presenter stops. */
  end() {
    const last = lastPresented(this.model.walk)
    if (last) notePresented(this.model.walk, {...last, at: 0})
    this.model.send_msg({type: "end"})
  }

  /** Note that the presenter's page was disconnected or has reconnected. */
  #meet(present: boolean) {
    this.back = present && !this.present
    this.present = present
    if (!this.back) return
    setTimeout(() => {
      this.back = false
      this.changed()
    }, BACK)
  }

  #joined({role, where, kernel, present, ended, heads, began}: Joined) {
    this.joined = true
    this.role = role
    this.kernel = kernel
    this.last = where
    this.present = present
    this.ended = ended
    if (heads) Object.assign(this, {heads, began})
    if (this.model.window === "notes") return this.changed() // the notes show where the presenter's page is
    if (this.led) this.#follow()
    else if (role === "follow") this.#away(true)
    else if (where.page && !this.named) this.#goOn(where as Presented)
    else this.#lead()
    emit("class-joined", null)
    this.changed()
  }

  /** Resume presenting where the class is, with its kernel in the debugger. */
  #goOn(where: Presented) {
    const kernel = where.page === "debugger" ? this.kernel : ""
    this.mine = this.told = kernel || null
    this.go(where.stop, where)
    if (!kernel) return
    history.replaceState(history.state, "", location.pathname + location.search + kernel)
    emit("kernel-led", null) // a debugger that is still loading reads the address itself
  }

  /**
   * Go to where the presenter is. Students spread requests to the server over some time, so that they do not all arrive at once.
   * @param spread  seconds over which requests are spread
   * @param again  this reader was elsewhere, perhaps on the same page, so scroll to what the stop shows again
   */
  #follow(spread = 0, again = false) {
    const {page, step = UNNAMED, inputs = "", stop = 0, show = ""} = this.last
    const now = router.current()
    if (page === undefined || !this.led || this.without) return
    const kernel = page === "debugger" ? this.kernel : ""
    const another = kernel !== "" && (again || kernel !== this.opened)
    const asks = page !== now.page || inputs !== now.inputs || another
    if (asks && spread) {
      if (!this.timer) this.timer = window.setTimeout(() => this.#followNow(), Math.random() * spread * 1000)
      return
    }
    this.#stopTimer()
    const fresh = again || stop !== this.stop || page !== now.page
    this.stop = stop
    this.touched = false
    this.press = -1
    this.show = fresh ? show : ""
    if (kernel !== location.hash) history.replaceState(history.state, "", router.address() + kernel)
    if (kernel) this.opened = kernel
    router.showLed({page, step, inputs})
    if (another && page === now.page) emit("kernel-led", null) // a debugger that is still loading reads the address itself
    if (fresh) bring(show)
  }

  #followNow() {
    this.timer = 0
    this.#follow()
    this.changed()
  }

  #stopTimer() {
    clearTimeout(this.timer)
    this.timer = 0
  }

  #lead() {
    if (this.role !== "present" || !this.joined || this.model.window !== "page") return
    const {page, step, inputs} = router.current()
    if (page !== "debugger") this.mine = null
    else {
      this.mine ??= location.hash || null
      this.#tell(this.mine ?? "")
    }
    this.model.send_msg({type: "lead", page, step, inputs, stop: this.stop})
    const {walk, code} = this.model
    notePresented(walk, {key: this.key, code, page, step, inputs, stop: this.stop, kernel: this.mine ?? ""})
  }

  /** Send the class the kernel in the debugger, before it is sent there. */
  #tell(kernel: string) {
    if (kernel !== this.told) this.model.send_msg({type: "kernel", kernel})
    this.told = kernel
  }

  /** Request the class's numbers, which also tells the server that this page is connected. */
  #look() {
    if (this.role === "present") this.model.send_msg({type: document.hidden ? "here" : "look"})
  }

  /**
   * Report an answer or a bet. The server counts the first one of each student.
   * @param answer  the chosen option, and what it was chosen from, as the server sealed it
   */
  #answered({option, offer}: {option: string; offer: string}) {
    if (this.role === "follow" && offer) this.model.send_msg({type: "answered", option, offer})
  }

  /** Whether the page is not the stop's: the exercises, the debugger. */
  get isBeside() {
    return this.stops[this.stop]?.page !== router.current().page
  }

  /**
   * Go to the next or the previous stop. From a page outside the walk, back leads to the current stop; so does on, at the last
   * stop.
   */
  turn(step: 1 | -1) {
    const stays = this.isBeside && (step < 0 || this.stop === this.stops.length - 1)
    this.go(stays ? this.stop : this.stop + step)
  }

  /** The same with a key: the focus goes to what the stop shows, too. */
  #turnAndLand(step: 1 | -1) {
    this.lands = true
    this.turn(step)
  }

  /** Move the focus to what the current stop shows. */
  land() {
    land(this.stops[this.stop].show)
  }

  /**
   * Go to a stop.
   * @param place  a place other than the stop's
   */
  go(stop: number, place: Place | null = null) {
    if (!this.own || !this.stops[stop]) return
    if (this.model.window === "notes") return this.model.send_msg({type: "ask", stop, page: place?.page ?? ""})
    this.stop = stop
    this.#note()
    const {page, inputs} = this.stops[stop]
    const now = router.current()
    const same = page === now.page
    this.touched = false
    router.pushPlace(place ?? {page, step: same && inputs === now.inputs ? now.step : UNNAMED, inputs})
    this.changed() // first, because scrolling into view depends on the height of the strip with the stop's notes
    this.#prepare(place ? {press: -1, show: ""} : this.stops[stop], same)
    if (same) this.#refocus()
  }

  /** @param same  whether the page is there already */
  #prepare({press, show}: Pick<PublicStop, "press" | "show">, same = false) {
    this.press = press
    this.show = show
    if (!same) return
    if (press >= 0) emit("press", press)
    bring(show)
  }

  /** Whether the presenter is in the debugger with a kernel that students cannot get. */
  get without() {
    return this.last.page === "debugger" && !this.kernel
  }

  /** Led, and the reader has not caused the change: a shorter recording ends sooner, or a control writes its default differently. */
  get holds() {
    return this.led && !this.touched
  }

  /**
   * Called by the router after a change of step or inputs that did not come from the presenter. Whoever steps through their own
   * answer to an exercise has not left the class.
   */
  nudged() {
    const {page, inputs} = router.current()
    if (page !== "exercises" || page !== this.last.page || inputs !== this.last.inputs) this.leave()
  }

  /** Called by the router when this reader has moved, a few times a second. */
  moved() {
    if (this.own) this.#lead()
  }

  /** Called by the router once the requested page is in the document. */
  arrived() {
    if (this.show) bring(this.show)
    this.show = ""
    this.#refocus()
  }

  #refocus() {
    if (this.lands) this.land()
    this.lands = false
    this.refocus()
  }

  /** Let a student continue alone. From now on the address decides where they are. */
  leave() {
    if (!this.led) return
    this.led = false
    this.#away(true)
    history.pushState(null, "", router.address())
    this.changed()
  }

  /** Let a student follow again. */
  rejoin() {
    if (this.led || this.role !== "follow") return
    this.led = true
    history.pushState(null, "", router.address())
    this.#back()
  }

  /**
   * Called by the router after Back or Forward. The address says whether this reader follows, or which stop they are at.
   * @returns whether a presenter leads
   */
  popped(): boolean {
    const query = new URLSearchParams(location.search)
    if (this.own) {
      this.stop = Math.min(this.stops.length - 1, Number(query.get("stop")) || 0)
      this.press = -1
      this.show = ""
    } else if (query.has("page") === this.led) {
      this.led = !this.led
      if (this.led) this.#back()
      else this.#away(true)
    }
    this.changed()
    return this.led
  }

  #back() {
    this.#away(false)
    this.#follow(0, true)
    this.changed()
  }

  #away(apart: boolean) {
    this.model.send_msg({type: "apart", apart})
  }

  #touch(event: Event) {
    if (event instanceof KeyboardEvent && KEYS.includes(event.key)) return
    if (event.composedPath().some((el) => el instanceof Element && el.matches(UNMOVING))) return
    this.before = this.touched
    this.touched = true
    this.press = -1
  }

  #untouch() {
    this.touched = this.before
  }
}
