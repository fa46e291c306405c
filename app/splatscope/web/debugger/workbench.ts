// The debugger's workbench: the editor and its inputs, the stepper, or two recordings side by side. The browser holds the draft;
// Python compiles and records it.
import {makeEditor} from "#web/widgets/codemirror.ts"
import {placeInWords} from "#web/widgets/place.ts"
import {losesOnReload} from "#web/runtime/connection.ts"
import {classKernel, isJoining, isLed, nameTab} from "#web/runtime/router.ts"
import {download, h, messageOf, style} from "#web/runtime/dom.ts"
import {emit, type MomentShown, on, type RecordAgain} from "#web/runtime/events.ts"
import {remember, remembered} from "#web/runtime/stored.ts"
import {addKeys} from "#web/runtime/keys.ts"
import {icon, severityIcon} from "#web/stepper/panes/icons.ts"
import {primary} from "#web/stepper/steppers.ts"
import {listing} from "#web/widgets/quote.ts"
import {send} from "#web/widgets/upload.ts"
import {clearLink, type Draft, isKnown, keepLink, know, linked, linkTo, loadDraft, MOST, saveDraft} from "#web/runtime/draft.ts"
import {CompileSettings} from "./compile_settings.ts"
import {Functions} from "./functions.ts"
import {Gallery} from "./gallery.ts"
import {Inputs} from "./inputs.ts"
import {Outputs} from "./outputs.ts"
import {dropped, entryFile, givenIn, readProject} from "./project.ts"
import {ONLY, Sources} from "./sources.ts"
import type {Arrival} from "#components"
import type {Recording} from "#web/recording/recording.ts"
import type {Model, Render} from "#web/types.ts"

const PAUSE = 450 // ms without a key press after which the source is compiled
const MOST_RECORDING = 32 * 2 ** 20
const MORE = 4
const STEPPED = "splatscope-stepped" // key in the browser's storage: whether a kernel was ever stepped here
const HAS_RUN = "The kernel has run. " // left out on a phone
const CAME = "This kernel came with a link and has not run. Read it, then run it if you trust where it comes from."
const LED = "The class has this kernel open. Run it, and those that follow in this class?"
const INVITATION = "Step through it, forward and back. Choose a thread or a cell to follow it."

class Workbench {
  recording: Recording | null = null // the current recording
  editor: ReturnType<typeof makeEditor>
  timer: ReturnType<typeof setTimeout> | undefined // until the source is compiled
  adapter = ""
  adapterWords = ""
  chosen = "" // the device to record on
  room = 1 // factor on the usual number of events of a recording
  notice: HTMLElement
  shut: HTMLElement
  edit: HTMLElement
  step: HTMLElement
  first: HTMLElement
  pair: HTMLElement
  unshown = true // whether nothing of the kernel in the editor was shown yet
  onlyOpened = false // whether the sources in the editor were opened but not run yet, so that the stepper shows another kernel
  focusBeforeRun: HTMLElement | null = null // what had the focus in the editor when the last run began
  asking = "" // what the reader is asked before a kernel from elsewhere runs; "" for nothing. Until then nothing reaches the server
  asked = "" // what runs by itself after that
  stored = true // whether the draft is stored for the tab
  openingStep = 0 // the step of a recording that was opened
  hasChosenFirst = false // whether it is decided what to open first
  reading = h("pre", {tabindex: "0", role: "region", "aria-label": "Source"}) // shown until there is something to step
  verdict = h("p", {class: "verdict", "data-testid": "debugger-message"})
  announcer = h("p", {class: "sr", role: "status", "data-testid": "debugger-heard"}) // always there, so that it is announced whatever is shown
  holder = h("div", {class: "code-edit"})
  noticeWords = h("span", {})
  both = h("button", {type: "button", class: "btn", onclick: () => this.show("compare")}, "See both side by side")
  go = h("button", {type: "button", class: "btn pri", "data-testid": "debugger-go", onclick: () => this.run()}, "Run it")
  invitedAt = 0 // the position at which a newcomer is invited to step
  begin = h("button", {type: "button", class: "btn pri", onclick: () => primary()?.move(1)}, "One step forward ", icon("on"))
  model: Model<"Debugger">
  el: HTMLElement
  view: string
  example: string
  fromFile: boolean
  hasDraft: boolean
  isComparable: boolean
  sources: Sources
  inputs: Inputs
  settings: CompileSettings
  functions: Functions
  outputs: Outputs
  gallery: Gallery
  root: HTMLDivElement

