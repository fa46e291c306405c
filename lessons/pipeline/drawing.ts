// A tile's way through the stages: boxes with their tokens, the Gaussians over the tile and its pixels, the shared list.
import {alongEllipse, alongPath, placeLabels, type Point} from "#web/drawing/labels.ts"
import {redrawn} from "#web/drawing/redrawn.ts"
import {canvas, classes, css, laneMark, s} from "#web/drawing/svg.ts"
import {h} from "#web/runtime/dom.ts"
import {ARROWS, onArrows, setTabStop} from "#web/widgets/roving.ts"
import type {Look} from "#web/drawing/look.ts"
import type {DrawingHost, Drawn} from "#web/drawing/types.ts"
import type {Recording} from "#web/recording/recording.ts"

interface Stage {
  /** Name of its function. */
  name: string
  title: string
  /** The type that it returns. */
  token: string
  /** The step at which it begins. */
  begin: number
  /** The step at which it ends. */
  end: number
}

/** A Gaussian's box, in pixels. */
interface Box {
  center: [x: number, y: number]
  /** Direction of its first side. */
  axis: [x: number, y: number]
  /** Half its sides. */
  halfSize: [first: number, second: number]
}

interface Facts {
  stages: Stage[]
  /** Ids in the list. */
  count: number
  /** Cells of the list. */
  padded: number
  /** Pixels across. */
  wide: number
  /** Step at which each thread's pixel is written. */
  drawn: number[]
  /** Size of the picture. */
  size: [width: number, height: number]
  /** Its first pixel. */
  tile: [x: number, y: number]
  /** Boxes of all Gaussians. */
  boxes: Box[]
  /** Gaussians that touch the tile. */
  listed: number[]
}

const COARSE = 1 // the stage that makes the list
const SORT = 3
const SMOOTH = 4 // the first stage through which a derivative goes
const PADDING = 0xffffffff
const BOX_SIGMAS = 4 // to the sides of a box
const DRAWN_SIGMAS = 2 // to the ellipse that is drawn
const DIGIT = 8 // px
const APART = [14, 11] // px, of a number's height: with room around it, and with none
const OFFSETS = [0, -3, 3, -6, 6, -9, 9, -12, 12, -15, 15]
/** Where a number stands from the centre, the nearest first. */
const SHIFTS = OFFSETS.flatMap((dy) => OFFSETS.map((dx) => [dx, dy])).sort((a, b) => Math.hypot(...a) - Math.hypot(...b))
const WITHIN = {best: 0.75, most: 0.95} // of a Gaussian's outline: where its number's middle is, and may be where outlines crowd
const NARROW = 520
const STAGES_HEIGHT = 176 // px: the boxes with their notes, and the names below

export const draw = (host: DrawingHost<Facts>) => redrawn(host, (facts) => facts.boxes, build)

function build({facts, room}: DrawingHost<Facts>, first: Look): Drawn {
  const entries = stageEntries(first.recording, facts.stages)
  const {width, height} = room()
  const tight = width < NARROW
  const stacked = tight && height === Infinity // as on a phone
  const share = stacked ? 1 : 0.58
  const scale = Math.max(4, Math.min((width * share) / facts.size[0], (height - STAGES_HEIGHT) / facts.size[1]))
  const boxes = facts.stages.map((_, i) => stageBox(facts, i))
  const list = sharedList(facts)
  const counters = ["blobCountAT", "blobCount"].map(counter)
  const picture = pictureOfTile(facts, scale)
  const counts = h("div", {class: "stage-counters"}, ...counters.map((one) => one.el))
  const memory = h("div", {}, h("p", {class: "stage-name"}, "blobs"), list.el, counts)
  const el = h(
    "div",
    {class: classes(tight && "stage-tight", stacked && "stage-stacked")},
    h("ol", {class: "stage-row", "data-mini": ""}, ...boxes.map((box) => box.el)),
    h("p", {class: "stage-note", "data-mini": ""}, "whole numbers, which jump", h("span", {}, "smooth: gradients flow")),
    h("div", {class: "stage-below"}, h("div", {}, h("p", {class: "stage-name"}, "picture"), picture.el), memory),
  )
  return {
    el,
    paint(look) {
      const within = entries.map((own, thread) => stageOf(look, thread, own))
      for (const box of boxes) box.paint(look, within)
      list.paint(look)
      for (const one of counters) one.paint(look)
      picture.paint(look)
    },
    describe: (look) => describe(facts, look),
    news: (look) => listText(facts, look),
  }
}

