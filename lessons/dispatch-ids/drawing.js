// A small picture, which thread draws which of its pixels, and the threads of the recorded workgroup on theirs.
import {listChoices} from "#web/drawing/choices.js"
import {redrawn} from "#web/drawing/redrawn.js"
import {canvas, classes, css, laneMark, s, setAttributes} from "#web/drawing/svg.js"
import {h} from "#web/runtime/dom.js"
import {onArrows} from "#web/widgets/roving.js"

/** @import {Drawn, DrawingHost} from "#web/drawing/types.d.ts" */
/** @import {Look} from "#web/drawing/look.js" */

/**
 * Pixels are numbered row by row.
 * @typedef {object} Facts
 * @property {number} width
 * @property {number} height
 * @property {number} wave  threads of a wave
 * @property {number[]} owner  thread of each pixel, counted through all workgroups
 * @property {number} group  that was recorded
 * @property {number[]} drawn  pixels, in the order in which its threads draw them
 * @property {number[]} steps  when
 * @property {number[]} found  step at which each thread knows its pixel
 * @property {number[][]} picture  red, green, blue of each pixel, once all workgroups have drawn
 */

const LANES = 32
const WORDS = 40 // px: the line below the picture

/** @param {number} thread */
const groupOf = (thread) => Math.floor(thread / LANES)

/** @param {DrawingHost<Facts>} host */
export const draw = (host) => redrawn(host, (facts) => facts.owner, build)

/**
 * @param {DrawingHost<Facts>} host
 * @returns {Drawn}
 */
function build(host) {
  const {width, owner, steps, group} = host.facts
  const [name, words] = [h("span", {class: "pixel-name"}), h("span")]
  const reading = h("p", {class: "reading num"}, name, words)
  let pointed = -1 // the pixel that the reader chose, -1 for none
  let shown = 0
  const show = (/** @type {number} */ pixel) => {
    shown = pixel
    const thread = owner[pixel]
    const number = `thread ${thread % LANES} of workgroup ${groupOf(thread)}, number ${thread} of ${owner.length}`
    name.textContent = `Pixel (${pixel % width}, ${Math.floor(pixel / width)}): `
    words.textContent = `${number}.`
  }
  const point = (/** @type {number} */ pixel) => {
    pointed = pixel
    show(pixel)
    drawn.mark(pixel)
  }
  const drawn = picture(host, () => shown, point)
  const paint = (/** @type {Look} */ look) => {
    // until the reader chooses a pixel, it is that of the chosen thread
    if (pointed < 0) show(Math.max(0, owner.indexOf(group * LANES + look.thread)))
    drawn.paint(look)
  }
  return {
    el: h("div", {}, drawn.el, reading),
    paint,
    describe: (look) => `${steps.filter((step) => look.reached(step)).length} of ${LANES} pixels of workgroup ${group} are drawn.`,
    news: () => "", // each step says how many
    width: host.root.clientWidth,
  }
}

/**
 * @param {DrawingHost<Facts>} host
 * @param {() => number} shown  the pixel that is described
 * @param {(pixel: number) => void} point
 */
function picture({facts, room}, shown, point) {
  const {width, height, owner, group} = facts
  const space = room()
  const size = Math.max(16, Math.floor(Math.min((space.width - 4) / width, (space.height - WORDS) / height)))
  const corner = (/** @type {number} */ pixel) => ({x: (pixel % width) * size, y: Math.floor(pixel / width) * size})
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

  const pointAt = (/** @type {PointerEvent} */ event) => {
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
  const nameOf = (/** @type {number} */ pixel) => {
    const thread = owner[pixel]
    return `Pixel (${pixel % width}, ${Math.floor(pixel / width)}): thread ${thread % LANES} of workgroup ${groupOf(thread)}`
  }
  return {
    el: svg,
    mark(/** @type {number} */ pixel) {
      const {x, y} = corner(pixel)
      setAttributes(ring, {x: x + 1, y: y + 1, visibility: "visible"})
      paintChoices(pixel, nameOf)
    },
    paint(/** @type {Look} */ look) {
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
 * @param {number[]} owner
 * @param {number} width  of the picture, in pixels
 * @param {number} size  of a pixel
 */
export function groupBorders(owner, width, size) {
  let d = ""
  const group = (/** @type {number} */ pixel) => groupOf(owner[pixel])
  owner.forEach((_, pixel) => {
    const [x, y] = [pixel % width, Math.floor(pixel / width)]
    const [right, below] = [pixel + 1, pixel + width]
    if (x + 1 < width && group(pixel) !== group(right)) d += `M${(x + 1) * size} ${y * size}v${size}`
    if (below < owner.length && group(pixel) !== group(below)) d += `M${x * size} ${(y + 1) * size}h${size}`
  })
  return d
}
