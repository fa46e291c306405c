// Training on the reader's own GPU: a picture to drop, the run's bar, its picture and target, its quality, and its settings.
import {bytesIn} from "#web/drawing/live.ts"
import {context2d} from "#web/drawing/pixels.ts"
import {download, enclosing, h, isStill, messageOf, style} from "#web/runtime/dom.ts"
import {UNNAMED} from "#web/runtime/address.ts"
import {inputsOfPixel, type Pixel, rememberPixel} from "#web/runtime/followed_pixel.ts"
import {on} from "#web/runtime/events.ts"
import {gpu} from "#web/runtime/gpu.ts"
import {current, followLink} from "#web/runtime/router.ts"
import {blobAt, jsonAt} from "#web/runtime/sources.ts"
import {rememberedInTab, rememberInTab} from "#web/runtime/stored.ts"
import {Tree, type Values} from "#web/runtime/host.ts"
import * as Controls from "#web/widgets/controls.ts"
import {dropsAnywhereAround, send} from "#web/widgets/upload.ts"
import * as PixelStory from "./pixel_story.ts"
import * as RunBar from "./run_bar.ts"
import * as TrainingPicture from "./training_picture.ts"
import type {
  ControlsParameters,
  PixelStoryParameters,
  RunBarParameters,
  TrainingKernels,
  TrainingPictureParameters,
} from "#components"
import type {Message, Model, Render} from "#web/types.ts"
import {FIELDS, type Photograph, type Settings} from "./browser/gaussians.ts"
import {bitmap, heatOf, photographOf} from "./browser/photograph.ts"
import {plyOf} from "./browser/ply.ts"
import {QualityChart} from "./browser/quality_chart.ts"
import {layersAt} from "./browser/pixel.ts"
import {keepRun, type KeptRun, keptRun} from "./browser/kept_run.ts"
import {BrowserSession, type Shown} from "./browser/session.ts"

const MODULES = {Controls, PixelStory, RunBar, TrainingPicture}
const MOST = 64 * 2 ** 20 // bytes of a photograph
const KEEP_EVERY = 2000 // ms
const DEVICE = "splatscope.train-device" // which one this tab has chosen
const NONE = "This browser offers no GPU (WebGPU)"
const FOLLOW = "Follow this picture through the book"
const PROMISE = "It trains here, in your browser, and goes nowhere else unless you ask for it."

export function render({model, el}: Render<"BrowserTraining">) {
  style(el)
  const root = h("section", {class: `browser-training${model.home ? " at-home" : ""}`, "aria-label": "Training in this browser"})
  const told = h("p", {class: "hint", role: "status"})
  let view: View | null = null
  const begin = () => {
    view ??= new View(model)
    root.append(view.el)
    return view
  }
  const take = async (file: Blob, name: string) => {
    told.textContent = ""
    try {
      if (file.size > MOST) throw new Error(`${name} has more than ${MOST / 2 ** 20} MB.`)
      const photograph = await photographOf(file, name, view?.size ?? Number(model.values.size))
      begin().use(photograph, file)
      drop?.classList.add("taken")
      if (drop) root.scrollIntoView({block: "start", behavior: isStill() ? "auto" : "smooth"})
    } catch (reason) {
      told.textContent = messageOf(reason)
    }
  }
  /** Show the run that this tab has had here, if there is one. */
  const resume = async () => {
    const run = await keptRun(placeOf(model))
    if (!run || view) return
    await begin().resume(run)
    drop?.classList.add("taken")
  }
  const drop = model.home ? dropField(take) : null
  const menu = model.home
    ? null
    : deviceMenu(model, async (isHere) => {
        // The page shows either this or what the server trains.
        enclosing(el, ".page")?.classList.toggle("trains-here", isHere)
        root.classList.toggle("here", isHere)
        if (isHere && !view) await begin().open()
        else if (!isHere) view?.session.pause()
      })
  root.append(...[menu, drop, told].filter((part) => part !== null))
  if (drop) dropsAnywhereAround(drop, (file) => take(file, file.name))
  gpu().then((device) => {
    if (device && model.home) return resume()
    if (device) return menu?.offer(true)
    if (drop) drop.hidden = true
    menu?.offer(false)
    if (model.home)
      told.replaceChildren(`${NONE}, so your own photograph trains `, h("a", {href: "?page=train"}, "on the server"), ".")
    if (model.home && !model.server) told.textContent = `${NONE}, so no photograph can be trained here.`
    if (!model.home)
      told.textContent = model.server ? `${NONE}, so pictures train on the server.` : `${NONE}, so nothing can be trained here.`
  })
  model.on("message", (answer: Answer) => view?.follow(answer))
  model.on("remove", () => view?.close())
  return root
}

