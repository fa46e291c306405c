// A derivative link by link: a small picture whose pixels are threads, what each asks for, and the chain of the chosen one.
import {show} from "#web/drawing/look.js"
import {redrawn} from "#web/drawing/redrawn.js"
import {canvas, css, s, setAttributes} from "#web/drawing/svg.js"
import {h} from "#web/shell/dom.js"
import {onArrows} from "#web/widgets/roving.js"

/** @import {Drawn, DrawingHost} from "#web/drawing/types.d.ts" */
/** @import {Look} from "#web/drawing/look.js" */

/**
 * One number of a link. All but its name are expressions of the pixel's thread.
 * @typedef {object} Part
 * @property {string} name
 * @property {string} value
 * @property {string} moves  its derivative by p
 * @property {string} gradient  the derivative of the loss by it
 * @property {string} [once]  what has to be there before the gradient counts
 *
 * @typedef {object} Link
 * @property {string} name
 * @property {string} by  function that makes it, empty for none
 * @property {Part[]} parts
 *
 * @typedef {object} Facts
 * @property {[across: number, down: number]} size  in pixels
 * @property {number} blob  the chosen Gaussian
 * @property {number} most  the largest gradient of a pixel
 * @property {number} sum  of all pixels' gradients
 * @property {Link[]} links  from the loss to p
 * @property {[x: number, y: number, sigma1: number, sigma2: number, angle: number, r: number, g: number, b: number][]} ellipses
 */

const GAP = 14
const PADDING = 32
const NARROW = 520

const digits = (/** @type {number} */ value) => (value === 0 ? "0" : show(Number(value.toPrecision(3)), 3))

/** @param {DrawingHost<Facts>} host */
export const draw = (host) => redrawn(host, (facts) => facts.links, build)

/**
 * @param {DrawingHost<Facts>} host
 * @param {Look} look
 * @returns {Drawn}
 */
function build(host, look) {
  const width = host.root.clientWidth
  let latest = look
  const maps = gradientMaps(host, {
    chosen: () => latest.thread,
    choose: (thread) => latest.moment.choose(thread),
  })
  const chain = chainOfLinks(host.facts.links)
  return {
    el: h("div", {class: "chain-body"}, maps.el, chain.el),
    width,
    paint(now) {
      latest = now
      maps.paint(now)
      chain.paint(now)
    },
  }
}

/** @typedef {{chosen(): number, choose(thread: number): void}} Choice */

/**
 * The picture with its Gaussians, and beside it each pixel's gradient.
 * @param {DrawingHost<Facts>} host
 * @param {Choice} choice
 */
function gradientMaps({root, facts, set}, choice) {
  const [across, down] = facts.size
  const count = across * down
  const room = root.clientWidth - PADDING
  const narrow = room < NARROW
  const cell = Math.floor((narrow ? room : (room - GAP) / 2) / across)
  const pictureAttributes = {
    role: "slider",
    tabindex: "0",
    "aria-label": "Pixel, moved with the arrow keys",
    "aria-valuemin": "0",
    "aria-valuemax": String(count - 1),
  }
  const gradientAttributes = {role: "img", "aria-label": "The gradient by p of each pixel"}
  const picture = pixelGrid(facts.size, cell, choice, pictureAttributes, outlines(facts, cell))
  const gradients = pixelGrid(facts.size, cell, choice, gradientAttributes, [])
  onArrows(picture.svg, {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across}, (step) => {
    const next = choice.chosen() + step
    if (next >= 0 && next < count) choice.choose(next)
  })
  const buttons = gaussianButtons(facts, cell, (gaussian) => set("blob", gaussian))
  const own = h("span")
  const all = h("span", {class: "num"})
  const el = h(
    "div",
    {class: narrow ? "chain-maps narrow" : "chain-maps"},
    h("figure", {}, h("div", {class: "chain-sheet"}, picture.svg, ...buttons), h("figcaption", {}, own)),
    h("figure", {}, h("div", {class: "chain-sheet"}, gradients.svg), h("figcaption", {}, all)),
  )

  const paint = (/** @type {Look} */ look) => {
    const memory = look.ownMemory("gradient")
    let written = 0
    for (let i = 0; i < count; i++) {
      const colour = ["r", "g", "b"].map((part) => look.value(`color.p.${part}`, i))
      const known = colour.filter((value) => value !== null)
      setAttributes(picture.cells[i], {style: known.length === 3 ? `fill: ${css(known)}` : ""})
      const gradient = memory.written(i) ? memory.number(i) : null
      if (gradient !== null) written++
      setAttributes(gradients.cells[i], {style: gradientStyle(gradient, facts.most)})
    }
    const [x, y] = [look.thread % across, Math.floor(look.thread / across)]
    picture.mark(look.thread)
    gradients.mark(look.thread)
    own.textContent = `pixel ${x}, ${y}`
    all.textContent = written < count ? "∂L/∂p of each pixel" : `∂L/∂p: red > 0 > blue, sum ${digits(facts.sum)}`
    setAttributes(picture.svg, {"aria-valuenow": look.thread, "aria-valuetext": `column ${x}, row ${y}`})
  }
  return {el, paint}
}

/**
 * The colour of a gradient: red above 0, blue below, by the root of its size.
 * @param {number | null} gradient
 * @param {number} most
 */
function gradientStyle(gradient, most) {
  if (gradient === null) return ""
  const share = Math.round(100 * Math.sqrt(Math.abs(gradient) / most))
  return `fill: color-mix(in oklab, var(${gradient > 0 ? "--c-verm" : "--c-blue"}) ${share}%, var(--surface))`
}

