// The stepper: steps one recording in the browser, forward and back, and repaints its panes once a frame.
import {isFocusHeld, messageOf, soon, style} from "#web/runtime/dom.ts"
import {emit, on} from "#web/runtime/events.ts"
import {UNNAMED} from "#web/runtime/address.ts"
import {current, isLed, pressesDue, setStep} from "#web/runtime/router.ts"
import {Findings, severityOf} from "#web/stepper/panes/findings.ts"
import {effect} from "#web/recording/difference.ts"
import {join, primary} from "./steppers.ts"
import "./keys.ts"
import {LineAtHand} from "#web/stepper/panes/line_at_hand.ts"
import {Memory} from "#web/stepper/panes/memory.ts"
import {bringIntoView, keepRoom} from "#web/drawing/fit_to_window.ts"
import {Moment, near} from "#web/recording/moment.ts"
import {MissingRecording, openFile, type Recording, unpack} from "#web/recording/recording.ts"
import {Origin} from "#web/stepper/panes/origin.ts"
import {Player} from "./player.ts"
import {explained} from "./reason.ts"
import {Wait} from "./wait.ts"
import {Layout} from "./layout.ts"
import {Scrub} from "#web/stepper/panes/scrub.ts"
import {Sentence} from "#web/stepper/panes/sentence.ts"
import {Source} from "#web/stepper/panes/source.ts"
import {Breakpoints} from "#web/stepper/panes/breakpoints.ts"
import {Threads} from "#web/stepper/panes/threads.ts"
import {Timeline} from "#web/stepper/panes/timeline.ts"
import {Transport} from "#web/stepper/panes/transport.ts"
import {WriteHistory} from "#web/stepper/panes/write_history.ts"
import type {Watch} from "#web/stepper/panes/watches.ts"
import type {Followed, Model, Render} from "#web/types.ts"

const QUICK = 150 // ms between two paints below which steps are not animated: repeating keys, a dragged slider
const MANY = 64 // threads: with more, so many things would fade that a step would take longer than a frame

/** Its parameters, and in the published book, the sources that `recording` does not contain itself. */
type Shown = Model<"Stepper"> & {sources?: Record<string, string>}

/** Whether a recording has a finding that is more than a note. */
const isWrong = ({findings}: Recording) => findings.some((finding) => severityOf(finding) === "error")

/** Whether a recording has a finding that another one does not have, notes aside. */
const hasNews = (recording: Recording, before: Recording) =>
  recording.findings.some(
    (finding) =>
      severityOf(finding) === "error" &&
      finding.events.length > 0 &&
      !before.findings.some(({kind, name}) => kind === finding.kind && name === finding.name),
  )

export class Stepper {
  moment: Moment | null = null
  painted: Moment | null = null // the moment last painted
  shown = "" // hash of the recording shown; "" for none
  #meta: unknown = null // what was last said of it
  waiting = new Wait(this)
  took = 0 // ms of the last paint
  #paintedAt = 0 // ms
  #steps = false // whether the next paint is one step from the last
  #held: (() => boolean) | null = null // after a recording of the browser: whether the hand still holds what it is made from
  #sought: {text: string; missing: () => void} | null = null // the line of source to show once there is a recording
  #asked: {step: number; inputs: string} | null = current() // the place in the address, until the reader moves
  frame: number | null = null // the frame in which the panes are painted next
  #placed: {moment: Moment; stops: number[]; positions: number[]; order: number[]} | null = null
  // the model's values for the recording shown; its current ones may belong to the next
  #about: Pick<Shown, "stops" | "sentences"> = {stops: [], sentences: []}
  kernel = "" // the kernel shown, which has its own breakpoints and watches
  #own = new Map<string, {set: Map<string, string>; watches: Watch[]}>() // by kernel
  #opened = false // whether the reader has not moved since the recording opened
  #opening = false // whether it is opening right now
  #moved = false // whether the next paint shows another moment, to which the reader has moved
  #starts = false // whether that is the reader's first move
  #given = -1 // the thread that the model chose last
  #visited = -1 // number of the finding to which the reader went last
  #mended = false // whether the next recording is that of a fix, whose result the reader waits for
  model: Shown
  source: Source
  lineAtHand: LineAtHand
  threads: Threads
  memory: Memory
  history: WriteHistory
  findings: Findings
  when: Scrub | Timeline
  origin: Origin
  transport: Transport
  player: Player
  breakpoints: Breakpoints
  runTo: ((file: string, line: number) => void) | undefined
  sentence: Sentence
  panes
  layout: Layout
  root: HTMLDivElement
  leave: () => void
  unsettle: () => void

