// One Gaussian over a small picture: dragged, stretched, turned and recoloured by hand. Its nine numbers, the bell curve that the
// picture's pixels lie on, and what one of these pixels finds out step by step.
//
// While something is in hand, the reader's browser records the kernel, and all is of that recording. Where it cannot, what is in hand is
// drawn as it was set, and the rest is the last recording's, and pale.
import {h} from "#web/runtime/dom.ts"
import {setPixel} from "#web/drawing/pixel_picker.ts"
import {sender} from "#web/drawing/throttled_sender.ts"
import {bellCurve} from "./bell.ts"
import {nineNumbers} from "./numbers.ts"
import type {Values} from "./live.ts"
import {spot} from "./spot.ts"
import {STAGE, cssOf, shareText, type Facts, type Seen} from "./stages.ts"
import type {Look} from "#web/drawing/look.ts"
import type {DrawingHost, DrawingView} from "#web/drawing/types.ts"

const LEAST_BESIDE = 400
const BESIDE = 520 // px: from this width on, the numbers stand beside the picture
const NUMBERS_WIDTH = [16, 22] // rem, at least and at most: larger type takes more of the width
const NUMBERS_SHARE = 0.48 // of the width
const GAP = 20

export function draw(host: DrawingHost<Facts, unknown, Values>): DrawingView {
  let numbers: number[] = []
  let busy = false // something is being dragged
  let follows = false // this browser records what is in hand
  const send = sender(() => host.set("numbers", numbers))
  let parts: ReturnType<typeof build> | null = null
  /** Those of the recording for a trained picture, whose Gaussians are not the reader's to change. */
  const shownNumbers = () => [...(host.values.picture ? host.facts.numbers : host.values.numbers)]

  /**
   * Take other numbers from the reader's hand.
   * @param changes  by place among the nine
   */
  const change = (changes: Record<number, number>, dragging: boolean) => {
    numbers = numbers.map((number, i) => (i in changes ? fitted(changes[i], host.facts.ranges[i]) : number))
    busy = dragging
    follows = host.follow({...host.values, numbers})
    if (!follows) preview() // else it comes with the recording: showing it now would cost a frame of its own
    if (!dragging) send.now()
    else if (!follows) send.soon()
  }

  /** Show the numbers in hand, if they are others than those recorded. */
  const preview = () => {
    const {numbers: recorded, thinnest} = host.facts
    const ahead = !follows && numbers.some((number, i) => Math.abs(number - recorded[i]) > 1e-6)
    host.root.classList.toggle("ahead", ahead)
    if (ahead || busy) parts?.picture.preview(numbers)
    parts?.table.show(numbers, thinnest)
  }

  const build = () => {
    const picture = spot({
      facts: () => host.facts,
      change,
      choose: (pixel) => {
        follows = host.follow({...host.values, numbers, pixel})
        setPixel(host, pixel)
      },
    })
    const table = nineNumbers(host.facts.ranges, change)
    const bell = bellCurve()
    const share = pixelShare()
    const left = h("div", {class: "spot-left", "data-mini": ""}, picture.el)
    const right = h("div", {class: "spot-right"}, table.el, share.el)
    host.root.replaceChildren(h("div", {class: "spot", "data-testid": "controls"}, left, right))
    const placeBell = (beside: boolean) => {
      if (beside) left.append(bell.el)
      else share.el.before(bell.el) // the numbers are nearer to the picture that they change
    }
    return {picture, table, bell, share, placeBell}
  }

  const layOut = () => {
    const {width, height} = host.room()
    const beside = width >= (Number.isFinite(height) ? LEAST_BESIDE : BESIDE) // below each other they are higher than a window
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize)
    const [least, greatest] = NUMBERS_WIDTH.map((one) => one * rem)
    const numbersWidth = Math.min(greatest, Math.max(least, NUMBERS_SHARE * width))
    const across = Math.max(0, beside ? width - numbersWidth - GAP : width)
    const [w, h_] = host.facts.size
    const most = Number.isFinite(height) ? Math.max(120, height - 150) : 1000
    const pictureWidth = Math.min(across, (most * w) / h_)
    const pictureHeight = (pictureWidth * h_) / w
    const bellHeight = Number.isFinite(height) ? Math.min(170, Math.max(110, height - pictureHeight - 12)) : 130
    host.root.classList.toggle("spot-beside", beside)
    parts?.placeBell(beside)
    host.root.style.setProperty("--numbers-width", `${numbersWidth}px`)
    parts?.picture.resize(pictureWidth, pictureHeight)
    parts?.bell.resize(across, bellHeight)
  }

  const open = () => {
    if (!host.facts.seen) return
    parts ??= build()
    if (!busy) numbers = shownNumbers()
    host.root.classList.toggle("trained", host.values.picture !== "")
    parts.table.el.inert = host.values.picture !== ""
    parts.picture.show()
    preview()
    parts.bell.show(host.facts)
    if (!busy) layOut() // nothing changes its room while something is dragged, and asking for it costs a frame half its time
    if (!host.following) send.answered()
  }

  return {
    previews: true,
    open,
    changed() {
      if (busy || !parts) return
      numbers = shownNumbers()
      preview()
    },
    paint(look) {
      if (!parts) return
      const {ends, seen, numbers: recorded} = host.facts
      const done = ends.filter((end) => look.step >= end).length // stages
      parts.picture.paint(done)
      parts.table.paint(done)
      parts.bell.paint(seen, recorded.slice(5, 8), done)
      parts.share.paint(seen, recorded.slice(5, 8), done)
    },
    describe: (look) => (parts ? `${shapeText(host.facts)} ${pixelText(host.facts, look)}` : ""),
    news: () => (parts ? shapeText(host.facts) : ""), // the pixel's sliders say where it is, and each step what it finds
    resized(look) {
      if (!parts) return
      layOut()
      this.paint(look)
    },
  }
}

const fitted = (number: number, [low, high]: [number, number]) => Math.round(1000 * Math.min(high, Math.max(low, number))) / 1000

/** How much of the chosen pixel is the Gaussian's, how much the paper's, and the colour that it comes to. */
function pixelShare() {
  const [own, mixed] = [h("i", {class: "own"}), h("i", {class: "swatch"})]
  const words = h("p", {class: "num"})
  const el = h(
    "div",
    {class: "spot-share awaits"},
    h("p", {}, "The chosen pixel"),
    h("div", {class: "spot-mix"}, h("div", {class: "bar"}, own), mixed),
    words,
  )
  return {
    el,
    paint(seen: Seen, colour: number[], done: number) {
      own.style.width = `${100 * seen.alpha}%`
      own.style.backgroundColor = cssOf(colour)
      mixed.style.backgroundColor = cssOf(seen.color)
      words.textContent = `α ${shareText(seen.alpha)}   paper ${shareText(seen.light)}`
      own.classList.toggle("pale", done <= STAGE.alpha)
      mixed.classList.toggle("pale", done <= STAGE.color)
      words.classList.toggle("later", done <= STAGE.alpha)
    },
  }
}

function shapeText({numbers, seen}: Facts) {
  const turned = Math.round((numbers[4] * 180) / Math.PI)
  return `An ellipse of ${seen.size.map((one) => one.toFixed(1)).join(" by ")} pixels, turned by ${turned} degrees.`
}

function pixelText({pixel, seen, ends}: Facts, look: Look) {
  const far = look.step >= ends[STAGE.distance] ? `, ${seen.distance.toFixed(2)} sizes from its centre` : ""
  return `The chosen pixel is in column ${pixel[0]} of row ${pixel[1]}${far}.`
}