function describe(facts: Facts, look: Look) {
  const drawn = facts.drawn.filter((step) => look.reached(step)).length
  return `${listText(facts, look)} ${drawn} of ${facts.drawn.length} pixels are drawn.`
}

/** What is on the shared list. Sorted, it is told in other words, so that it is announced even where it was in order before. */
function listText({padded, stages}: Facts, look: Look) {
  const memory = look.memory("blobs")
  const ids = Array.from({length: padded}, (_, i) => memory?.number(i) ?? null).filter((id) => id !== null)
  return `On the list${look.reached(stages[SORT].end) ? ", in order" : ""}: ${ids.map((id) => (id === PADDING ? "padding" : id)).join(", ") || "nothing yet"}.`
}

/** Number of the thread's event that enters a stage, and which. */
type StageEntry = {turn: number; stage: number}

/** The stages that each thread enters, with the number of its event that does. */
function stageEntries(recording: Recording, stages: Stage[]) {
  const numbers = new Map(stages.map(({name}, i) => [name, i]))
  const entries: StageEntry[][] = Array.from({length: recording.threads}, () => [])
  for (let event = 0; event < recording.length; event++) {
    const site = recording.about(event)
    const stage = site.kind === "call" ? numbers.get(site.name ?? "") : undefined
    if (stage !== undefined) entries[recording.thread[event]].push({turn: recording.turn[event], stage})
  }
  return entries
}

/** The stage a thread is in, the last it entered; −1 before the first and once the thread is done. */
function stageOf(look: Look, thread: number, entries: StageEntry[]) {
  if (look.status(thread) === "done") return -1
  const done = look.state.done(thread)
  return entries.findLast(({turn}) => turn < done)?.stage ?? -1
}

/** A stage, with the threads that are in it. */
function stageBox({stages, wide, drawn}: Facts, i: number) {
  const {title, token, begin, end} = stages[i]
  const map = canvas(52, 26, {"aria-hidden": "true"})
  const seats = drawn.map((_, t) => [3.5 + (t % wide) * 6.4, 3.5 + Math.floor(t / wide) * 6.4])
  const lanes = seats.map(([x, y]) => laneMark(x, y, 2.4))
  map.append(...seats.map(([cx, cy]) => s("circle", {cx, cy, r: 0.8, class: "seat"})), ...lanes.map((lane) => lane.el))
  const words = h("span", {class: "stage-token"}, token.replace("ShortList", "\u200bShortList"))
  const el = h("li", {class: classes("stage-box", i === SMOOTH && "smooth")}, h("b", {}, title), map, words)
  return {
    el,
    /** @param within  the stage of each thread */
    paint(look: Look, within: number[]) {
      const current = within.includes(i)
      el.classList.toggle("stage-on", current)
      el.classList.toggle("past", look.reached(end) && !current)
      el.classList.toggle("ahead", !look.reached(begin))
      el.setAttribute("aria-current", current ? "step" : "false")
      lanes.forEach((lane, thread) => {
        lane.el.setAttribute("visibility", within[thread] === i ? "visible" : "hidden")
        if (within[thread] === i) lane.show(look.status(thread), thread === look.thread)
      })
    },
  }
}