/** What Python says of a picture that was sent. */
type Answer = {type: "held"; name: string} | {type: "refused"; reason: string}

/** Where a run happens. */
function deviceMenu(model: Model<"BrowserTraining">, choose: (isHere: boolean) => void) {
  const here = h("option", {value: "browser"}, "This browser’s GPU")
  const server = model.server ? h("option", {value: "server"}, model.server) : null
  const select = h("select", {"data-testid": "train-device"}, server, here)
  here.disabled = true
  select.onchange = () => {
    rememberInTab(DEVICE, select.value)
    model.send_msg({type: "device", here: select.value === "browser"})
    choose(select.value === "browser")
  }
  const sent = server && h("span", {class: "dim"}, "Your pictures are sent there.") // hidden where they train here
  return Object.assign(h("p", {class: "device"}, h("label", {}, "Runs on ", select), sent), {
    /** Say whether there is a GPU here. It is chosen if there is nothing else, or if this tab has chosen it before. */
    offer(isThere: boolean) {
      here.disabled = !isThere
      if (!isThere || (server && rememberedInTab(DEVICE) !== "browser")) return
      select.value = "browser"
      if (server) model.send_msg({type: "device", here: true})
      choose(true)
    },
  })
}

/** A field to drop a photograph on, or to choose one with. */
function dropField(take: (file: Blob, name: string) => void) {
  const input = h("input", {type: "file", accept: "image/*", class: "sr", "aria-label": "Choose a photograph"})
  input.onchange = () => {
    const file = input.files?.[0]
    if (file) take(file, file.name)
    input.value = ""
  }
  const words = h(
    "span",
    {},
    h("b", {}, "Drop your own photograph"),
    " on this page, or choose one. ",
    h("span", {class: "dim"}, PROMISE),
  )
  return h("label", {class: "drop", "data-testid": "home-drop"}, words, input)
}

/** The press that has the book follow the picture, and what came of it. */
function followBar(follow: () => void) {
  const words = h("span", {class: "dim", role: "status"})
  const press = h("button", {type: "button", class: "btn", "data-testid": "follow-picture", onclick: follow}, FOLLOW)
  const say = (text: string) => (words.textContent = text || "Sends the picture and its Gaussians to the server.")
  say("")
  return {el: h("p", {class: "follow", hidden: true}, press, words), say}
}

/** A picture and the raw values of its Gaussians in bytes, as `read` of services/pictures.py takes them. */
function trainedPicture({width, height, data}: Photograph, raw: Float32Array<ArrayBuffer>) {
  const head = Uint32Array.of(width, height, raw.length / FIELDS)
  return new Blob([head, raw, data.filter((_, i) => i % 4 !== 3)])
}

/** The run and its parts, which are drawn as on the training page and answered here instead of by Python. */
class View {
  session
  el
  #model
  #bar
  #picture
  #story
  #controls
  #target = h("canvas", {role: "img", "aria-label": "The target", "data-testid": "browser-target"})
  #caption = h("span", {class: "crumb"})
  #chart = new QualityChart()
  #followed = followBar(() => this.#send())
  #values: Values
  #notes: Record<string, string> = {}
  #frames = 0
  #file: {data: Blob; name: string} | null = null
  #chunks: ArrayBuffer[] = []
  #pixel: Pixel | null = null // that was opened
  #end

