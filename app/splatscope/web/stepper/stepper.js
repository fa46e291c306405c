// The stepper: one recording, stepped both ways in the browser. What it shows is told to its panes, once a frame.
import {h, soon, style} from "#web/shell/dom.js"
import {emit, on} from "#web/shell/events.js"
import {current, isLed, pressesDue, setStep} from "#web/shell/router.js"
import {severity} from "#web/stepper/panes/icons.js"
import {Findings} from "#web/stepper/panes/findings.js"
import {join, primary} from "./steppers.js"
import "./keys.js"
import {Memory} from "#web/stepper/panes/memory.js"
import {Moment, near} from "#web/stepper/model/moment.js"
import {unpack} from "#web/stepper/model/recording.js"
import {Origin} from "#web/stepper/panes/origin.js"
import {Player} from "#web/stepper/model/player.js"
import {Scrub} from "#web/stepper/panes/scrub.js"
import {Source} from "#web/stepper/panes/source.js"
import {Breakpoints} from "#web/stepper/panes/breakpoints.js"
import {Threads} from "#web/stepper/panes/threads.js"
import {Timeline} from "#web/stepper/panes/timeline.js"
import {Transport} from "#web/stepper/panes/transport.js"
import {WriteHistory} from "#web/stepper/panes/write_history.js"

const MANY = 64 // threads, of which each has so many things to fade that a step would not be done in a frame

export class Stepper {
  constructor(model) {
    this.model = model
    this.moment = null
    this.painted = null
    this.wanted = current().step // until the recording is there
    this.source = new Source(this)
    this.threads = new Threads(this)
    this.memory = new Memory(this)
    this.history = new WriteHistory(this)
    this.findings = new Findings(this)
    this.when = model.layout === "figure" ? new Scrub(this) : new Timeline(this)
    this.origin = new Origin(this)
    this.transport = new Transport(this)
    this.player = new Player(this)
    this.breakpoints = new Breakpoints(this)
    this.panes = [this.source, this.threads, this.memory, this.history, this.origin, this.findings, this.when, this.transport]
    this.root = this.#assemble()
    this.leave = join(this)
  }

  // Positions in the order that the model's stops are meant for; none in the other.
  get stops() {
    const {moment, model} = this
    if (!moment || moment.lockstep !== model.lockstep) return []
    if (!model.lockstep) return model.stops
    if (this.placed?.moment !== moment || this.placed.stops !== model.stops)
      this.placed = {moment, stops: model.stops, at: model.stops.map((n) => moment.after(n - 1)).sort((a, b) => a - b)}
    return this.placed.at
  }