/** The shared list: a cell an id. A click has the stepper follow it. Arrow keys, Home and End go from cell to cell. */
function sharedList({padded}: Facts) {
  let latest: Look | null = null
  const cells = Array.from({length: padded}, (_, i) => {
    const onclick = ({detail}: MouseEvent) => {
      latest?.memory("blobs")?.follow(i)
      if (detail) cells[i].blur() // after a click, the arrow keys step the run again
    }
    return h("button", {type: "button", class: "cell", title: `blobs[${i}]`, "aria-description": "", onclick})
  })
  const list = h("div", {class: "stage-list", role: "group", "aria-label": "The shared list"}, ...cells)
  setTabStop(cells, 0)
  onArrows(list, {...ARROWS, Home: -padded, End: padded}, (step, {target}) => {
    const next = Math.max(0, Math.min(padded - 1, cells.indexOf(target as HTMLButtonElement) + step))
    setTabStop(cells, next)
    cells[next].focus()
  })
  const paint = (look: Look) => {
    latest = look
    const memory = look.memory("blobs")
    cells.forEach((cell, i) => {
      const id = memory?.number(i) ?? null
      const padding = id === PADDING
      cell.textContent = id === null ? "" : padding ? "∞" : String(id)
      cell.className = classes(`cell ${memory?.touched(i) ?? ""}`, padding && "pad", id === null && "unwritten")
      cell.setAttribute("aria-label", `blobs[${i}]: ${nameOf(id)}`)
    })
  }
  return {el: list, paint}
}

function nameOf(id: number | null) {
  if (id === null) return "not written yet"
  return id === PADDING ? "padding" : `Gaussian ${id}`
}

function counter(name: string) {
  const cell = h("span", {class: "cell"})
  const paint = (look: Look) => {
    const memory = look.memory(name)
    const known = memory?.number(0) ?? null
    cell.textContent = String(known ?? "–")
    cell.className = classes("cell", memory?.touched(0), known === null && "later")
  }
  return {el: h("label", {}, h("code", {}, name), cell), paint}
}

/** The picture's Gaussians with their numbers, the tile in its frame, and the tile's pixels, pale until they are written. */
function pictureOfTile({wide, drawn, size, tile, boxes, listed, stages}: Facts, scale: number) {
  const [width, height] = size.map((pixels) => pixels * scale)
  const el = canvas(width, height, {role: "img", class: "stage-tile"})
  el.append(s("rect", {x: 0.5, y: 0.5, width: Math.max(0, width - 1), height: Math.max(0, height - 1), class: "stage-paper"}))
  const pixels = drawn.map((_, thread) => {
    const [x, y] = [tile[0] + (thread % wide), tile[1] + Math.floor(thread / wide)]
    return s("rect", {x: x * scale, y: y * scale, width: scale, height: scale})
  })
  const frame = {x: tile[0] * scale, y: tile[1] * scale, width: wide * scale, height: (drawn.length / wide) * scale}
  const ellipses = boxes.map(({center, axis, halfSize}) => {
    const [x, y] = center.map((value) => (value + 0.5) * scale)
    const [rx, ry] = halfSize.map((value) => Math.max(0, (value * scale * DRAWN_SIGMAS) / BOX_SIGMAS))
    const turn = (Math.atan2(axis[1], axis[0]) * 180) / Math.PI
    return s("ellipse", {cx: x, cy: y, rx, ry, transform: `rotate(${turn} ${x} ${y})`})
  })
  const names = numbersOf(boxes, listed, scale, {width, height}, frame)
  const shown = names.filter((name) => name !== null)
  const title = (i: number) => s("title", {}, `Gaussian ${i}`)
  ellipses.forEach((ellipse, i) => ellipse.append(title(i)))
  el.append(...pixels, ...ellipses, s("rect", {...frame, class: "stage-frame"}), ...shown)
  const paint = (look: Look) => {
    const [now, final] = [look.memory("picture"), look.final.memory("picture")]
    pixels.forEach((pixel, thread) => {
      const ready = look.reached(drawn[thread])
      const colour = [0, 1, 2].map((part) => (ready ? now : final)?.number(thread, part) ?? 1)
      pixel.style.fill = css(colour)
      pixel.setAttribute("class", classes("px", !ready && "later"))
    })
    const found = look.reached(stages[COARSE].end)
    const ready = drawn.filter((step) => look.reached(step)).length
    const touching = found
      ? `Gaussians ${listed.join(", ")} touch the tile in the frame`
      : "which of them touch the tile is not known yet"
    const label = `${boxes.length} Gaussians over a picture; ${touching}; ${ready} of its ${drawn.length} pixels are drawn`
    el.setAttribute("aria-label", label)
    boxes.forEach((_, i) => {
      const own = listed.includes(i)
      ellipses[i].setAttribute("class", classes("stage-gaussian", own && "own", !found && "unknown"))
      names[i]?.classList.toggle("unknown", !found)
    })
  }
  return {el, paint}
}