/**
 * A square a pixel, the chosen one marked; a click chooses one.
 * @param {[number, number]} size
 * @param {number} cell
 * @param {Choice} choice
 * @param {Record<string, string>} attributes
 * @param {SVGElement[]} over  the squares
 */
function pixelGrid([across, down], cell, {choose}, attributes, over) {
  const at = (/** @type {number} */ i) => ({
    x: (i % across) * cell,
    y: Math.floor(i / across) * cell,
    width: cell,
    height: cell,
  })
  const cells = Array.from({length: across * down}, (_, i) => s("rect", {...at(i), class: "chain-pixel"}))
  const mark = s("rect", {class: "chain-mark"})
  const svg = canvas(cell * across, cell * down, attributes, ...cells, ...over, mark)
  svg.onclick = (event) => {
    const box = svg.getBoundingClientRect()
    const x = Math.floor((event.clientX - box.left) / cell)
    const y = Math.floor((event.clientY - box.top) / cell)
    if (x >= 0 && y >= 0 && x < across && y < down) choose(y * across + x)
  }
  return {svg, cells, mark: (/** @type {number} */ i) => setAttributes(mark, at(i))}
}

/**
 * The Gaussians at two standard deviations, each a dark line on a light one.
 * @param {Facts} facts
 * @param {number} cell
 */
function outlines({ellipses, blob}, cell) {
  return ellipses.flatMap(([x, y, sigma1, sigma2, angle], i) => {
    const transform = `translate(${(x + 0.5) * cell} ${(y + 0.5) * cell}) rotate(${(angle * 180) / Math.PI})`
    const own = i === blob ? " own" : ""
    return ["halo", "line"].map((kind) =>
      s("ellipse", {rx: 2 * sigma1 * cell, ry: 2 * sigma2 * cell, class: `chain-ellipse ${kind}${own}`, transform}),
    )
  })
}

/**
 * A button on each Gaussian.
 * @param {Facts} facts
 * @param {number} cell
 * @param {(gaussian: number) => void} choose
 */
function gaussianButtons({ellipses, blob}, cell, choose) {
  return ellipses.map(([x, y], i) => {
    const attributes = {
      type: "button",
      class: "chain-number",
      "aria-pressed": String(i === blob),
      "aria-label": `Gaussian ${i}`,
      style: `left: ${(x + 0.5) * cell}px; top: ${(y + 0.5) * cell}px`,
      onclick: () => choose(i),
    }
    return h("button", attributes, String(i))
  })
}

/**
 * The links from the loss to p, each with its parts, and the central difference below them.
 * @param {Link[]} links
 */
function chainOfLinks(links) {
  const rows = links.map(linkRow)
  const difference = h("b", {class: "chain-sum num"})
  const apart = h("span", {class: "num"})
  const name = h("span", {class: "chain-name"}, h("b", {}, "tried out"))
  const check = h("li", {class: "chain-link chain-check"}, name, apart, difference)
  const titles = ["link", "↑ speed with p, ↓ gradient of L", "Σ ↑·↓"].map((title) => h("span", {}, title))
  const list = h("ol", {class: "chain-links"}, ...rows.map((row) => row.el), check)
  const el = h("div", {}, h("p", {class: "chain-key"}, ...titles), list)

  const paint = (/** @type {Look} */ look) => {
    const known = rows.map((row) => row.paint(look))
    const tried = look.value("difference")
    const dp = look.value("dp") ?? 0
    difference.textContent = tried === null ? "" : digits(tried)
    apart.textContent = tried === null ? "(L(p + h) − L(p − h)) / 2h" : `apart by ${digits(Math.abs(tried - dp))}`
    const lowest = known.findLastIndex(({gradients}) => gradients)
    const current = lowest >= 0 ? lowest : known.findIndex(({derivatives}) => derivatives)
    rows.forEach((row, i) => row.el.classList.toggle("here", tried === null && i === current))
    check.classList.toggle("here", tried !== null)
  }
  return {el, paint}
}

/**
 * A link: for each part its value, its derivative by p (↑), the gradient of the loss by it (↓); at the end the sum of the products.
 * @param {Link} link
 */
function linkRow(link) {
  const parts = link.parts.map((part) => {
    const [value, up, down] = [h("b"), h("span"), h("span")]
    const el = h("li", {}, h("span", {class: "of"}, h("i", {}, part.name), value), up, down)
    return {part, value, up, down, el}
  })
  const sum = h("b", {class: "chain-sum num"})
  const name = h("span", {class: "chain-name"}, h("b", {}, link.name), link.by ? h("small", {}, link.by) : null)
  const list = h("ul", {class: `chain-parts num${parts.length === 1 ? " one" : ""}`}, ...parts.map((part) => part.el))
  const write = (/** @type {HTMLElement} */ el, /** @type {string} */ arrow, /** @type {number | null} */ number) => {
    el.textContent = number === null ? arrow : `${arrow} ${digits(number)}`
    el.className = number ? "" : "none"
  }
  return {
    el: h("li", {class: "chain-link"}, name, list, sum),
    /**
     * Paint it; tell whether all derivatives by p and all gradients are known.
     * @param {Look} look
     */
    paint(look) {
      let total = 0
      let [derivatives, gradients] = [true, true]
      for (const {part, value, up, down} of parts) {
        const number = look.value(part.value)
        const derivative = number === null ? null : look.value(part.moves)
        const gradient = !part.once || look.value(part.once) !== null ? look.value(part.gradient) : null
        value.textContent = number === null ? "" : digits(number)
        write(up, "↑", derivative)
        write(down, "↓", gradient)
        derivatives &&= derivative !== null
        gradients &&= gradient !== null
        total += (derivative ?? 0) * (gradient ?? 0)
      }
      sum.textContent = derivatives && gradients ? digits(total) : ""
      return {derivatives, gradients}
    },
  }
}