  constructor(model: Shown) {
    this.model = model
    this.source = new Source(this)
    this.lineAtHand = new LineAtHand(this)
    this.threads = new Threads(this)
    this.memory = new Memory(this)
    this.history = new WriteHistory(this)
    this.findings = new Findings(this)
    this.when = model.layout === "figure" ? new Scrub(this) : new Timeline(this)
    this.origin = new Origin(this)
    this.transport = new Transport(this)
    this.player = new Player(this)
    this.breakpoints = new Breakpoints(this)
    this.runTo = model.layout === "bench" ? (file, line) => this.breakpoints.runTo(file, line) : undefined
    this.sentence = new Sentence(this)
    this.panes = [
      this.source,
      this.lineAtHand,
      ...[this.threads].filter(() => model.parts.includes("threads")),
      ...[this.memory].filter(() => model.parts.includes("memory")),
      this.history,
      this.origin,
      this.findings,
      this.when,
      this.transport,
      this.sentence,
    ]
    this.layout = new Layout(this)
    this.root = this.layout.root
    this.leave = join(this)
    this.unsettle = model.layout === "figure" ? keepRoom(this.root, () => this.#resized()) : () => {}
  }

  /**
   * The positions at which → and ← stop. The model's stops are meant for one of the two orders; in the other there are none, and the
   * arrows move all threads that execute a statement together.
   */
  get stops() {
    return this.#places()?.positions ?? []
  }

  /** Whether the threads are shown in the other order than the one in which this figure's stops are counted. */
  get inOtherOrder() {
    const {moment, model} = this
    return moment !== null && this.#about.stops.length > 0 && moment.lockstep !== model.lockstep
  }

  /** What → and ← move by. */
  get unit() {
    return this.inOtherOrder ? "statement" : this.stops.length ? this.model.unit : "event"
  }

  /** The number of the moment for screen readers: "layer 2 of 4", "event 17 of 83". */
  get numbering() {
    const {moment, stops, model} = this
    if (!moment) return ""
    if (!moment.position) return "before the first event"
    const done = stops.filter((position) => position <= moment.position).length
    if (done) return `${model.unit} ${done.toLocaleString("en")} of ${stops.length.toLocaleString("en")}`
    return `event ${moment.step.toLocaleString("en")} of ${moment.recording.length.toLocaleString("en")}`
  }

  /** Whether the reader waits for a recording. */
  get awaited() {
    return this.waiting.awaited
  }

  /** Whether the reader has not moved since the recording opened: what moves, moves by itself. */
  get untouched() {
    return this.#opened
  }

  /** Whether the figure opened in the middle of the run and the reader has not moved yet. */
  get openedInside() {
    const {moment} = this
    return this.#opened && moment !== null && moment.position > 0
  }

  /** The model's sentence about the current stop, as HTML; "" if there is none. */
  get words() {
    const placed = this.#places()
    const stop = placed ? placed.positions.indexOf((this.moment as Moment).position) : -1
    return (placed && this.#about.sentences[placed.order[stop]]) ?? ""
  }

  /** The stops as positions, ascending, and for each its number in the model. */
  #places() {
    const {moment, model} = this
    if (!moment || moment.lockstep !== model.lockstep) return null
    const {stops} = this.#about
    if (this.#placed?.moment !== moment || this.#placed.stops !== stops) {
      const positions = stops.map((n) => moment.after(n - 1))
      const order = positions.map((_, i) => i).sort((a, b) => positions[a] - positions[b])
      this.#placed = {moment, stops, positions: order.map((i) => positions[i]), order}
    }
    return this.#placed
  }

  /** Until the reader moves, keep the chosen line in view even if the drawing above it grows. */
  #resized() {
    if (!this.openedInside) return
    this.source.scrolledTo = ""
    this.paint()
  }