/**
 * The numbers of the Gaussians on the list, each within its own outline: clear of the tile's frame and of other numbers, and of all
 * outlines, else of those of other Gaussians, else only of the frame and of numbers. Null for the others, and for one without room.
 */
function numbersOf(
  boxes: Box[],
  listed: number[],
  scale: number,
  room: {width: number; height: number},
  {x, y, width, height}: {x: number; y: number; width: number; height: number},
) {
  const [right, bottom] = [x + width, y + height]
  const border = alongPath([
    [x, y],
    [right, y],
    [right, bottom],
    [x, bottom],
    [x, y],
  ]) // prettier-ignore
  const outlines = boxes.map(({center, axis, halfSize}) => {
    const [cx, cy] = center.map((value) => (value + 0.5) * scale)
    const [rx, ry] = halfSize.map((value) => (value * scale * DRAWN_SIGMAS) / BOX_SIGMAS)
    return {cx, cy, rx, ry, axis, points: alongEllipse([cx, cy], [rx, ry], Math.atan2(axis[1], axis[0]))}
  })
  const labelsOf = (high: number) =>
    boxes.map((_, i) => {
      const {cx, cy, rx, ry, axis} = outlines[i]
      const size = {width: DIGIT * String(i).length, height: high}
      const out = ([dx, dy]: number[]) => Math.hypot((dx * axis[0] + dy * axis[1]) / rx, (dy * axis[0] - dx * axis[1]) / ry)
      const placesWithin = (most: number) =>
        SHIFTS.filter((shift) => out(shift) <= most).map(
          ([dx, dy]) => [cx + dx - size.width / 2, cy + dy - size.height / 2] as Point,
        )
      return {...size, places: placesWithin(WITHIN.best), further: placesWithin(WITHIN.most)}
    })
  const others = (one: number) => outlines.flatMap(({points}, i) => (i === one ? [] : points))
  const placed = (high: number) => {
    const labels = labelsOf(high)
    const taken: {x: number; y: number; width: number; height: number}[] = []
    const middles = new Map<number, Point>()
    for (const i of listed) {
      const place = (places: Point[], points: Point[]) =>
        placeLabels([{...labels[i], places}], room, {points: [...border, ...points], boxes: taken})[0]
      const {places, further} = labels[i]
      const at =
        place(places, [...outlines[i].points, ...others(i)]) ?? place(places, others(i)) ?? place(places, []) ?? place(further, [])
      if (!at) continue
      middles.set(i, [at[0] + labels[i].width / 2, at[1] + high / 2])
      taken.push({...labels[i], x: at[0], y: at[1]})
    }
    return middles
  }
  const tries = APART.map(placed)
  const found = tries.find((middles) => middles.size === listed.length) ?? tries[tries.length - 1]
  return boxes.map((_, i) => {
    const at = found.get(i)
    if (!at) return null
    const [middle, base] = [at[0], at[1] + 4]
    const inside = middle > x && middle < right && base > y && base - 5 < bottom
    const label = s("text", {x: middle, y: base, "text-anchor": "middle", class: "stage-number"}, String(i))
    label.classList.toggle("inside", inside)
    return label
  })
}
