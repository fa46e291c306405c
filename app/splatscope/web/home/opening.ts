// The picture across the home page, which comes apart into its Gaussians as the reader scrolls, drags, or moves the slider.
import {h, isStill, style} from "#web/runtime/dom.ts"
import {gpu} from "#web/runtime/gpu.ts"
import {blobAt, jsonAt} from "#web/runtime/sources.ts"
import type {OpeningKernels} from "#components"
import type {Render} from "#web/types.ts"
import {unpack} from "./gaussians.ts"
import {type Apart, Splats} from "./splats.ts"

const EASE = 0.2 // part of the way that is left, which a picture goes in a frame
const FRAME = 16 // ms of one
const NEAR = 0.002 // of it, at which it has arrived
const REACH = {over: 24, held: 52} // pixels of the picture around the hand, which is over it or holds it
const SCROLLED = 0.85 // of the picture's height, after which it is all apart

/** What shows a picture, taken apart. */
interface Painter {
  draw(apart: Apart): Promise<void>
  close(): void
}

export function render({model, el}: Render<"Opening">) {
  style(el)
  const picture = h("img", {src: model.picture, alt: model.alt})
  const stages = h("div", {class: "opening-stages", "aria-hidden": "true"})
  const canvas = h("canvas", {"aria-hidden": "true"})
  const frame = h("div", {class: "opening-frame"}, picture, stages, canvas)
  const slider = h("input", {type: "range", id: "apart", min: 0, max: 100, step: 1, value: 0})
  const root = h(
    "figure",
    {class: "opening", "data-testid": "opening", "aria-label": `A picture of ${model.total.toLocaleString("en")} Gaussians`},
    frame,
    h(
      "figcaption",
      {},
      h("label", {for: "apart"}, "Take it apart"),
      slider,
      h("span", {class: "opening-hint", "aria-hidden": "true"}, "or scroll, or drag across the picture"),
    ),
  )

  const goal: Apart = {share: 0, hand: [0, 0], reach: 0}
  const now: Apart = {share: 0, hand: [0, 0], reach: 0}
  let painter: Painter | null = null
  let isRunning = false
  let isClosed = false

  const isThere = () => Math.abs(goal.share - now.share) < NEAR && Math.abs(goal.reach - now.reach) < 0.5
  /** Go a part of the way, the more the longer the last picture took, or all of it for whoever wants no motion. */
  const approach = (milliseconds: number) => {
    const part = isStill() || isThere() ? 1 : 1 - (1 - EASE) ** Math.max(1, milliseconds / FRAME)
    now.share += part * (goal.share - now.share)
    now.reach += part * (goal.reach - now.reach)
    now.hand = [...goal.hand]
  }
  const run = async () => {
    if (isRunning || !painter) return
    isRunning = true
    let before = performance.now()
    do {
      const began = performance.now()
      approach(began - before)
      before = began
      await painter.draw(now)
      root.dataset.share = now.share.toFixed(3)
      await new Promise(requestAnimationFrame)
    } while (!isClosed && JSON.stringify(now) !== JSON.stringify(goal))
    isRunning = false
  }
  let failed = false
  const go = () => {
    begin()
    run().catch(() => {
      isRunning = false
      if (failed) return
      failed = true // the device was lost: go on with what was drawn in advance
      use(new Stages(stages, model.stages, model.shares), "stages")
    })
  }
  const use = (next: Painter, kind: string) => {
    painter?.close()
    if (isClosed) return next.close()
    painter = next
    root.dataset.drawn = kind
    go()
  }

  // What takes it apart is fetched once a hand comes near: pictures drawn in advance, until the kernels are compiled.
  let asked = false
  const begin = async () => {
    if (asked) return
    asked = true
    use(new Stages(stages, model.stages, model.shares), "stages")
    const device = await gpu()
    if (!device) return
    try {
      const [about, file] = await Promise.all([jsonAt<OpeningKernels>(model.kernels), blobAt(model.gaussians)])
      const splats = await Splats.on(device, about, unpack(await file.arrayBuffer()), canvas)
      await splats.draw(now)
      use(splats, "gpu")
      if (held) goal.share = held.share
    } catch {
      // the device does not take the kernels, or was lost: the pictures stay
    }
  }

  const takeTo = (share: number) => {
    goal.share = Math.min(1, Math.max(0, share))
    slider.value = String(Math.round(100 * goal.share))
    slider.setAttribute("aria-valuetext", goal.share ? `${slider.value} percent apart` : "whole")
    go()
  }
  slider.oninput = () => takeTo(+slider.value / 100)
  const onScroll = () => {
    if (isStill()) return
    const {height} = frame.getBoundingClientRect()
    if (height && scrollY < 2 * height) takeTo(scrollY / (SCROLLED * height))
  }
  window.addEventListener("scroll", onScroll, {passive: true})

  /** Where the pointer is, in pixels of the fitted picture, of which the frame shows the middle. */
  const handOf = ({clientX, clientY}: PointerEvent): Apart["hand"] => {
    const box = frame.getBoundingClientRect()
    const [width, height] = [picture.naturalWidth || 3, picture.naturalHeight || 2]
    const scale = Math.max(box.width / width, box.height / height)
    const unit = model.width_px / width // pixels of the fitted picture for one of the image
    return [
      unit * ((clientX - box.left - box.width / 2) / scale + width / 2),
      unit * ((clientY - box.top - box.height / 2) / scale + height / 2),
    ]
  }
  let held: {x: number; share: number} | null = null
  frame.onpointerdown = (event) => {
    if (event.button) return
    held = {x: event.clientX, share: goal.share}
    frame.setPointerCapture(event.pointerId)
    goal.hand = handOf(event)
    goal.reach = REACH.held
    go()
  }
  frame.onpointermove = (event) => {
    if (!held && (event.pointerType !== "mouse" || isStill())) return
    goal.hand = handOf(event)
    goal.reach = held ? REACH.held : REACH.over
    // pictures that were drawn in advance do not know where the hand is
    if (held && root.dataset.drawn === "stages") takeTo(held.share + (2 * Math.abs(event.clientX - held.x)) / frame.clientWidth)
    go()
  }
  const leave = () => {
    if (held && root.dataset.drawn === "stages") takeTo(held.share)
    held = null
    goal.reach = 0
    if (painter) go()
  }
  frame.onpointerup = frame.onpointercancel = frame.onpointerleave = leave
  frame.ondragstart = (event) => event.preventDefault()

  if (scrollY > 0) onScroll()
  model.on("remove", () => {
    isClosed = true
    window.removeEventListener("scroll", onScroll)
    painter?.close()
  })
  return root
}

/** Pictures that were drawn in advance, each over the one before as far as it has come. */
class Stages {
  #el
  #shares
  #layers

  constructor(el: HTMLElement, address: string, shares: number[]) {
    this.#el = el
    this.#shares = shares
    this.#layers = [0, 1].map(() => h("img", {src: address, alt: "", style: `--stages: ${shares.length}`}))
    el.replaceChildren(...this.#layers)
  }

  async draw({share}: Apart) {
    await this.#layers[0].decode().catch(() => {})
    const after = Math.max(
      1,
      this.#shares.findIndex((one) => one >= share),
    )
    const [low, high] = [this.#shares[after - 1], this.#shares[after]]
    this.#layers.forEach((layer, i) => {
      layer.style.setProperty("--stage", String(after - 1 + i))
      if (i) layer.style.opacity = String((share - low) / (high - low))
    })
    this.#el.classList.toggle("shown", share > 0)
  }

  close() {
    this.#el.replaceChildren()
  }
}