  /** Bring a pane into view and act in it, if there is such a pane. */
  showing(name: string, act: () => void) {
    if (!this.model.parts.includes(name)) return
    if (this.layout.tabs.offsetParent) this.layout.tab(name)
    act()
  }

  /** Show the model's state: a new recording, or what it is waiting for. */
  async show() {
    const {model, root} = this,
      {meta} = model,
      {recording: name = ""} = meta
    if (!(model.file || model.recording?.byteLength) || model.busy || model.error) {
      delete root.dataset.steps
      if (model.error) this.#mended = false
      this.waiting.show(model.error || model.busy, model.error ? "wrong" : "busy")
      return
    }
    if (this.moment && this.shown === name) {
      if (this.#meta !== meta) {
        this.#meta = meta // this device has made exactly the recording that shipped
        this.findings.open(this.moment.recording)
        this.#toReason()
      }
      return this.#present()
    }
    let recording: Recording
    try {
      const tell = (words: string) => this.waiting.show(words, "busy")
      recording = await (model.recording?.byteLength ? unpack(model.recording, model.sources) : openFile(model.file, tell))
    } catch (reason) {
      if (reason instanceof MissingRecording) model.send_msg({type: "missing"})
      return this.waiting.show(`The recording cannot be read: ${messageOf(reason)}`, "wrong")
    }
    if (name !== model.meta.recording || name === this.shown) return // a newer one arrived meanwhile, or this one was opened twice
    if (this.#held?.()) return // the hand is ahead of it, and the one for where it stops is still to come
    if (this.#held) root.dataset.live = "recording"
    this.#held = null
    const before = this.moment
    const step = this.#stepFor(before, recording)
    this.shown = name
    this.#meta = meta
    this.player.play(false)
    const moment = new Moment(recording, (moved) => this.#changed(moved))
    this.moment = moment
    this.#visited = -1
    this.#adopt(model.kernel)
    const chosen = before && before.pinned !== this.#given ? before.pinned : model.thread
    this.#given = model.thread
    moment.pinned = Math.min(chosen, recording.threads - 1)
    for (const pane of this.panes) pane.open(recording, model.memories)
    this.layout.label(recording)
    this.root.classList.toggle("many", recording.threads > MANY)
    this.#present()
    this.byItself(() => (before ? before.lockstep : model.lockstep) && moment.setOrder(true))
    if (this.#mended) {
      this.seek(Infinity)
      this.say(before ? effect(before.recording, recording) : "")
    } else this.#openAt(step)
    if (this.#mended && !isFocusHeld()) {
      this.findings.el.focus({preventScroll: true}) // the button that started it is gone
      if (!this.#focused) this.focusStep() // in a figure that finds nothing, the findings are gone, too
    }
    this.#mended = false
    this.#toReason()
    if (this === primary()) this.press(pressesDue())
    root.dataset.adapter = meta.adapter
    root.dataset.recording = meta.recording
    this.paint(true)
    root.dataset.steps = String(recording.length)
    if (this.#sought) this.seekLine(this.#sought)
  }

  /** Show a line of source, as soon as there is a recording. */
  seekLine(sought: {text: string; missing: () => void}) {
    this.#sought = this.moment ? null : sought
    if (this.moment && !this.source.seek(sought.text)) sought.missing()
  }

  /** Show a recording that the browser made while the reader's hand moves, at the stop at which the one before it stood. */
  showLive({recording, stops, held}: {recording: Recording | null; stops?: number[]; held: () => boolean}) {
    const {moment: before, root} = this
    if (!before) return
    if (!recording) {
      if (this.#held) root.dataset.live = "recording"
      this.#held = null
      return this.show()
    }
    const step = this.#stopBefore(before, stops ?? this.#about.stops) ?? before.step
    const moment = new Moment(recording, (moved) => this.#changed(moved), false)
    moment.pinned = before.pinned
    this.moment = moment
    if (stops) this.#about = {...this.#about, stops}
    this.#held = held
    this.shown = "" // so that the lesson's own recording is shown even if it is the one from before
    for (const pane of this.panes) pane.open(recording, this.model.memories)
    this.byItself(() => {
      if (before.lockstep) moment.setOrder(true)
      moment.goto(step)
    })
    root.dataset.live = "browser"
    root.dataset.frame = String(Number(root.dataset.frame ?? 0) + 1)
    this.paint(true)
  }

  /** Focus the button that steps forward, in place of one that is gone. */
  focusStep() {
    this.transport.on.focus({preventScroll: true})
  }

  /** What has the focus in here, or contains it. */
  get #focused() {
    const root = this.root.getRootNode()
    return root instanceof ShadowRoot ? root.activeElement : null
  }

  /** Move to what explains the message for which the recording was opened. */
  #toReason() {
    const {moment, model} = this
    const {reason} = model
    if (!moment || reason?.heading === undefined) return
    const {finding, cell, event} = explained(moment.recording, reason)
    if (finding >= 0) return this.showFinding(finding)
    moment.pinned = -1
    if (cell) moment.followed = cell
    if (event >= 0) moment.goto(event + 1)
  }

  /** Restore the breakpoints, watches and filter of a kernel. Each kernel has its own. */
  #adopt(kernel: string) {
    if (kernel === this.kernel) return
    this.#own.set(this.kernel, {set: this.breakpoints.set, watches: this.threads.watches.list})
    const {set, watches} = this.#own.get(kernel) ?? {set: new Map(), watches: []}
    this.kernel = kernel
    this.breakpoints.set = set
    this.breakpoints.asked = ""
    this.threads.watches.list = watches
    this.threads.order.input.value = ""
    this.transport.find.value = ""
    this.memory.forget()
  }

  /**
   * The step at which another recording opens. This is the step in the address, or the presenter's. If the reader has moved, it is
   * the last stop that they passed, because with other inputs or on another device the same stop is a different event. Otherwise,
   * or if the recording has a new fault, it is where the figure opens. The debugger has no stops and keeps the event's number, unless
   * there is a new fault.
   */
  #stepFor(before: Moment | null, recording: Recording) {
    const first = this === primary()
    if (first && isLed()) return current().step
    if (first && this.#asked && (!before || this.#asked.inputs === current().inputs)) return this.#asked.step
    if (!before || this.#opened) return UNNAMED
    const {stops, layout} = this.model
    // the reader wants to see the new fault
    if (layout === "figure" ? isWrong(recording) && !isWrong(before.recording) : hasNews(recording, before.recording))
      return UNNAMED
    const {position, lockstep} = before
    const {positions = []} = this.#places() ?? {}
    if (position === 0) return 0
    if (position === before.recording.length && !positions.includes(position) && !lockstep) return recording.length
    if (layout === "bench") return before.step
    return this.#stopBefore(before, stops) ?? UNNAMED
  }

  /** The last stop that was passed in the recording shown, as one of another recording's stops; null if there is none. */
  #stopBefore({position}: Moment, stops: number[]) {
    const {positions = [], order = []} = this.#places() ?? {}
    const passed = positions.filter((stop) => stop <= position).length
    return passed && stops.length ? stops[Math.min(order[passed - 1], stops.length - 1)] : null
  }

  /** Go to where a recording opens. The place in the address is kept, because the same inputs may soon be recorded again. */
  #openAt(step: number) {
    const asked = this.#asked && step === this.#asked.step ? {step, inputs: current().inputs} : null
    this.goto(step)
    if (step === UNNAMED && this === primary()) setStep(UNNAMED)
    this.#asked = asked
  }

  /**
   * Go to the moment after an event; in lockstep after the whole statement, unless the figure's stops are counted in it.
   * @param step  counted from 1; UNNAMED for the step at which the figure opens
   */
  goto(step: number) {
    if (!this.moment) return
    if (step === UNNAMED) {
      this.byItself(() => this.moment?.goto(this.model.opening))
      this.#opened = true
    } else this.moment.goto(step)
    if (this.inOtherOrder) this.byItself(() => this.#wholeStep())
  }

  /**
   * Go to a step requested by the address or by something on the page. A recording with the inputs in the address may still arrive,
   * and will open at this step, too, unless the reader moves.
   * @param step  counted from 1; UNNAMED for the step at which the figure opens
   */
  ask(step: number) {
    const {step: named, inputs} = current()
    const asked = step === named || !this.moment ? {step, inputs} : null
    if (this === primary()) this.goto(step)
    this.#asked = asked
  }

  /** Move without the reader's doing: if the address names no step, it stays so. */
  byItself(act: () => void) {
    this.#opening = true
    try {
      act()
    } finally {
      this.#opening = false
    }
  }

  #present() {
    this.waiting.show("")
    this.layout.legend()
    if (!this.moment) return
    this.#about = {stops: this.model.stops, sentences: this.model.sentences}
    this.root.dataset.steps = String(this.moment.recording.length)
    this.paint()
  }

  /** Show that another recording is being made, before the model says so. */
  wait(words: string) {
    delete this.root.dataset.steps
    this.waiting.show(words, "busy")
  }

  /** Called by the moment at each move, and when another thread is chosen or another cell followed. */
  #changed(moved: boolean) {
    const {moment} = this
    if (!moment) return
    const {step} = moment
    const finding = moment.recording.findings[moment.finding]
    if (finding && !finding.events.includes(step)) moment.finding = -1
    this.transport.said = ""
    this.root.dataset.step = String(step)
    if (moved && !this.#opening) {
      this.#moved = true
      if (this.#opened) this.#starts = true
      this.#opened = false
      this.#asked = null
      if (this === primary()) setStep(step)
    }
    this.paint()
  }

  /**
   * Paint all panes from the current state, in the next frame.
   * @param now  paint at once instead
   */
  paint(now = false) {
    if (!this.moment || (this.frame !== null && !now)) return
    const draw = () => {
      const {moment, root, stops} = this
      if (this.frame !== null) cancelAnimationFrame(this.frame)
      this.frame = null
      if (!moment) return
      const began = performance.now()
      const steps = this.#steps && began - this.#paintedAt > QUICK && this.painted === moment
      this.#steps = false
      const held = this.#focused
      moment.state.seek(moment.position).meet()
      for (const pane of this.panes)
        if (pane.el.isConnected || pane === this.when || pane === this.sentence) pane.paint(moment, steps)
      if (held)
        // what had the focus may be gone; this is asked once all is laid out
        requestAnimationFrame(() => {
          if (this.painted === moment && !isFocusHeld()) this.focusStep()
        })
      root.dataset.painted = String(moment.step)
      this.took = performance.now() - began
      this.painted = moment
      this.#paintedAt = began
      emit("moment", {root, moment, first: this === primary(), stops, recording: this.shown, steps})
      if (this.model.layout === "figure" && this.#moved) bringIntoView(root, this.#starts)
      this.#moved = this.#starts = false
    }
    if (now) draw()
    else this.frame = requestAnimationFrame(draw)
  }

  /** Move to a position; Infinity is the end. */
  seek(position: number) {
    this.#steps = false
    this.moment?.seek(position === Infinity ? this.moment.recording.length : position)
  }

  /**
   * Move one unit forward or back: to the next stop, or by one event.
   * @param way  1 or -1
   */
  move(way: number) {
    const {moment, stops} = this
    if (!moment || this.#atEnd(way)) return
    const single = this.frame === null // two steps within a frame are not animated
    if (stops.length) this.seek(near(stops, moment.position, way) ?? (way > 0 ? moment.recording.length : 0))
    else if (this.inOtherOrder) this.line(way)
    else this.seek(moment.position + way)
    this.#steps = single
  }

  /**
   * Whether the run goes no further in a direction, which is announced.
   * @param way  1 or -1
   */
  #atEnd(way: number) {
    const {moment} = this
    if (!moment || moment.position !== (way > 0 ? moment.recording.length : 0)) return false
    this.announce(way > 0 ? "This is the end of the run." : "This is the start of the run.")
    return true
  }

  /**
   * Press → from the start.
   * @param times  -1: not at all
   */
  press(times: number) {
    if (times >= 0) this.seek(this.stops.length && times ? this.stops[Math.min(times, this.stops.length) - 1] : times)
  }

  /** @param way  1: to the next barrier, -1: to the previous one */
  barrier(way: number) {
    if (this.moment?.barrier(way)) return
    const none = this.moment?.barriers.length
      ? `There is no barrier ${way > 0 ? "after" : "before"} this`
      : "This run has no barrier"
    this.say(`${none}.`)
  }
  /** @param way  1: to the chosen thread's next statement, -1: to its previous one */
  statement(way: number) {
    if (!this.#atEnd(way)) this.moment?.statement(way)
  }
  /** @param way  1: to the chosen thread's next statement, -1: to its previous one, over calls */
  over(way: number) {
    if (!this.#atEnd(way)) this.moment?.over(way)
  }
  /** Move to where the chosen thread continues in the caller of its function. */
  out() {
    if (!this.#atEnd(1)) this.moment?.out()
  }
  /** @param way  1: one statement forward, -1: back, for all threads that execute it together */
  line(way: number) {
    const {moment} = this
    if (!moment || this.#atEnd(way)) return
    moment.line(way)
    const {executing} = moment // of them, the sentence names one
    if (executing > 1) this.announce(`${executing} threads execute this together.`)
  }
  /** @param thread  the thread to choose; choosing it again clears the choice */
  choose(thread: number) {
    this.moment?.choose(thread)
  }
  /** @param thread  the thread to choose, whether or not it is chosen already */
  pin(thread: number) {
    const {moment} = this
    if (!moment || thread >= moment.recording.threads) return
    moment.pinned = thread
    this.paint()
  }
  /** @param lockstep  in lockstep, or in the device's order */
  setOrder(lockstep: boolean) {
    if ((this.moment?.recording.threads ?? 0) < 2) return this.say("There is only one thread: both orders are the same.")
    this.moment?.setOrder(lockstep)
    this.#wholeStep()
    this.announce(lockstep ? "In lockstep order." : "In the device's order.")
  }

  /** In a figure in lockstep, finish the statement, so that all who execute it are seen together. */
  #wholeStep() {
    if (this.moment?.lockstep && this.model.layout === "figure") this.moment.finish()
  }

  /**
   * Show a line of the source.
   * @param file  its number in the recording
   */
  reveal(file: number, line: number) {
    this.source.reveal(file, line)
  }

  /** Follow a cell or variable; stop following it if it is followed already. */
  follow(what: Followed | null) {
    const {moment} = this
    if (!moment) return
    moment.follow(what && JSON.stringify(what) === JSON.stringify(moment.followed) ? null : what)
    this.announce(this.history.told(moment))
  }

  /** Follow what the current event reads, writes or sets. */
  followHere() {
    const {moment} = this
    if (!moment || moment.event < 0) return
    const {recording, event} = moment,
      cell = recording.cellOf(event)
    if (cell) return this.follow(cell)
    const {variable: set = -1} = recording.about(event),
      variable = set >= 0 ? set : recording.target[event] - 1
    if (variable >= 0) this.follow({thread: recording.thread[event], variable})
    else this.say("This event touches no cell and no variable.")
  }

  /**
   * Choose the next or the previous thread.
   * @param way  1 or -1
   */
  nextThread(way: number) {
    const {moment} = this
    if (!moment) return
    const {threads} = moment.recording
    moment.pinned = (moment.thread + way + threads) % threads
    this.paint(true)
    const here = this.source.standing(moment, moment.pinned)
    const {ofChosen} = this.sentence
    this.announce(ofChosen ? `${here.replace(/[.;]?$/, ".")} ${ofChosen}` : here)
  }

  /**
   * Move to a finding.
   * @param which  number of its event; -1: the last
   */
  showFinding(number: number, which = -1) {
    const {moment} = this,
      finding = moment?.recording.findings[number],
      step = finding?.events.at(which)
    if (!moment || !step) return
    const cell = moment.recording.cellOf(step - 1)
    moment.pinned = -1
    moment.finding = number
    if (cell) moment.followed = cell
    moment.goto(step)
    this.#visited = number
    const all = this.findingsShown
    this.sentence.tellInstead(
      `Finding ${all.indexOf(number) + 1} of ${all.length}, event ${step.toLocaleString("en")}: ${finding?.message}`,
    )
  }

  /** The numbers of the findings that have events, in the order of their cards. */
  get findingsShown() {
    return this.moment?.recording.findings.flatMap(({events}, number) => (events.length ? [number] : [])) ?? []
  }

  /**
   * Move to the next or the previous finding, in the order of their cards, wrapping around at the ends. If the recording has opened
   * at a finding, that one is the first to be shown.
   * @param way  1 or -1
   */
  nextFinding(way: number) {
    const {moment} = this
    if (!moment) return
    const all = this.findingsShown
    if (!all.length) return this.say("No finding in this recording.")
    const opened = all.find((number) => moment.recording.findings[number].events.at(-1) === moment.step)
    if (this.#opened && this.#visited < 0 && opened !== undefined) return this.showFinding(opened)
    const here = all.indexOf(this.#visited)
    const next = here < 0 ? (way > 0 ? 0 : all.length - 1) : (here + way + all.length) % all.length
    this.showFinding(all[next])
    if (here === next) this.say("There is no other finding.")
    else if (here >= 0 && next < here === way > 0)
      this.say(way > 0 ? "That was the last finding. This is the first." : "That was the first finding. This is the last.")
  }

  /** Show a sentence in place of the current event, until the next move. */
  say(words: string) {
    this.transport.say(words)
  }

  /** Announce words to screen readers without showing them, once the reader pauses. */
  announce(words: string) {
    this.sentence.tell(words)
  }

  /** @param on  while a pointer drags, so that marks change without a transition */
  scrubbing(on: boolean) {
    this.root.classList.toggle("still", on || Boolean(this.player.timer))
    if (!on) this.sentence.rest()
  }

  /** Show how looking for a fix has gone; the button that began it may have had the focus. */
  renewFix() {
    if (!this.moment) return
    const focused = this.findings.el.contains(this.#focused)
    const said = this.findings.renew()
    if (said) this.announce(said)
    if (focused) this.findings.el.querySelector<HTMLElement>(".finding.open [data-testid=fix]")?.focus({preventScroll: true})
    if (focused && !this.#focused) this.findings.el.focus({preventScroll: true})
  }

  /** The fix offered with the findings, null if there is none. */
  offer() {
    const {fix} = this.model
    const apply = () => {
      this.#mended = true
      this.model.send_msg({type: "fix"})
    }
    return fix.length ? {lines: fix, apply} : null
  }

  /** Leave the page. */
  close() {
    this.player.close()
    this.leave()
    this.layout.close()
    this.unsettle()
    this.history.close()
    this.sentence.close()
    this.when.close()
  }
}

export function render({model, el}: Render<"Stepper">) {
  style(el)
  const stepper = new Stepper(model)
  const ends = [
    on("step", (step) => stepper.ask(step)),
    on("followed", (made) => {
      if (made.stage === stepper.root) stepper.showLive(made)
    }),
    on("thread", (thread) => {
      if (stepper === primary()) stepper.pin(thread)
    }),
    on("line", (sought) => {
      if (stepper === primary()) stepper.seekLine(sought)
    }),
    on("press", (times) => {
      if (stepper === primary()) stepper.press(times)
    }),
    () => stepper.close(),
  ]
  const show = soon(() => stepper.show())
  for (const name of ["meta", "inputs", "busy", "error"]) model.on(name, show)
  model.on("inputs", () => emit("answer", {stage: stepper.root}))
  model.on(
    "fix_search",
    soon(() => stepper.renewFix()),
  )
  model.on("remove", () => {
    for (const end of ends) end()
  })
  show()
  return stepper.root
}
