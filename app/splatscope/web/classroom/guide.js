// Where a walk stands: alone from stop to stop, following a presenter, or presenting. The router asks it for the address.
import {emit} from "#web/shell/events.js"
import {addKeys} from "#web/shell/keys.js"
import * as router from "#web/shell/router.js"
import {bring} from "./view.js"

const KEYS = ["PageDown", "PageUp"]

export class Guide {
  constructor(model, changed) {
    this.model = model
    this.changed = changed
    this.stops = model.stops
    const query = new URLSearchParams(location.search)
    this.named = query.has("page") // by the address: then it is not the stop that says where to begin
    this.stop = model.start
    this.last = {} // where the presenter stands
    this.heads = {follow: 0, apart: 0}
    this.began = 0
    this.key = this.#key(query.get("key"))
    this.role = this.key ? "present" : model.role // until the server says
    this.led = this.role === "follow" && !this.named
    this.touched = false // the reader did something since the presenter's last step
    this.press = -1 // how often → is still to be pressed, once there is a recording
    this.show = "" // what to bring into view, once the page is there
    this.turn = null // the wait until another page is asked for
  }

  // The key leaves the address, which others see and which is copied for students; this window remembers it.
  #key(given) {
    const place = `splatscope-key-${this.model.code}`
    try {
      if (given) sessionStorage.setItem(place, given)
      return given || sessionStorage.getItem(place) || ""
    } catch {
      return given || ""
    }
  }

  start() {
    const {model} = this
    history.replaceState(history.state, "", router.address())
    this.changed()
    model.on("msg:custom", (event) => this.#told(event))
    for (const type of ["keydown", "pointerdown", "input"]) window.addEventListener(type, (event) => this.#touch(event), true)
    addKeys({
      active: () => this.own,
      keys: {PageDown: () => this.go(this.stop + 1), PageUp: () => this.go(this.stop - 1)},
      whileTyping: true,
      inDialogs: true,
    })
    if (model.code) model.send_msg({type: "join", key: this.key, base: location.origin + location.pathname})
    if (this.role !== "follow" && !this.named) this.#prepare(this.stops[this.stop])
  }

  get own() {
    return this.role !== "follow"
  } // whether the stops are this reader's to choose

  // What stands in the address behind page, step and inputs; all of it where a presenter chooses those.
  address(place) {
    const {walk, code} = this.model
    const tail = `walk=${encodeURIComponent(walk)}${code ? `&class=${code}` : ""}`
    if (this.led) return `?${tail}`
    return `${place}&${tail}${this.own ? `&stop=${this.stop}` : ""}`
  }

  // From the server.
  #told(event) {
    if (event.type === "joined") return this.#joined(event)
    if (event.type === "asked") return this.model.window === "page" && this.go(event.asked)
    this[event.type === "where" ? "last" : event.type] = event[event.type]
    if (event.type === "where" && this.led) this.#follow(event.spread)
    this.changed()
  }

  #joined({role, where, heads, began}) {
    this.role = role
    this.last = where
    if (heads) Object.assign(this, {heads, began})
    if (this.led) this.#follow()
    else if (role === "follow") this.#away(true)
    else if (where.page && !this.named) this.go(where.stop, where)
    else this.#lead()
    this.changed()
  }

  // To where the presenter stands. What has to be asked of the server, a class asks within so many seconds, not all at once.
  #follow(spread = 0) {
    const {page, step, inputs, stop, show} = this.last,
      now = router.current()
    if (page === undefined || !this.led) return
    const asks = page !== now.page || inputs !== now.inputs
    if (asks && spread) {
      this.turn ??= setTimeout(
        () => {
          this.turn = null
          this.#follow()
        },
        Math.random() * spread * 1000,
      )
      return
    }
    clearTimeout(this.turn)
    this.turn = null
    const fresh = stop !== this.stop || page !== now.page
    this.stop = stop
    this.touched = false
    this.press = -1
    this.show = fresh ? show : ""
    router.showLed({page, step, inputs})
    if (fresh) bring(show)
  }

  #lead() {
    if (this.role !== "present" || this.model.window !== "page") return
    const {page, step, inputs} = router.current()
    this.model.send_msg({type: "lead", page, step, inputs, stop: this.stop, show: this.stops[this.stop].show})
  }

  // To a stop; at `place`, somewhere beside it.
  go(stop, place = null) {
    if (!this.own || !this.stops[stop]) return
    if (this.model.window === "notes") return this.model.send_msg({type: "ask", stop})
    this.stop = stop
    const {page, inputs} = this.stops[stop],
      now = router.current()
    const same = page === now.page
    this.touched = false
    router.travel(place ?? {page, step: same && inputs === now.inputs ? now.step : 0, inputs})
    this.#prepare(place ? {press: -1, show: ""} : this.stops[stop], same)
    this.changed()
  }

  #prepare({press, show}, same = false) {
    this.press = press
    this.show = show
    if (!same) return
    if (press >= 0) emit("press", press)
    bring(show)
  }

  // Led, and what moves was not moved by this reader: a shorter recording ends sooner, a control writes its default otherwise.
  get holds() {
    return this.led && !this.touched
  }

  // From the router: a step or inputs that did not come from the presenter.
  nudged() {
    this.leave()
  }

  // Also from the router, a few times a second: where this reader is.
  moved() {
    if (this.own) this.#lead()
  }

  // The page asked for stands in the document.
  arrived() {
    if (this.show) bring(this.show)
    this.show = ""
  }

  // A student goes on alone; the address says where from now on.
  leave() {
    if (!this.led) return
    this.led = false
    this.#away(true)
    history.pushState(null, "", router.address())
    this.changed()
  }

  rejoin() {
    if (this.led || this.role !== "follow") return
    this.led = true
    history.pushState(null, "", router.address())
    this.#back()
  }

  // Back or Forward: the address says whether this reader follows, or at which stop they are. True where a presenter leads.
  popped() {
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
    this.#follow()
    this.changed()
  }

  #away(apart) {
    this.model.send_msg({type: "apart", apart})
  }

  #touch(event) {
    if (KEYS.includes(event.key) || event.composedPath().some((el) => el.id === "walk")) return
    this.touched = true
    this.press = -1
  }
}