  constructor(model: Model<"Debugger">, el: HTMLElement) {
    this.model = model
    this.el = el
    this.view = "step"
    this.example = ""
    this.fromFile = false // whether the current recording is from a file
    this.hasDraft = false // whether a draft is in the editor
    this.isComparable = true // whether the editor has the kernel of the last run, perhaps edited, so that the two can be compared
    this.sources = new Sources(
      model.limits,
      () => {
        this.changed()
        this.state()
      },
      (words) => this.note(words),
    )
    this.inputs = new Inputs(model, () => this.changed())
    this.settings = new CompileSettings(() => this.changed())
    this.functions = new Functions(() => this.save())
    this.outputs = new Outputs()
    this.gallery = new Gallery(
      model.examples,
      (name) => this.open(name),
      model.limits.kinds,
      (files) => this.take(files),
    )
    this.root = this.#assemble()
    if (!remembered(STEPPED)) this.note(INVITATION, "awaited")
    this.#listen()
    queueMicrotask(() => this.#begin())
  }

  #assemble() {
    this.edit = h(
      "div",
      {class: "edit"},
      h(
        "section",
        {class: "panel", "aria-label": "Source"},
        h(
          "div",
          {class: "ph"},
          this.sources.title,
          h(
            "span",
            {class: "dim wide"},
            "Slang; ",
            h("kbd", {}, "Ctrl ⏎"),
            " runs it; ",
            h("kbd", {}, "Esc"),
            ", then ",
            h("kbd", {}, "Tab"),
            " leaves",
          ),
          h("span", {class: "sp"}),
          this.sources.acts,
          this.sources.more,
        ),
        this.sources.bar,
        this.holder,
        this.verdict,
      ),
      h("div", {class: "sides"}, this.inputs.el, this.functions.el, this.settings.el, this.outputs.el),
    )
    this.shut = h(
      "button",
      {type: "button", class: "btn quiet", "aria-label": "Close this message", onclick: () => this.#shut()},
      "Close",
    )
    this.notice = h(
      "div",
      {class: "notice", "data-testid": "debugger-notice", hidden: true},
      this.noticeWords,
      this.both,
      this.begin,
      this.go,
      h("span", {class: "sp"}),
      this.shut,
    )
    this.first = h(
      "div",
      {class: "reading-first", "data-testid": "debugger-reading"},
      h(
        "p",
        {},
        "Once it has run, you will see which line each thread is at, what every variable and memory cell holds, and when each thread waits.",
      ),
      h("div", {class: "quote"}, this.reading),
    )
    this.step = h("div", {class: "step", tabindex: "-1", role: "group"}, this.model.get_child("stepper"), this.first)
    this.pair = h(
      "div",
      {class: "pair", hidden: true, tabindex: "-1", role: "group", "aria-label": "Both runs"},
      this.model.get_child("compare"),
    )
    return h(
      "div",
      {class: "bench-of-two", "data-testid": "debugger"},
      this.notice,
      this.edit,
      this.step,
      this.pair,
      this.announcer,
    )
  }

  #listen() {
    const {model} = this
    const toggleEditor = () => {
      this.show(this.view === "edit" ? "step" : "edit")
      if (this.view === "edit") this.editor.view.focus()
    }
    const run = () => this.run()
    const ends = [
      on("debug-view", (view) => this.show(view)),
      on("debug-run", run),
      on("debug-share", () => this.share()),
      on("kernel-led", () => this.#reopen()),
      on("class-joined", () => {
        if (this.editor && !this.hasChosenFirst) this.#openFirst()
      }),
      on("debug-ask", () => this.state()),
      on("debug-record", (what) => this.recordAgain(what)),
      on("debug-open", () => this.gallery.show(this.example)),
      on("debug-save", (what) =>
        model.send_msg({type: "save", what, step: this.at, ...(what === "project" && {draft: this.sources.draft})}),
      ),
      on("debug-adapter", (adapter) => {
        this.chosen = adapter
        this.run()
      }),
      on("moment", (shown) => this.#moved(shown)),
      addKeys({keys: {"Ctrl+Enter": run, "Ctrl+Shift+Enter": run}, whileTyping: true}),
      addKeys({active: () => this.view === "edit", keys: {F5: run}, whileTyping: true}),
      addKeys({keys: {e: toggleEditor, "Shift+e": toggleEditor}}),
      losesOnReload(() => this.fromFile || !this.stored || this.inputs.uploaded),
    ]
    this.#takeDrops()
    model.on("opened", () =>
      queueMicrotask(() => {
        if (!this.editor || model.opened.source === undefined) return
        this.put(model.opened)
        this.#tells()
      }),
    )
    model.on("interface", () => queueMicrotask(() => this.inputs.show()))
    model.on("checked", () => queueMicrotask(() => this.#checked()))
    model.on("pair", () => queueMicrotask(() => this.#paired()))
    model.on("adapters", () => this.state())
    model.on("notice", () => this.note(model.notice, "fix"))
    model.on("arrival", () => queueMicrotask(() => this.#arrived(model.arrival)))
    model.on("saved", () => queueMicrotask(() => model.file && download(model.file, model.file_name)))
    document.querySelector(".app")?.classList.add("rail")
    model.on("remove", () => {
      for (const end of ends) end()
      document.querySelector(".app")?.classList.remove("rail")
      clearTimeout(this.timer)
      this.gallery.remove()
      this.editor?.view.destroy()
    })
  }

  async #begin() {
    this.editor = makeEditor(
      this.holder,
      this.el.getRootNode() as ShadowRoot,
      () => this.changed(),
      () => this.run(),
    )
    this.sources.editor = this.editor
    this.show("step")
    if (!isJoining()) this.#openFirst()
  }

  /** Open the kernel in the address, else the tab's, else the first example. */
  async #openFirst() {
    this.hasChosenFirst = true
    const before = await loadDraft()
    if (before) {
      this.#bring(before)
      if (!location.hash && !this.asking) this.#tells()
    } else if (!isLed()) this.model.send_msg({type: "open", example: ""}) // the presenter's kernel will follow
  }

  /**
   * Run a draft, or ask the reader whether to if it came with a link that this browser does not know. Anyone can make a class, and
   * lead others to it with a link, so the first kernel of a class is asked for, too.
   */
  #bring({asks, ...draft}: Draft) {
    const link = linked()
    const led = link !== "" && link === classKernel()
    const mark = led ? `class=${new URLSearchParams(location.search).get("class")}` : link
    if (!asks || (led && isKnown(mark))) {
      this.put(draft)
      this.model.send_msg({type: "run", ...draft})
      return
    }
    this.put(draft)
    this.isComparable = false
    this.asking = led ? LED : CAME
    this.asked = mark
    this.save()
    this.show("edit")
  }

  /** Open the presenter's kernel. */
  async #reopen() {
    if (!this.editor) return // it will read the address when it starts
    this.hasChosenFirst = true
    const draft = await loadDraft()
    if (!draft) return
    this.show("step")
    this.#bring(draft)
  }

  /** Tell the class's guide what is recorded, unless it came in the address. */
  #tells() {
    emit("kernel", {...this.draft, from_file: this.fromFile})
  }

  /** What the user is working on. */
  get draft(): Draft {
    return {
      ...this.sources.draft,
      example: this.example,
      functions: this.functions.found ? this.functions.draft : null,
      room: this.room,
      ...this.inputs.draft,
      ...this.settings.draft,
    }
  }
  /** The name of what is open: an example's title, or the file's name if it has one. */
  get title() {
    return this.#titleOf(this.example) ?? (this.sources.entry === ONLY ? "" : this.sources.entry)
  }
  #titleOf(example: string) {
    return this.model.examples.flatMap(([, entries]) => entries).find(([name]) => name === example)?.[1]
  }
  /** The current step. */
  get at() {
    const root = this.step.firstElementChild?.shadowRoot?.querySelector("[data-testid=stepper]")
    return Number(root?.getAttribute("data-step")) || 0
  }

  save() {
    if (this.hasDraft) this.stored = saveDraft({...this.draft, ...(this.asking && {asks: true})})
  }

  /** Open an example, and focus what will show it, so that its name is read out and Tab continues there. */
  open(name: string) {
    clearLink()
    this.model.send_msg({type: "open", example: name})
    this.show("step")
    this.step.ariaLabel = this.#titleOf(name) ?? null
    this.step.focus({preventScroll: true})
  }

  run() {
    if (!this.hasDraft) return
    clearTimeout(this.timer)
    if (this.asked && (this.asking === LED || (this.asking && linked() === this.asked))) know(this.asked)
    if (this.asking !== LED) keepLink(this.draft)
    this.asking = ""
    this.save()
    this.fromFile = this.onlyOpened = false
    this.#tells()
    this.note("")
    this.model.send_msg({type: "run", ...this.draft, adapter: this.chosen, same: this.isComparable})
    this.isComparable = true
    const focused = this.#focused
    this.focusBeforeRun = focused && this.edit.contains(focused) ? focused : null
    this.show(this.chosen === "both" ? "compare" : "step")
  }

  /** What has the focus on this page, or contains it. */
  get #focused() {
    const {activeElement} = this.root.getRootNode() as ShadowRoot
    return activeElement instanceof HTMLElement ? activeElement : null
  }

  /** Show the editor, because the problem is in the source or its inputs, and the focus is where it was before the run. */
  #backToEdit() {
    const away = this.#focused && !this.step.contains(this.#focused)
    this.show("edit")
    if (!away) this.focusBeforeRun?.focus({preventScroll: true})
  }