  constructor(model: Model<"BrowserTraining">) {
    this.#model = model
    this.#values = {...model.values}
    this.session = new BrowserSession(
      settingsOf(this.#values),
      () => jsonAt<TrainingKernels>(model.kernels),
      (shown) => this.#show(shown),
    )
    this.#bar = new Mounted<RunBarParameters>("RunBar", BAR, ({type}: {type: RunBar.Press}) => this.#press(type))
    this.#picture = new Mounted<TrainingPictureParameters>("TrainingPicture", {...PICTURE, heat: model.heat}, () => {})
    this.#story = new Mounted<PixelStoryParameters>("PixelStory", STORY, () => {})
    const controls: ControlsParameters = {groups: model.groups, values: this.#values, notes: {}, away: [], bar: false, first: ""}
    this.#controls = new Mounted<ControlsParameters>("Controls", controls, (message: Message<"Controls">) => this.#answer(message))
    const caption = h("figcaption", {}, h("b", {}, "Target"), this.#caption)
    const pictures = h(
      "div",
      {class: "pics"},
      this.#picture.host,
      h("figure", {class: "pic target"}, caption, h("div", {class: "frame"}, this.#target)),
    )
    const left = h("div", {class: "left"}, pictures, this.#followed.el, this.#story.host, this.#chart.el)
    const settings = model.home
      ? h("details", {}, h("summary", {}, "Settings"), this.#controls.host)
      : h("aside", {}, this.#controls.host)
    this.#bar.host.classList.toggle("inline", model.home)
    this.el = h("div", {class: "browser-run"}, this.#bar.host, left, settings)
    for (const part of this.#parts) part.rendered()
    this.#end = on("opened", (at) => {
      this.#pixel = at
      this.#tell()
    })
  }

  get #parts() {
    return [this.#bar, this.#picture, this.#story, this.#controls]
  }

  /** The longest side of a photograph, in pixels. */
  get size() {
    return Number(this.#values.size)
  }

  /** Fit a photograph. */
  use(photograph: Photograph, file: Blob) {
    this.#file = {data: file, name: photograph.name}
    this.#values = {...this.#values, sample: photograph.name in this.#model.samples ? photograph.name : ""}
    this.session.use(photograph)
    this.#showTarget()
    this.#settle()
    if (this.#model.home) this.session.start()
  }

  /** Read a photograph and fit it. An error is shown. */
  async #read(file: Blob, name: string) {
    try {
      this.use(await photographOf(file, name, this.size), file)
    } catch (reason) {
      this.#bar.set({message: messageOf(reason)})
    }
  }

  /** Show the run that this tab has had here, otherwise the sample that the settings name. */
  async open() {
    const asked = new URLSearchParams(current().inputs).get("sample") ?? ""
    if (asked in this.#model.samples) this.#values = {...this.#values, sample: asked}
    const run = asked in this.#model.samples ? null : await keptRun(placeOf(this.#model))
    await (run ? this.resume(run).catch(() => this.sample()) : this.sample())
  }

  /** Go on with a run that was kept. */
  async resume({values, file, name, state, running}: KeptRun) {
    const photograph = await photographOf(file, name, Number(values.size))
    this.#values = {...this.#values, ...values}
    this.#file = {data: file, name}
    this.session.take({settings: settingsOf(this.#values), photograph, state})
    this.#showTarget()
    this.#settle()
    if (running) this.session.start()
  }

  /** Fit the sample that the settings name. */
  async sample() {
    const name = String(this.#values.sample)
    try {
      await this.#read(await blobAt(this.#model.samples[name]), name)
    } catch (reason) {
      this.#bar.set({message: `The sample could not be loaded: ${messageOf(reason)}. Drop a picture of your own.`})
    }
  }

  close() {
    this.#keep(true)
    this.#file = null // so that it is not kept as paused
    this.session.close()
    this.#end()
    for (const part of this.#parts) part.tell("remove")
  }

  #showTarget() {
    const {photograph} = this.session
    if (!photograph) return
    const {width, height, data, name} = photograph
    this.#target.width = width
    this.#target.height = height
    context2d(this.#target).putImageData(new ImageData(data, width, height), 0, 0)
    this.#caption.textContent = `${name}, ${width} × ${height}`
    this.#picture.set({target: bitmap(width, height, bytesIn(data, 255)), sample: name in this.#model.samples ? name : ""})
  }

  #press(type: RunBar.Press) {
    this.session[type]()
    if (type !== "undo") return
    this.#values = {...this.#values, ...valuesOf(this.session.settings)}
    this.#showTarget()
    this.#settle()
  }

  #answer(message: Message<"Controls">) {
    if (message.type === "chunk") return this.#receive(message as unknown as Chunk)
    const {name, value} = message
    const refused = this.#refusal(name, value)
    this.#notes = {[name]: refused}
    if (refused) return this.#settle()
    this.#values = {...this.#values, [name]: value}
    if (name.endsWith("!")) this.#bar.set({message: String(value)})
    else if (name === "sample") this.sample()
    else if (name === "save-picture") this.#savePicture()
    else if (name === "save-gaussians") this.#saveGaussians()
    else if (name === "size" && this.#file) this.#read(this.#file.data, this.#file.name)
    else this.session.change(settingsOf(this.#values))
    this.#settle()
  }

  /** Why a number is not allowed, as Python says it; "" if it is. */
  #refusal(name: string, value: unknown) {
    const item = this.#model.groups.flatMap(({items}) => items).find((one) => one.name === name)
    if (!item || !("whole" in item)) return ""
    const isAllowed =
      typeof value === "number" && value >= item.min && value <= item.max && (!item.whole || Number.isInteger(value))
    const [low, high] = [item.min, item.max].map((end) => end.toLocaleString("en"))
    if (isAllowed) return ""
    return `${item.label} cannot be ${value ?? "empty"}: ${item.whole ? "whole numbers from " : ""}${low} to ${high} are allowed.`
  }

  /** Send the picture and its Gaussians to the server, whose kernels record what the sections show of them. */
  async #send() {
    const {photograph, shown} = this.session
    if (!photograph || !shown.look) return
    const file = new File([trainedPicture(photograph, shown.look.raw)], photograph.name)
    this.#followed.say("Sending …")
    const reason = await send(this.#model, {name: "trained", most: this.#model.most_sent}, file)
    if (reason) this.#followed.say(reason)
  }

  /** Open the first section with the pixel that was opened, or the middle one, or say why the book cannot follow it. */
  follow(answer: Answer) {
    const {photograph} = this.session
    if (answer.type === "refused") return this.#followed.say(answer.reason)
    this.#followed.say("")
    if (!photograph) return
    const {width, height} = photograph
    const at: Pixel = this.#pixel ?? [Math.floor(width / 2), Math.floor(height / 2)]
    rememberPixel({name: answer.name, width, height, at})
    followLink("gaussian", UNNAMED, "", inputsOfPixel(answer.name, at))
  }

  #settle() {
    this.#controls.set({values: this.#values, notes: this.#notes})
    this.#controls.tell("message", {type: "answered"})
  }

  /** Take a piece of a file that was chosen, as Python's `Inbox` does. */
  #receive({data, offset, total, filename}: Chunk) {
    if (!offset) this.#chunks = []
    this.#chunks.push(data)
    if (offset + data.byteLength < total) return
    this.#read(new Blob(this.#chunks), filename)
  }

  async #savePicture() {
    const {look} = this.session.shown
    if (!look) return
    const canvas = h("canvas", {width: look.width, height: look.height})
    const shown = await createImageBitmap(new Blob([bitmap(canvas.width, canvas.height, bytesIn(look.picture))]))
    context2d(canvas).drawImage(shown, 0, 0)
    canvas.toBlob((file) => {
      if (file) download(file, this.#fileName("png"))
    })
  }

  #saveGaussians() {
    const {look} = this.session.shown
    if (look) download(plyOf(look.raw, look.width, look.height), this.#fileName("ply"))
  }

  /** The name of a file of what is shown. */
  #fileName(kind: string) {
    const {photograph, shown} = this.session
    return `${photograph?.name.replace(/\.\w+$/, "")}-${shown.look?.iteration}.${kind}`
  }

  #show({running, settled, busy, message, speed, look}: Shown) {
    const {settings, photograph} = this.session
    const {iteration = 0, seconds = 0, psnr = null} = look ?? {}
    const reading = {iteration, iterations: settings.iterations, psnr, speed: iteration ? speed : 0, seconds}
    this.#bar.set({running, settled, busy, message, reading, before: this.session.before?.state.iteration ?? 0})
    if (!running && this.#wasRunning) this.#keep(true)
    this.#wasRunning = running
    if (!look || !photograph || this.#drawn === look) return
    this.#drawn = look
    this.#keep()
    if (this.#pixel) this.#tell()
    this.#followed.el.hidden = !this.#model.server || !look.iteration
    const {width, height} = look
    const count = look.raw.length / FIELDS
    if (!look.iteration) this.#chart.clear()
    this.#chart.add(look.iteration, look.psnr, settings.iterations)
    jsonAt<TrainingKernels>(this.#model.kernels).then(({constants}) => {
      const oneIn = Math.ceil(count / constants.mostEllipses)
      const floats = constants.ellipseFloats
      const ellipses = Array.from({length: Math.ceil(count / oneIn)}, (_, i) =>
        look.ellipses.subarray(floats * i * oneIn, floats * (i * oneIn + 1)),
      )
      this.#picture.set({
        error: bitmap(width, height, heatOf(look.error, constants)),
        ellipses: Float32Array.from(ellipses.flatMap((one) => [...one])).buffer,
        one_in: oneIn,
        frame: bitmap(width, height, bytesIn(look.picture)),
        data: {testid: "browser-frame", iteration: String(look.iteration), psnr: look.psnr.toFixed(2)},
        sequence: ++this.#frames,
      })
    })
  }

  /** Show what the opened pixel is made of in the current picture. */
  async #tell() {
    const {photograph, settings} = this.session
    const {look} = this.session.shown
    if (!photograph || !look || !this.#pixel) return this.#story.set({pixel: []})
    const {width, height, picture} = look
    const [x, y] = [Math.min(width - 1, this.#pixel[0]), Math.min(height - 1, this.#pixel[1])] // of a smaller picture, perhaps
    const opened = this.#pixel
    const files = await jsonAt<TrainingKernels>(this.#model.kernels)
    const made = await layersAt(files, look, [x, y], settings.kernels)
    if (!made || opened !== this.#pixel || look !== this.session.shown.look) return
    const first = 4 * (y * width + x)
    this.#story.set({
      ...made,
      pixel: [x, y],
      tile: settings.kernels === "binned" ? PICTURE.tile : (files.constants.tiledTile as [number, number]),
      picture: bitmap(width, height, bytesIn(picture)),
      target: [...photograph.data.subarray(first, first + 3)].map((byte) => byte / 255),
    })
  }

  /** Keep the run over a reload: now and then, and whenever it stops. */
  #keep(now = false) {
    const {look, running} = this.session.shown
    if (!look || !this.#file || (!now && running && performance.now() - this.#kept < KEEP_EVERY)) return
    this.#kept = performance.now()
    const {iteration, seconds, raw, firstMoment, secondMoment} = look
    const state = {iteration, seconds, raw, firstMoment, secondMoment}
    const {data: file, name} = this.#file
    keepRun(placeOf(this.#model), iteration ? {values: this.#values, file, name, state, running} : null)
  }

  #drawn: unknown = null
  #wasRunning = false
  #kept = 0 // when the run was kept last
}

/** Where a run is kept: the home page and the training page have one each. */
const placeOf = (model: Model<"BrowserTraining">) => (model.home ? "home" : "train")

/** A piece of a file, as `widgets/upload.ts` sends it. */
type Chunk = {data: ArrayBuffer; offset: number; total: number; filename: string}

const BAR: RunBarParameters = {
  running: false,
  settled: true,
  busy: "",
  message: "",
  before: 0,
  key: "",
  stored: false,
  opens: true,
  reading: {},
}
const PICTURE: Omit<TrainingPictureParameters, "heat"> = {
  frame: null,
  sequence: 0,
  data: {testid: "browser-frame"},
  alt: "The picture as the Gaussians draw it now",
  error: null,
  target: null,
  sample: "",
  ellipses: null,
  one_in: 1,
  tile: [8, 8],
  opens: "here",
}
const STORY: PixelStoryParameters = {
  picture: null,
  pixel: [],
  tile: PICTURE.tile,
  target: [],
  layers: [],
  colour: [],
  followed: "",
  here: true,
  busy: "",
  error: "",
}

/** A component that is drawn here and whose messages are answered here. */
class Mounted<Parameters> {
  #part
  host

  constructor(name: keyof typeof MODULES, values: Parameters, answer: (message: never) => void) {
    this.#part = new Tree(MODULES, {id: 0, class: name, values: values as Values, children: {}}, answer).root
    this.host = this.#part.host
  }

  set(values: Partial<Parameters>) {
    this.#part.set(values as Values)
  }

  tell(event: string, message?: unknown) {
    this.#part.tell(event, message)
  }

  rendered() {
    this.#part.rendered()
  }
}

/** The settings in the values of the controls. */
function settingsOf(values: Values): Settings {
  const {blobs, iterations, seed, growth, kernels, rate_position, rate_shape, rate_colour, rate_opacity} = values as Record<
    string,
    number
  >
  const rates = [rate_position, rate_shape, rate_colour, rate_opacity].map(Number) as Settings["rates"]
  return {blobs, iterations, seed, growth: Boolean(growth), kernels: String(kernels) as Settings["kernels"], rates}
}

/** The values of the controls for settings. */
const valuesOf = ({rates, ...others}: Settings): Values => ({
  ...others,
  rate_position: rates[0],
  rate_shape: rates[1],
  rate_colour: rates[2],
  rate_opacity: rates[3],
})