  #assemble() {
    const {layout, parts} = this.model
    const has = (name) => parts.includes(name)
    this.state = h("div", {class: "state", role: "status", hidden: true})
    const dock = h(
      "footer",
      {class: "dock", "aria-label": "Transport and the whole run"},
      this.transport.el,
      has("timeline") || layout === "figure" ? this.when.el : null,
      this.when.foot ?? null,
    )
    const right = h(
      "div",
      {class: "right"},
      has("memory") ? this.memory.el : null,
      has("memory") || has("threads") ? this.history.el : null,
      this.origin.el,
      has("findings") ? this.findings.el : null,
    )
    this.tabs = h(
      "div",
      {class: "tabs narrow", role: "tablist"},
      ...[
        ["memory", "Memory"],
        ["threads", "Threads"],
        ["findings", "Findings"],
      ]
        .filter(([name]) => has(name))
        .map(([name, label]) =>
          h("button", {type: "button", role: "tab", "data-tab": name, onclick: () => this.#tab(name)}, label),
        ),
    )
    const aside = this.model.get_child("aside"),
      below = this.model.get_child("below")
    const panes = h(
      "div",
      {class: "panes"},
      aside ? h("div", {class: "aside"}, aside) : null,
      has("source") ? this.source.el : null,
      below ? h("div", {class: "below"}, below) : null,
      this.tabs,
      has("threads") ? this.threads.el : null,
      right,
    )
    const root = h(
      "div",
      {class: `stage ${layout} ${parts.map((name) => `has-${name}`).join(" ")}`, "data-testid": "stepper", "data-step": 0},
      this.state,
      panes,
      dock,
    )
    queueMicrotask(() => this.#tab("memory"))
    return root
  }

  #tab(name) {
    this.root.dataset.tab = name
    for (const tab of this.tabs.children) tab.setAttribute("aria-selected", String(tab.dataset.tab === name))
    this.paint()
  }

  // In a pane, where it is shown at all.
  showing(name, act) {
    if (!this.model.parts.includes(name)) return
    if (this.tabs.offsetParent) this.#tab(name)
    act()
  }

  // A new recording, or none: what the model says now.
  async show() {
    const {model, root} = this,
      {sequence, meta} = model
    const fresh = model.recording?.byteLength && !model.busy && !model.error
    if (!fresh) {
      delete root.dataset.steps
      this.#tell(model.error || model.busy, model.error ? "wrong" : "busy")
      return
    }
    if (this.shown === sequence) return this.#present()
    let recording
    try {
      recording = await unpack(model.recording)
    } catch (reason) {
      return this.#tell(`The recording cannot be read: ${reason.message}`, "wrong")
    }
    if (sequence !== model.sequence) return // another came meanwhile
    const step = !this.moment ? this.wanted : this === primary() && isLed() ? current().step : this.moment.step
    const before = this.moment
    this.shown = sequence
    this.player.play(false)
    this.moment = new Moment(recording, () => this.#changed())
    this.moment.pinned = Math.min(before ? before.pinned : model.thread, recording.threads - 1)
    for (const pane of this.panes) pane.open(recording, model.memories)
    this.#label(recording)
    this.root.classList.toggle("many", recording.threads > MANY)
    this.#present()
    if (before ? before.lockstep : model.lockstep) this.moment.setOrder(true)
    this.moment.goto(this === primary() && !before ? this.wanted : step)
    if (this === primary()) this.press(pressesDue())
    root.dataset.adapter = meta.adapter
    root.dataset.recording = meta.recording
    this.paint(true)
    root.dataset.steps = recording.length
  }

  #present() {
    this.#tell("")
    if (this.moment) this.root.dataset.steps = this.moment.recording.length
  }

  #label(recording) {
    const tab = [...this.tabs.children].find((el) => el.dataset.tab === "findings")
    const n = recording.findings.length
    tab?.replaceChildren(...(n ? [severity("error"), `${n} finding${n > 1 ? "s" : ""}`] : ["No finding"]))
    this.root.classList.toggle("clean", !n)
  }

