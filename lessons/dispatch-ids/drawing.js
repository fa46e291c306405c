// A small picture, who draws which of its pixels, and the threads of the recorded workgroup on theirs.
//
// facts: width, height, owner [thread of each pixel, counted through all workgroups], group, drawn [pixels], steps [when]
// options: picture (a buffer of float4)
import {h} from "#web/shell/dom.js"
import {onArrows} from "#web/drawing/arrows.js"
import {lane, s, set} from "#web/drawing/svg.js"

const LANES = 32

export function draw(host) {
  const {root} = host
  const words = h("p", {class: "reading num", role: "status"})
  let cells = [],
    discs = new Map(),
    at = null,
    svg = null,
    ring = null

  const groupOf = (place) => Math.floor(host.facts.owner[place] / LANES)
  const laneOf = (place) => host.facts.owner[place] % LANES

  const point = (place) => {
    at = place
    const {width} = host.facts,
      x = place % width,
      y = Math.floor(place / width),
      size = svg.unit
    set(ring, {x: x * size + 1, y: y * size + 1, visibility: "visible"})
    words.textContent = `Pixel (${x}, ${y}): thread ${laneOf(place)} of workgroup ${groupOf(place)}, number ${host.facts.owner[place]} of ${host.facts.owner.length}.`
  }

  const build = () => {
    const {width, height, owner, group} = host.facts
    if (!owner) return root.replaceChildren()
    const size = Math.max(18, Math.floor((root.clientWidth - 4) / width)),
      r = Math.min(7, size * 0.2)
    svg = s("svg", {
      viewBox: `0 0 ${width * size} ${height * size}`,
      width: width * size,
      height: height * size,
      class: "pixelmap",
      tabindex: 0,
      role: "application",
      "aria-label": `A picture of ${width} × ${height} pixels. Arrow keys go from pixel to pixel and say which thread draws each.`,
    })
    svg.unit = size
    cells = owner.map((_, place) =>
      s("rect", {x: (place % width) * size, y: Math.floor(place / width) * size, width: size, height: size, class: "px"}),
    )
    svg.append(...cells)
    // lines between pixels of different workgroups
    let d = ""
    owner.forEach((_, place) => {
      const x = place % width,
        y = Math.floor(place / width)
      if (x + 1 < width && groupOf(place) !== groupOf(place + 1)) d += `M${(x + 1) * size} ${y * size}v${size}`
      if (y + 1 < height && groupOf(place) !== groupOf(place + width)) d += `M${x * size} ${(y + 1) * size}h${size}`
    })
    svg.append(s("path", {d, class: "groupline"}))
    discs = new Map()
    owner.forEach((_, place) => {
      if (groupOf(place) !== group) return
      const disc = lane(((place % width) + 0.5) * size, (Math.floor(place / width) + 0.5) * size, r)
      discs.set(laneOf(place), disc)
      svg.append(disc.el)
    })
    ring = s("rect", {width: size - 2, height: size - 2, class: "pxring", visibility: "hidden"})
    svg.append(ring)
    const find = (event) => {
      const box = svg.getBoundingClientRect(),
        x = Math.floor(((event.clientX - box.left) / box.width) * width),
        y = Math.floor(((event.clientY - box.top) / box.height) * height)
      if (x >= 0 && x < width && y >= 0 && y < height) point(y * width + x)
    }
    svg.onpointermove = find
    svg.onpointerdown = find
    onArrows(svg, {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -width, ArrowDown: width}, (way) => {
      const next = (at ?? 0) + way
      if (next >= 0 && next < owner.length) point(next)
    })
    root.replaceChildren(svg, words)
    if (!words.textContent) words.textContent = "Point at a pixel."
    else if (at !== null) point(at)
  }

  const paint = (look) => {
    const {owner, group, drawn, steps} = host.facts
    if (!owner) return
    const picture = look.memory(host.options.picture)
    const done = new Map(drawn.map((place, i) => [place, steps[i]]))
    cells.forEach((cell, place) => {
      const mine = groupOf(place) === group,
        ready = mine && look.step >= done.get(place)
      const byte = (part) => Math.round(Math.min(1, Math.max(0, picture?.number(place, part) ?? 0)) * 255)
      cell.setAttribute("style", ready ? `fill: rgb(${byte(0)} ${byte(1)} ${byte(2)})` : "")
      cell.setAttribute("class", mine ? "px mine" : "px")
    })
    for (const [number, disc] of discs) disc.show(look.status(number), number === look.thread)
  }
  return {
    open: build,
    paint,
    resized(look) {
      build()
      paint(look)
    },
  }
}
