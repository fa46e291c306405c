// A small picture, which thread draws which of its pixels, and the threads of the recorded workgroup on theirs.
import {listChoices} from "#web/drawing/choices.ts"
import {redrawn} from "#web/drawing/redrawn.ts"
import {canvas, classes, css, laneMark, s, setAttributes} from "#web/drawing/svg.ts"
import {h} from "#web/runtime/dom.ts"
import {onArrows} from "#web/widgets/roving.ts"
import type {Look} from "#web/drawing/look.ts"
import type {DrawingHost, Drawn} from "#web/drawing/types.ts"

/** Pixels are numbered row by row. */
interface Facts {
  width: number
  height: number
  /** Threads of a wave. */
  wave: number
  /** Thread of each pixel, counted through all workgroups. */
  owner: number[]
  /** The workgroup that was recorded. */
  group: number
  /** Pixels, in the order in which its threads draw them. */
  drawn: number[]
  /** The steps at which they draw them. */
  steps: number[]
  /** Step at which each thread knows its pixel. */
  found: number[]
  /** Red, green, blue of each pixel, once all workgroups have drawn. */
  picture: number[][]
}

const LANES = 32
const WORDS = 40 // px: the line below the picture

const groupOf = (thread: number) => Math.floor(thread / LANES)

export const draw = (host: DrawingHost<Facts>) => redrawn(host, (facts) => facts.owner, build)

function build(host: DrawingHost<Facts>): Drawn {
  const {width, owner, steps, group} = host.facts
  const [name, words] = [h("span", {class: "pixel-name"}), h("span")]
  const reading = h("p", {class: "reading num"}, name, words)
  let pointed = -1 // the pixel that the reader chose, -1 for none
  let shown = 0
  const show = (pixel: number) => {
    shown = pixel
    const thread = owner[pixel]
    const number = `thread ${thread % LANES} of workgroup ${groupOf(thread)}, number ${thread} of ${owner.length}`
    name.textContent = `Pixel (${pixel % width}, ${Math.floor(pixel / width)}): `
    words.textContent = `${number}.`
  }
  const point = (pixel: number) => {
    pointed = pixel
    show(pixel)
    drawn.mark(pixel)
  }
  const drawn = picture(host, () => shown, point)
  const paint = (look: Look) => {
    // until the reader chooses a pixel, it is that of the chosen thread
    if (pointed < 0) show(Math.max(0, owner.indexOf(group * LANES + look.thread)))
    drawn.paint(look)
  }
  return {
    el: h("div", {}, drawn.el, reading),
    paint,
    describe: (look) => `${steps.filter((step) => look.reached(step)).length} of ${LANES} pixels of workgroup ${group} are drawn.`,
    news: () => "", // each step says how many
  }
}

/** @param shown  the pixel that is described */
function picture({facts, room}: DrawingHost<Facts>, shown: () => number, point: (pixel: number) => void) {
  const {width, height, owner, group} = facts
  const space = room()
  const size = Math.max(16, Math.floor(Math.min((space.width - 4) / width, (space.height - WORDS) / height)))
  const corner = (pixel: number) => ({x: (pixel % width) * size, y: Math.floor(pixel / width) * size})
  const svg = canvas(width * size, height * size, {
    class: "pixelmap",
    "data-mini": "",
  })
  const cells = owner.map((_, pixel) => s("rect", {...corner(pixel), width: size, height: size, class: "px"}))
  const lanes = new Map(
    owner.flatMap((thread, pixel) => {
      if (groupOf(thread) !== group) return []
      const {x, y} = corner(pixel)
      return [[thread % LANES, laneMark(x + 0.5 * size, y + 0.5 * size, Math.min(7, size * 0.2))]]
    }),
  )
  const ring = s("rect", {width: size - 2, height: size - 2, class: "pxring", visibility: "hidden"})
  const borders = s("path", {d: groupBorders(owner, width, size), class: "groupline"})
  svg.append(...cells, borders, ...[...lanes.values()].map((lane) => lane.el), ring)
  const boxes = owner.map((_, pixel) => ({...corner(pixel), width: size, height: size}))
  const paintChoices = listChoices(svg, "Pixels and the threads that draw them", boxes, point)

  const pointAt = (event: PointerEvent) => {
    const box = svg.getBoundingClientRect()
    const x = Math.floor(((event.clientX - box.left) / box.width) * width)
    const y = Math.floor(((event.clientY - box.top) / box.height) * height)
    if (x >= 0 && x < width && y >= 0 && y < height) point(y * width + x)
  }
  svg.onpointermove = pointAt
  svg.onpointerdown = pointAt
  onArrows(svg, {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -width, ArrowDown: width}, (step) => {
    const next = shown() + step
    if (next >= 0 && next < owner.length) point(next)
  })

  const drawnAt = new Map(facts.drawn.map((pixel, i) => [pixel, facts.steps[i]]))
  cells.forEach((cell, pixel) => {
    cell.style.fill = css(facts.picture[pixel])
  })
  const nameOf = (pixel: number) => {
    const thread = owner[pixel]
    return `Pixel (${pixel % width}, ${Math.floor(pixel / width)}): thread ${thread % LANES} of workgroup ${groupOf(thread)}`
  }
  return {
    el: svg,
    mark(pixel: number) {
      const {x, y} = corner(pixel)
      setAttributes(ring, {x: x + 1, y: y + 1, visibility: "visible"})
      paintChoices(pixel, nameOf)
    },
    paint(look: Look) {
      paintChoices(shown(), nameOf)
      cells.forEach((cell, pixel) => {
        const step = drawnAt.get(pixel)
        const ready = step !== undefined && look.reached(step)
        cell.setAttribute("class", classes("px", groupOf(owner[pixel]) === group && "mine", !ready && "later"))
      })
      const {moment, recording} = look
      const wave = moment.event < 0 ? -1 : Math.floor(recording.thread[moment.event] / facts.wave)
      for (const [thread, lane] of lanes) {
        const atHand = Math.floor(thread / facts.wave) === wave && look.isAtHand(thread)
        lane.show(look.status(thread), thread === look.thread, atHand)
      }
    },
  }
}

/**
 * Path of the lines between pixels of different workgroups.
 * @param width  of the picture, in pixels
 * @param size  of a pixel
 */
export function groupBorders(owner: number[], width: number, size: number) {
  let d = ""
  const group = (pixel: number) => groupOf(owner[pixel])
  owner.forEach((_, pixel) => {
    const [x, y] = [pixel % width, Math.floor(pixel / width)]
    const [right, below] = [pixel + 1, pixel + width]
    if (x + 1 < width && group(pixel) !== group(right)) d += `M${(x + 1) * size} ${y * size}v${size}`
    if (below < owner.length && group(pixel) !== group(below)) d += `M${x * size} ${(y + 1) * size}h${size}`
  })
  return d
}