  /** Run it again and record less or more of it. */
  recordAgain({leave, entry, more}: RecordAgain) {
    if (more) this.room = MORE
    if (leave || entry) this.functions.leave(leave)
    this.run()
  }

  changed() {
    if (!this.hasDraft) return
    this.outputs.age()
    clearLink()
    this.save()
    clearTimeout(this.timer)
    if (!this.asking)
      this.timer = setTimeout(() => this.model.send_msg({type: "check", ...this.draft, same: this.isComparable}), PAUSE)
  }

  /** Put a draft into the editor. */
  put(next: Draft) {
    this.hasDraft = this.onlyOpened = false
    this.asking = ""
    if (next.fix) this.sources.replace(next.source ?? "")
    else {
      this.sources.open(next)
      this.#begins(next.source ?? "")
    }
    this.inputs.open(next)
    this.functions.open(next.functions)
    this.settings.open(next)
    this.example = next.example ?? ""
    this.room = next.room ?? 1
    this.hasDraft = true
    this.step.ariaLabel = this.title || "The run"
    if (this.root.isConnected) nameTab(this.title, "Debugger")
    this.state()
    this.fromFile = Boolean(next.from_file)
    this.openingStep = next.step ?? 0 // the step of a recording that was opened
    this.save()
  }

  /** Show the source of another kernel until its recording is there, in place of the last one. */
  #begins(source: string) {
    listing(this.reading, source, 1)
    this.unshown = true
    this.first.hidden = false
    this.outputs.el.hidden = true
    this.functions.clear()
  }

  /** Open the user's own files: a recording, or sources. Sources without an entry point are added to those in the editor. */
  async take(files: File[]) {
    const [file] = files
    if (files.length > 1 || !/\.npz$/i.test(file.name)) return this.#takeSources(files)
    this.show("step")
    const wrong = await send(this.model, {name: "recording", most: MOST_RECORDING}, file)
    if (wrong) this.note(wrong)
  }

  async #takeSources(files: File[]) {
    const {limits} = this.model
    try {
      const {files: found, left} = await readProject(await givenIn(files, limits), limits),
        file = entryFile(found),
        runs = /\[\s*numthreads\s*\(/i.test(found[file])
      if (runs || !this.hasDraft) {
        const {[file]: source, ...others} = found
        this.inputs.stale = true
        this.put({source, file, files: others})
        this.onlyOpened = true
        this.isComparable = false
        this.changed()
      } else this.sources.take(found)
      this.show("edit")
      if (left)
        this.note(
          `${left.toLocaleString("en")} ${left > 1 ? "files that are not sources were" : "file that is not a source was"} left out.`,
          "fine",
        )
    } catch (error) {
      this.note(messageOf(error))
    }
  }

  /** Accept files that are dropped anywhere on the page. */
  #takeDrops() {
    const {root} = this
    const over = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return
      event.preventDefault()
      root.classList.add("dropping")
    }
    root.addEventListener("dragenter", over)
    root.addEventListener("dragover", over)
    root.addEventListener("dragleave", (event) => {
      if (!(event.relatedTarget instanceof Node) || !root.contains(event.relatedTarget)) root.classList.remove("dropping")
    })
    root.addEventListener("drop", async (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return
      event.preventDefault()
      root.classList.remove("dropping")
      try {
        const files = await dropped(event.dataTransfer)
        if (files.length) this.take(files)
      } catch (error) {
        this.note(messageOf(error))
      }
    })
  }

  /** @param copied  the result of copying the link; "" for nothing new */
  state(copied = "") {
    const {view, adapter, adapterWords, chosen, model} = this
    emit("debug-state", {
      view,
      adapter,
      adapterWords,
      fromFile: this.fromFile,
      adapters: model.adapters,
      chosen,
      pair: model.pair,
      several: this.sources.several,
      asks: this.asking !== "",
      said: copied,
    })
  }

  /** @param name  "step", "compare" or "edit" */
  show(name: string) {
    if (name === "compare" && this.view !== "compare") this.model.send_msg({type: "compare"})
    const {notice, edit, step, pair} = this
    const leaves = [notice, edit, step, pair].some((part) => part.contains(this.#focused))
    this.view = name
    this.root.dataset.view = name
    this.edit.inert = name !== "edit"
    this.step.hidden = name !== "step"
    this.pair.hidden = name !== "compare"
    if (name !== "step") this.note("")
    this.state()
    if (name === "edit") this.editor?.view.requestMeasure()
    if (leaves) this.#enter()
  }

  /** Focus what is shown, if what had the focus is hidden now. */
  #enter() {
    const {view, step, pair} = this
    const shown = {edit: this.edit, step, compare: pair}[view]
    if (shown?.contains(this.#focused)) return
    if (view === "edit") return this.editor?.view.focus()
    if (view === "step") primary()?.focusStep()
    if (!shown?.contains(this.#focused)) shown?.focus({preventScroll: true})
  }

  /**
   * Show a message above the panes, "" for none. In a wide window the invitation covers them instead, so that nothing moves when it
   * disappears at a step; in a narrow one its place is reserved until the kernel has run.
   * @param kind  a problem, the effect of a fix, a success, an invitation to step, one that is not shown yet, or the question that
   *   stays until it is answered
   */
  note(words: string, kind: "wrong" | "fix" | "fine" | "invite" | "awaited" | "asks" = "wrong") {
    if (this.asking && !words) [words, kind] = [this.asking, "asks"]
    const invites = kind === "invite" || kind === "awaited"
    this.notice.hidden = !words
    this.notice.classList.toggle("awaited", kind === "awaited")
    if (words && !invites) this.announcer.textContent = words
    const parts = invites
      ? [h("span", {}, h("span", {class: "wide"}, HAS_RUN), words)]
      : [severityIcon(kind === "wrong" ? "error" : kind === "asks" ? "note" : "ok"), words]
    this.noticeWords.replaceChildren(...(words ? parts : []))
    this.both.hidden = kind !== "fix"
    this.begin.hidden = !invites
    this.go.hidden = kind !== "asks"
    this.shut.hidden = !this.go.hidden
    this.notice.classList.toggle("invites", invites)
    this.root.classList.toggle("noted", Boolean(words) && !invites)
  }

  #shut() {
    if (!this.begin.hidden) remember(STEPPED, "yes")
    const focused = this.notice.contains(this.#focused)
    this.note("")
    if (focused) this.#enter()
  }

  #paired() {
    if (this.model.pair.length !== 2 && this.view === "compare") return this.show("step")
    this.state()
  }

  #arrived(arrival: Arrival) {
    if (arrival.buffer !== undefined) return this.inputs.arrived(arrival)
    if (arrival.error) this.note(arrival.error)
  }

  #checked() {
    const {model, sources} = this,
      first = model.diagnostics.find((found) => found.severity === "error")
    this.verdict.replaceChildren(
      ...(model.error ? [severityIcon("error"), h("span", {}, model.error)] : [severityIcon("ok"), h("span", {}, "It compiles.")]),
    )
    if (model.error && first && sources.several) {
      const there = () => sources.show(first.file || sources.entry, first.line)
      this.verdict.append(h("button", {type: "button", class: "btn quiet", onclick: there}, "Show"))
    }
    this.verdict.classList.toggle("wrong", Boolean(model.error))
    if (this.view === "edit" || model.error) this.announcer.textContent = placeInWords(model.error) || "It compiles."
    if (this.editor) this.sources.mark(model.diagnostics)
    this.inputs.stale = false
    this.settings.show(model.left_open, model.interface.settings)
    this.inputs.show()
    if (model.interface.entries) this.functions.show(model.interface, this.inputs.entry)
    if (model.error && this.view !== "edit" && this.hasDraft) this.#backToEdit()
  }

  /** Handle a moment of the stepper, perhaps of another recording. */
  #moved({root, moment: {recording, position}}: MomentShown) {
    if (this.onlyOpened || !this.step.firstElementChild?.shadowRoot?.contains(root)) return
    if (!this.begin.hidden && recording === this.recording && position !== this.invitedAt) this.#shut()
    if (!root.dataset.steps || (recording === this.recording && !this.unshown)) return // still the last recording, while another one is made
    this.recording = recording
    this.unshown = false
    this.first.hidden = true
    this.adapter = recording.head.adapter.split(" (")[0]
    this.adapterWords = recording.head.adapter + (this.fromFile ? ", a recording from a file" : "")
    this.outputs.show(recording)
    this.state()
    const awaited = this.notice.hidden || this.notice.classList.contains("awaited")
    if (recording.findings.length && awaited)
      this.note("") // a finding invites by itself, and is not to be covered
    else if (awaited && !remembered(STEPPED)) {
      this.invitedAt = position
      const dock = root.querySelector(".dock") as HTMLElement | null
      this.notice.style.setProperty("--dock", `${dock?.offsetHeight ?? 0}px`)
      this.note(INVITATION, "invite")
    }
    if (!this.fromFile) return
    queueMicrotask(() => emit("step", this.openingStep))
  }

  async share() {
    const {address, length} = await linkTo(this.draft, this.at)
    if (address && !this.asking) know(new URL(address).hash)
    const count = (n: number) => n.toLocaleString("en")
    if (!address)
      return this.state(
        `Too long for a link: ${count(length)} characters, at most ${count(MOST)} fit. Save the recording instead; it opens here with source, inputs and step.${this.sources.several ? " Or save the project." : ""}`,
      )
    try {
      await navigator.clipboard.writeText(address)
      this.state("Copied")
    } catch {
      history.replaceState(history.state, "", address)
      this.state("The link is in the address bar")
    }
  }
}

export function render({model, el}: Render<"Debugger">) {
  style(el)
  return new Workbench(model, el).root
}