  // A wait counts its seconds, silently: what is read out is the words alone.
  #tell(words, klass = "") {
    clearInterval(this.clock)
    const seconds = h("span", {"aria-hidden": "true"})
    this.since = klass === "busy" ? (this.since ?? performance.now()) : null // what is waited for may change, the waiting goes on
    const {since} = this
    if (klass === "busy")
      this.clock = setInterval(() => {
        if (!this.root.isConnected) clearInterval(this.clock)
        const s = Math.round((performance.now() - since) / 1000)
        seconds.textContent = ` ${s} s${s > 2 && !words.includes("compile") ? ". A kernel is compiled when it first runs." : ""}`
      }, 1000)
    this.state.replaceChildren(words, seconds)
    this.state.hidden = !words
    this.state.className = `state ${klass}`
    this.root.classList.toggle("away", Boolean(words) && klass !== "")
    this.root.classList.toggle("empty", !this.moment)
  }

  // Called by the moment at each move.
  #changed() {
    const {moment} = this,
      {step} = moment
    const finding = moment.recording.findings[moment.finding]
    if (finding && !finding.events.includes(step)) moment.finding = -1
    this.transport.said = ""
    this.root.dataset.step = step
    if (this === primary()) setStep(step)
    this.paint()
  }

  // Soon, or at once: each pane from the state at the cursor.
  paint(now = false) {
    if (!this.moment || (this.frame && !now)) return
    const draw = () => {
      cancelAnimationFrame(this.frame)
      this.frame = null
      const began = performance.now()
      this.moment.state.seek(this.moment.position).meet()
      for (const pane of this.panes) if (pane.el.isConnected || pane === this.when) pane.paint(this.moment)
      this.root.dataset.painted = this.moment.step
      this.took = performance.now() - began
      this.painted = this.moment
      const {root, moment, stops} = this
      emit("moment", {root, moment, first: this === primary(), stops, sequence: this.shown})
    }
    if (now) draw()
    else this.frame = requestAnimationFrame(draw)
  }

  // Moves.
  seek(position) {
    this.moment?.seek(position === Infinity ? this.moment.recording.length : position)
  }

  move(way) {
    const {moment, stops} = this
    if (!moment) return
    if (!stops.length) return this.seek(moment.position + way)
    this.seek(near(stops, moment.position, way) ?? (way > 0 ? moment.recording.length : 0))
  }

  // From the start, → so often; -1: not at all.
  press(times) {
    if (times >= 0) this.seek(this.stops.length && times ? this.stops[Math.min(times, this.stops.length) - 1] : times)
  }

  barrier(way) {
    this.moment?.barrier(way)
  }
  statement(way) {
    this.moment?.statement(way)
  }
  line(way) {
    this.moment?.line(way)
  }
  choose(thread) {
    this.moment?.choose(thread)
  }
  setOrder(lockstep) {
    this.moment?.setOrder(lockstep)
  }

  follow(what) {
    const {moment} = this
    moment.follow(what && JSON.stringify(what) === JSON.stringify(moment.followed) ? null : what)
  }

  // What the event at the cursor reads, writes or sets.
  followHere() {
    const {moment} = this,
      {recording, event} = moment
    if (event < 0) return
    const {memory, variable} = recording.about(event),
      target = recording.target[event]
    if (memory !== undefined && target) this.follow({memory, cell: target - 1 - recording.memories[memory].first})
    else if (variable >= 0 || target)
      this.follow({thread: recording.thread[event], variable: variable >= 0 ? variable : target - 1})
    else this.say("This event touches no cell and no variable.")
  }

  nextThread(way) {
    const {moment} = this,
      {threads} = moment.recording
    moment.pinned = (moment.thread + way + threads) % threads
    this.paint()
  }

  showFinding(number, which = -1) {
    const {moment} = this,
      finding = moment.recording.findings[number]
    if (!finding?.events.length) return
    const step = finding.events.at(which),
      event = step - 1,
      site = moment.recording.about(event)
    moment.pinned = -1
    moment.finding = number
    if (site.memory !== undefined && moment.recording.target[event])
      moment.followed = {
        memory: site.memory,
        cell: moment.recording.target[event] - 1 - moment.recording.memories[site.memory].first,
      }
    moment.goto(step)
  }

  nextFinding(way) {
    const {findings} = this.moment.recording,
      starts = findings.map((f) => (f.events.length ? this.moment.after(f.events.at(-1) - 1) : -1))
    const sorted = starts.filter((p) => p >= 0).sort((a, b) => a - b)
    const position = near(sorted, this.moment.position, way) ?? sorted.at(way > 0 ? 0 : -1)
    if (position !== undefined) this.showFinding(starts.indexOf(position))
  }

  say(words) {
    this.transport.say(words)
  }

  scrubbing(on) {
    this.root.classList.toggle("still", on || Boolean(this.player.timer))
  }

  offer() {
    const {fix} = this.model
    return fix.length ? {lines: fix, apply: () => this.model.send_msg({type: "fix"})} : null
  }

  close() {
    this.player.close()
    this.leave()
    this.history.close()
    this.when.close?.()
  }
}

export function render({model, el}) {
  style(el)
  const stepper = new Stepper(model)
  const ends = [
    on("step", (step) => {
      if (stepper === primary() && stepper.moment) stepper.moment.goto(step)
      else stepper.wanted = step
    }),
    on("press", (times) => {
      if (stepper === primary()) stepper.press(times)
    }),
    () => stepper.close(),
  ]
  const show = soon(() => stepper.show())
  for (const name of ["sequence", "busy", "error"]) model.on(name, show)
  model.on("remove", () => {
    for (const end of ends) end()
  })
  show()
  return stepper.root
}
