// The bar of a training run: start, pause, step and reset; the run's readings; and a line for errors.
import {losesOnReload} from "#web/runtime/connection.ts"
import {h, style} from "#web/runtime/dom.ts"
import {speaker} from "#web/drawing/sound.ts"
import {addKeys} from "#web/runtime/keys.ts"
import {rememberedInTab, rememberInTab} from "#web/runtime/stored.ts"
import type {Message, Render} from "#web/types.ts"

const RUN = "splatscope-run" // where the tab remembers the key of its run
const SOON = 250 // ms between two updates of the line that says what a started run is waiting for
const EVERY = 10_000 // ms between two announcements of a running run
const LASTS = 2000 // ms after which what is waited for is announced if nobody pressed Start
const REST = 300 // ms without news after which a run that stands is announced
const DONE = "Choose a pixel of the picture to see what it is made of."
const SOUND_EVERY = 150 // ms between two tones
const QUALITY = [10, 50] // dB: the lowest and the highest tone
const NUMBER = new Intl.NumberFormat("en")

/** The buttons. */
export type Press = Exclude<Message<"RunBar">["type"], "return">

export function render({model, el}: Render<"RunBar">) {
  style(el)
  const act = (type: Press) => () => model.send_msg({type})
  const toggle = h("button", {class: "btn pri", "data-testid": "train-start"})
  toggle.onclick = () => {
    if (!model.running) begin()
    model.send_msg({type: model.running ? "pause" : "start"})
  }
  const step = h("button", {class: "btn", "data-testid": "train-step"}, "One step")
  step.onclick = () => {
    steppedFrom = model.reading.iteration ?? 0
    model.send_msg({type: "step"})
  }
  const reset = h("button", {class: "btn quiet", "data-testid": "train-reset", onclick: act("reset")}, "Reset")
  const undo = h("button", {class: "btn quiet", "data-testid": "train-undo", onclick: act("undo")})

  const sound = speaker("the quality rise")
  let soundedAt = 0 // ms
  let sounded = 0 // the iteration that was heard last

  const stats = h("dl", {class: "stats"})
  const fill = h("i")
  const progress = h("div", {class: "prog", role: "progressbar", "aria-label": "Iterations"}, fill)
  const words = h("span", {role: "status"})
  const waited = h("span", {"aria-hidden": "true"}) // for how long; visible, but not announced every second. At first also for what
  const message = h("p", {class: "told", "data-testid": "train-message"}, words, waited)

  // Announces to screen readers where the run is: now and then while it runs, and once when it stands.
  const heard = h("p", {class: "sr", role: "status", "data-testid": "train-heard"})
  let heardAt = -EVERY // ms
  let steppedFrom = -1 // the iteration at which one step was requested, until that step is announced
  // the iteration at which the run was last announced to stand, 0 for none; null from its start until that is announced
  let standsAt: number | null = 0
  let saidReady = false // whether it was announced that a run can start
  let resting: ReturnType<typeof setTimeout> | undefined
  const hear = () => {
    const {running, reading} = model
    const {iteration = 0} = reading
    clearTimeout(resting)
    if (running) {
      standsAt = null
      if (!iteration || performance.now() - heardAt < EVERY) return
      heardAt = performance.now()
      heard.textContent = standing("Iteration")
      return
    }
    heardAt = -EVERY
    if (!model.settled) return // the number is not final
    if (iteration || model.busy) saidReady = false
    else if (!saidReady && reading.psnr !== null && reading.psnr !== undefined)
      resting = setTimeout(() => {
        saidReady = true
        heard.textContent = "Ready. Nothing is trained yet."
      }, REST)
    if (!iteration && standsAt !== null) standsAt = 0
    const stepped = steppedFrom >= 0 && iteration !== steppedFrom
    const moved = standsAt !== 0 && iteration !== standsAt // it has stopped, or the slice that was under way has ended since
    if (!moved && !stepped) return
    resting = setTimeout(() => {
      standsAt = iteration
      if (stepped) steppedFrom = -1
      heard.textContent = standing(stepped ? "Iteration" : "Paused at")
    }, REST)
  }
  const standing = (what: string) => {
    const {iteration = 0, iterations = 1, psnr = null} = model.reading
    const quality = psnr === null ? "" : `, ${Number(psnr.toFixed(1))} dB`
    if (iteration >= iterations) return `Finished, ${NUMBER.format(iteration)} iterations${quality}`
    return `${what} ${NUMBER.format(iteration)}${what === "Iteration" ? ` of ${NUMBER.format(iterations)}` : ""}${quality}`
  }

  // From the press of Start until the first iteration: what the run is waiting for, and for how long.
  let wait: {since: number; iteration: number; timer: ReturnType<typeof setInterval>} | null = null
  const begin = () => {
    end()
    wait = {since: Date.now(), iteration: model.reading.iteration ?? 0, timer: setInterval(tell, SOON)}
    tell()
  }
  const end = () => {
    clearInterval(wait?.timer)
    wait = null
  }
  // After a change of the settings it is announced only if it lasts. Each arrow key in a field is such a change.
  let busySince = 0 // ms, 0 while nothing is waited for
  let lasting: ReturnType<typeof setTimeout> | undefined
  const tell = () => {
    const {busy, running, reading} = model
    const {iteration = 0, iterations = 1} = reading
    if (wait && iteration < wait.iteration) wait.iteration = iteration // it was restarted
    const refused = !running && !busy && Date.now() - (wait?.since ?? 0) > 2 * SOON
    if (wait && (iteration > wait.iteration || refused)) end()
    const seconds = wait ? Math.floor((Date.now() - wait.since) / 1000) : 0
    const what = busy || (wait && !model.message ? "Compiling the kernels" : "")
    const sentence = what ? `${what} …` : model.message || (iteration >= iterations && model.opens ? DONE : "")
    busySince = what ? busySince || performance.now() : 0
    const brief = what && !wait ? busySince + LASTS - performance.now() : 0
    clearTimeout(lasting)
    if (brief > 0) lasting = setTimeout(tell, brief)
    const spoken = brief > 0 ? "" : sentence
    if (words.textContent !== spoken) words.textContent = spoken // setting the same text would announce it again
    waited.textContent = brief > 0 ? sentence : what && seconds ? ` ${seconds} s` : ""
    message.classList.toggle("wrong", !what && model.message !== "")
    progress.classList.toggle("busy", what !== "")
  }

  const show = () => {
    const {running, reading} = model
    const {iteration = 0, iterations = 1, psnr = null, speed = 0, seconds = 0} = reading
    const done = iteration >= iterations
    toggle.textContent = running ? "Pause" : done ? "Start again" : iteration > 0 ? "Resume" : "Start"
    step.disabled = done
    undo.hidden = !model.before
    undo.textContent = `Back to the run before, at ${NUMBER.format(model.before)}`
    stats.replaceChildren(
      stat("iteration", NUMBER.format(iteration), `of ${NUMBER.format(iterations)}`),
      stat("PSNR", psnr === null ? "–" : psnr.toFixed(1), "dB"),
      stat("iterations per second", speed >= 100 ? NUMBER.format(Math.round(speed)) : speed > 0 ? speed.toFixed(1) : "–", ""),
      stat("device time", seconds.toFixed(1), "s"),
    )
    fill.style.width = `${100 * Math.min(1, iteration / iterations)}%`
    progress.setAttribute("aria-valuenow", String(iteration))
    progress.setAttribute("aria-valuemax", String(iterations))
    tell()
    hear()
    if (!iteration || iteration === sounded || psnr === null || performance.now() - soundedAt < SOUND_EVERY) return
    sounded = iteration
    soundedAt = performance.now()
    sound.play([(psnr - QUALITY[0]) / (QUALITY[1] - QUALITY[0])])
  }
  // The tab knows its run, so that it is there again after a reload, a look at another page, or a restart of the server.
  const left = model.key ? rememberedInTab(RUN) : null
  const [entry] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[]
  if (left) model.send_msg({type: "return", key: left, reloaded: entry !== undefined && entry.type !== "navigate"})
  const remember = () => model.key && rememberInTab(RUN, model.key)
  for (const name of ["reading", "key"]) model.on(name, remember)
  const endHolding = losesOnReload(() => Boolean(model.key) && !model.stored && (model.reading.iteration ?? 0) > 0)

  const soon = () => queueMicrotask(show)
  for (const name of ["running", "settled", "reading", "busy", "message", "before"]) model.on(name, soon)
  show()

  const root = h(
    "div",
    {class: "run"},
    h("div", {class: "tp"}, toggle, step, reset, undo, sound.el),
    stats,
    progress,
    message,
    heard,
  )
  const endKeys = addKeys({
    active: () => root.offsetParent !== null,
    keys: {" ": () => toggle.click(), ArrowRight: () => step.click(), r: () => reset.click()},
    leave: {" ": "button, a, input, select, summary", ArrowRight: "input[type=range]"},
  })
  model.on("remove", () => {
    endKeys()
    endHolding()
    end()
    clearTimeout(resting)
    clearTimeout(lasting)
  })
  return root
}

const stat = (name: string, value: string, unit: string) =>
  h("div", {}, h("dt", {}, name), h("dd", {}, value, unit ? h("small", {}, ` ${unit}`) : null))
