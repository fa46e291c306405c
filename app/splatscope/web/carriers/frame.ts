// Inside the frame of embedded.ts: draws the component, and tells the page around it what the reader does.
import * as Drawing from "#web/drawing/drawing.ts"
import * as Formula from "#web/drawing/formula.ts"
import {UNNAMED} from "#web/runtime/address.ts"
import {emit, on} from "#web/runtime/events.ts"
import {Tree, type Modules} from "#web/runtime/host.ts"
import {showStep} from "#web/single_page/router.ts"
import * as Stepper from "#web/stepper/stepper.ts"
import {showTheme} from "#web/theme/theme.ts"
import * as RunBar from "#web/training/run_bar.ts"
import * as TrainingBench from "#web/training/training_bench.ts"
import * as TrainingPicture from "#web/training/training_picture.ts"
import * as Controls from "#web/widgets/controls.ts"
import * as Frame from "#web/widgets/frame.ts"
import * as ZoomedPicture from "#web/widgets/zoomed_picture.ts"
import type {FromFrame, Linked, ToFrame} from "./frame_messages.ts"

const MODULES: Modules = {Stepper, Drawing, Formula, Controls, RunBar, TrainingBench, TrainingPicture, Frame, ZoomedPicture}
const PACE = 100 // ms between two reports

let tree: Tree | null = null
let known: Linked = {} // what the page around knows
let port: MessagePort
let now: Linked = {}
let due = false // whether a report is about to be made

const send = (message: FromFrame) => port.postMessage(message)

/** Report what the reader has changed, a few times a second and always the last. */
function report() {
  due = false
  const changed = Object.entries(now).filter(([name, value]) => String(value) !== String(known[name as keyof Linked]))
  if (!changed.length) return
  send({linked: Object.fromEntries(changed)})
  known = {...now}
  reportAfter(PACE)
}

function reportAfter(ms: number) {
  if (!due) setTimeout(report, ms)
  due = true
}

/** Go where the page around says. */
function go({step = UNNAMED, thread}: Linked) {
  if (step !== UNNAMED) showStep(step)
  if (thread !== undefined) emit("thread", thread)
}

function receive({data}: MessageEvent<ToFrame>) {
  if (data.dark !== undefined) showTheme(data.dark ? "dark" : "light")
  if (data.linked) {
    known = {...known, ...data.linked}
    go(data.linked)
  }
  if (data.tree) {
    tree = new Tree(MODULES, data.tree, (message, {id}) => send({id, message}))
    document.body.append(tree.root.host)
    tree.root.rendered()
  }
  for (const change of data.changes ?? []) tree?.apply(change)
}

on("moment", ({first, moment}) => {
  if (!first) return
  now = {step: moment.step, thread: moment.pinned}
  reportAfter(0)
})

/** Begin with the opening of the page around; nobody else's message is one. */
function begin(event: MessageEvent<ToFrame>) {
  if (event.source !== window.parent || !event.ports.length) return
  window.removeEventListener("message", begin)
  port = event.ports[0]
  port.onmessage = receive
  receive(event)
  new ResizeObserver(() => send({height: document.body.scrollHeight})).observe(document.body)
}

window.addEventListener("message", begin)
