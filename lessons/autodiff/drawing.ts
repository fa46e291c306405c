// A derivative link by link: a small picture whose pixels are threads, what each asks for, and the chain of the chosen one.
import {type Look, show} from "#web/drawing/look.ts"
import {listChoices} from "#web/drawing/choices.ts"
import {redrawn} from "#web/drawing/redrawn.ts"
import {canvas, classes, css, pointerIn, s, setAttributes} from "#web/drawing/svg.ts"
import {h} from "#web/runtime/dom.ts"
import {onArrows} from "#web/widgets/roving.ts"
import type {DrawingHost, Drawn} from "#web/drawing/types.ts"

/** One number of a link. All but its name are expressions of the pixel's thread. */
interface Part {
  name: string
  value: string
  /** Its derivative by p. */
  moves: string
  /** The derivative of the loss by it. */
  gradient: string
  /** What has to be there before the gradient counts. */
  once?: string
}

interface Link {
  name: string
  /** Function that makes it, empty for none. */
  by: string
  parts: Part[]
}

interface Facts {
  /** In pixels. */
  size: [across: number, down: number]
  /** The chosen Gaussian. */
  blob: number
  /** The largest gradient of a pixel. */
  most: number
  /** Sum of all pixels' gradients. */
  sum: number
  /** From the loss to p. */
  links: Link[]
  ellipses: [x: number, y: number, sigma1: number, sigma2: number, angle: number, r: number, g: number, b: number][]
}

const GRADIENTS = "The gradient by p of each pixel"
const GAP = 14
const PADDING = 0
const NARROW = 500 // px: below, the boxes of the chain stand one under the other, where there is height for it
const TIGHT = 560 // px: below, they stand closer
const CHAIN = 280 // px: height of the chain, of its legend, and of the line below it
const CAPTION = 24
const CELL = {least: 16, most: 30}
const TAP = 24
const DISC = 24 // px, of a Gaussian's number: in smaller cells it has no disc, which would cover the picture
const BESIDE = 98 // px: a caption at the right of its picture, with the gap
const BETWEEN = 26 // px: the two pictures' distance, with their borders

function digits(value: number) {
  if (value === 0) return "0"
  const count = Math.abs(value) < 0.001 ? 2 : 3 // those have a power of ten beside them
  return show(Number(value.toPrecision(count)), count)
}

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"

/** The same in a narrow box: 4.7e−9. */
function inBox(value: number) {
  return digits(value).replace(/\s*×\s*10(⁻?)([⁰¹²³⁴⁵⁶⁷⁸⁹]+)/, (_, sign, power) => {
    return `e${sign && "−"}${[...power].map((digit) => RAISED.indexOf(digit)).join("")}`
  })
}

export const draw = (host: DrawingHost<Facts>) => redrawn(host, (facts) => facts.links, build)

function build(host: DrawingHost<Facts>, look: Look): Drawn {
  const {width, height} = host.room()
  let latest = look
  const maps = gradientMaps(host, {
    chosen: () => latest.moment.thread,
    choose: (thread) => latest.moment.choose(thread),
  })
  const narrow = width < NARROW && height === Infinity
  const chain = chainOfLinks(host.facts, narrow)
  return {
    el: h("div", {class: classes("chain-body", narrow && "slim", width < TIGHT && !narrow && "tight")}, maps.el, chain.el),
    paint(now) {
      latest = now
      maps.paint(now)
      chain.paint(now)
    },
    news: (now) => (now.step ? "" : inWords(host.facts, now)), // each step says what moves, and at which rate
    describe: (now) => inWords(host.facts, now),
  }
}

/** What is known of the chosen pixel's gradient. */
function inWords({size: [across]}: Facts, now: Look) {
  const dp = now.final.value("dp")
  const place = `pixel (${now.thread % across}, ${Math.floor(now.thread / across)})`
  return now.value("dp") === null || dp === null
    ? `How the loss of ${place} moves as p grows is not known yet.`
    : `At ${place}, the loss moves at a rate of ${digits(dp)} as p grows.`
}

type Choice = {chosen(): number; choose(thread: number): void}

/** The picture with its Gaussians, and beside it each pixel's gradient. */
function gradientMaps({room, facts, set}: DrawingHost<Facts>, choice: Choice) {
  const [across, down] = facts.size
  const count = across * down
  const {width, height} = room()
  const wide = (width - PADDING - GAP) / 2 / across - 0.5
  const high = height === Infinity ? Infinity : (height - CHAIN - CAPTION - 24) / down
  const stacked = height === Infinity // as on a phone: a finger finds a pixel of the first picture, and the second gets the rest
  // where height is short, the captions are beside the pictures
  const highBeside = high + CAPTION / down
  const wideBeside = ((width - BETWEEN) / 2 - BESIDE) / across
  const beside = !stacked && Math.min(highBeside, wideBeside) > Math.min(high, wide, CELL.most)
  const most = beside ? Math.min(highBeside, wideBeside) : Math.min(high, wide)
  const cell = Math.floor(Math.max(stacked ? TAP : CELL.least, Math.min(CELL.most, most)))
  const cellBeside = stacked ? Math.max(CELL.least - 4, Math.min(cell, Math.floor((width - BETWEEN) / across) - cell)) : cell
  const gradientAttributes = {role: "img", "aria-label": GRADIENTS}
  const picture = pixelGrid(facts.size, cell, choice, {}, outlines(facts, cell))
  const gradients = pixelGrid(facts.size, cellBeside, choice, gradientAttributes, [])
  onArrows(picture.svg, {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across}, (step) => {
    const next = choice.chosen() + step
    if (next >= 0 && next < count) choice.choose(next)
  })
  const boxes = Array.from({length: count}, (_, i) => {
    return {x: (i % across) * cell, y: Math.floor(i / across) * cell, width: cell, height: cell}
  })
  const paintChoices = listChoices(picture.svg, "Pixel", boxes, choice.choose)
  const buttons = gaussianButtons(facts, cell, (gaussian) => set("blob", gaussian))
  const own = h("span")
  const all = h("span", {class: "num"})
  const el = h(
    "div",
    {class: classes("chain-maps", beside && "beside"), "data-mini": ""},
    h(
      "figure",
      {},
      h(
        "div",
        {class: classes("chain-sheet", cell < DISC && "small"), style: `--disc: ${Math.min(DISC, cell)}px`},
        picture.svg,
        ...buttons,
      ),
      h("figcaption", {}, own),
    ),
    h("figure", {}, h("div", {class: "chain-sheet"}, gradients.svg), h("figcaption", {}, all)),
  )

  const paint = (look: Look) => {
    const [memory, last] = [look.ownMemory("gradient"), look.final]
    const lastMemory = last.ownMemory("gradient")
    let written = 0
    for (let i = 0; i < count; i++) {
      const drawn = look.value("color.p.r", i) !== null
      const colour = ["r", "g", "b"].map((part) => (drawn ? look : last).value(`color.p.${part}`, i) ?? 1)
      setAttributes(picture.cells[i], {style: `fill: ${css(colour)}`, class: classes("chain-pixel", !drawn && "later")})
      const done = memory.written(i) > 0
      if (done) written++
      const style = gradientStyle((done ? memory : lastMemory).number(i) ?? 0, facts.most)
      setAttributes(gradients.cells[i], {style, class: classes("chain-pixel", !done && "later")})
    }
    const [x, y] = [look.thread % across, Math.floor(look.thread / across)]
    picture.mark(look.thread)
    gradients.mark(look.thread)
    own.textContent = `the picture; pixel (${x}, ${y}) is chosen`
    const unknown = [h("span", {"aria-hidden": "true"}, "?"), h("span", {class: "sr"}, "not known yet")]
    all.replaceChildren("∂L/∂p of each pixel, sum ", ...(written < count ? unknown : [digits(facts.sum)]))
    const ends = [Math.min, Math.max].map((end) => digits(end(...Array.from({length: count}, (_, i) => memory.number(i) ?? 0))))
    gradients.svg.setAttribute(
      "aria-label",
      `${GRADIENTS}: ${written < count ? "not all known yet" : `from ${ends[0]} to ${ends[1]}`}`,
    )
    paintChoices(look.thread, (i) => {
      const gradient = memory.written(i) > 0 ? digits(memory.number(i) ?? 0) : "not known yet"
      return `Pixel (${i % across}, ${Math.floor(i / across)}): gradient ${gradient}`
    })
  }
  return {el, paint}
}

/** The colour of a gradient: red above 0, blue below, by the root of its size. */
function gradientStyle(gradient: number, most: number) {
  const share = Math.round(100 * Math.sqrt(Math.abs(gradient) / most))
  return `fill: color-mix(in oklab, var(${gradient > 0 ? "--c-verm" : "--c-blue"}) ${share}%, var(--surface))`
}

/**
 * A square a pixel, the chosen one marked; a click chooses one.
 * @param over  the squares
 */
function pixelGrid(
  [across, down]: [number, number],
  cell: number,
  {choose}: Choice,
  attributes: Record<string, string>,
  over: SVGElement[],
) {
  const at = (i: number) => ({
    x: (i % across) * cell,
    y: Math.floor(i / across) * cell,
    width: cell,
    height: cell,
  })
  const cells = Array.from({length: across * down}, (_, i) => s("rect", {...at(i), class: "chain-pixel"}))
  const mark = s("rect", {class: "chain-mark"})
  const svg = canvas(cell * across, cell * down, attributes, ...cells, ...over, mark)
  svg.onclick = (event) => {
    const point = pointerIn(svg, event)
    const [x, y] = [Math.floor(point.x / cell), Math.floor(point.y / cell)]
    if (x >= 0 && y >= 0 && x < across && y < down) choose(y * across + x)
  }
  return {svg, cells, mark: (i: number) => setAttributes(mark, at(i))}
}

/** The Gaussians at two standard deviations, each a dark line on a light one. */
function outlines({ellipses, blob}: Facts, cell: number) {
  return ellipses.flatMap(([x, y, sigma1, sigma2, angle], i) => {
    const transform = `translate(${(x + 0.5) * cell} ${(y + 0.5) * cell}) rotate(${(angle * 180) / Math.PI})`
    const own = i === blob ? " own" : ""
    return ["halo", "line"].map((kind) =>
      s("ellipse", {rx: 2 * sigma1 * cell, ry: 2 * sigma2 * cell, class: `chain-ellipse ${kind}${own}`, transform}),
    )
  })
}

/** A button on each Gaussian. */
function gaussianButtons({ellipses, blob}: Facts, cell: number, choose: (gaussian: number) => void) {
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
 * The chain from p to the loss, a box for each link and arrows between them, and the central difference below.
 * @param narrow  whether the boxes stand one under the other
 */
function chainOfLinks({links}: Facts, narrow: boolean) {
  const boxes = links.toReversed().map(linkBox)
  const richest = boxes.findIndex((box) => box.list.childElementCount === Math.max(...links.map(({parts}) => parts.length)))
  const arrows = boxes.slice(1).map(() => {
    const [forward, back] = [h("span", {}, narrow ? "↓" : "→"), h("span", {}, narrow ? "↑" : "←")]
    return {forward, back, el: h("li", {class: "chain-arrow", "aria-hidden": "true"}, forward, back)}
  })
  const list = h("ol", {class: "chain-links"}, ...boxes.flatMap((box, i) => (i ? [arrows[i - 1].el, box.el] : [box.el])))
  const difference = h("b", {class: "num"})
  const apart = h("span", {class: "num"})
  const signs = [
    ["↑", "rate of a part as p grows"],
    ["↓", "of the loss as the part grows"],
    ["Σ", "sum of ↑ × ↓"],
  ].map(([sign, words]) => h("li", {}, h("b", {}, sign), ` ${words}`))
  const legend = h("ul", {class: "keys chain-legend", "aria-hidden": "true"}, ...signs) // each box says in words what its signs stand for
  const heard = h("span", {class: "sr"})
  const formula = h("span", {"aria-hidden": "true"}, h("span", {}, "tried out: (L(p + h) − L(p − h)) / 2h = "), difference)
  const products = h("span", {class: "num", "aria-hidden": "true"}) // of the link that the step is about: how its sum comes about
  const check = h("p", {class: "chain-check"}, products, formula, heard, apart)

  const paint = (look: Look) => {
    const last = look.final
    const known = boxes.map((box) => box.paint(look, last))
    const tried = look.value("difference")
    difference.textContent = tried === null ? "?" : digits(tried)
    difference.classList.toggle("later", tried === null)
    heard.textContent = `Tried out, with the difference of two losses: ${tried === null ? "not known yet" : digits(tried)}`
    apart.textContent = tried === null ? "" : `, apart by ${digits(Math.abs(tried - (look.value("dp") ?? 0)))}`
    const lowest = known.findIndex(({gradients}) => gradients)
    const current = lowest >= 0 ? lowest : known.findLastIndex(({derivatives}) => derivatives)
    products.textContent = tried === null ? (known[lowest]?.products ?? "") : ""
    formula.hidden = products.textContent !== ""
    boxes.forEach((box, i) => {
      const here = tried === null && i === current
      box.el.classList.toggle("here", here)
      box.el.toggleAttribute("data-here", here)
      box.list.toggleAttribute("data-mini", tried === null ? here : i === richest) // small, of the other links only names and sums
    })
    arrows.forEach(({forward, back}, i) => {
      forward.classList.toggle("later", !known[i + 1].derivatives)
      back.classList.toggle("later", !known[i].gradients)
    })
    check.classList.toggle("here", tried !== null)
    check.toggleAttribute("data-mini", tried !== null)
    check.toggleAttribute("data-here", tried !== null)
  }
  return {el: h("div", {}, legend, list, check), paint}
}

/** A name that may break before its capitals. */
const breakable = (name: string) => name.replace(/([a-z])([A-Z])/g, "$1\u200b$2")

/**
 * A link: for each part its derivative by p (↑) and the gradient of the loss by it (↓), with its value where it is the only one; at the
 * end the sum of the products.
 */
function linkBox(link: Link) {
  const parts = link.parts.map((part) => {
    const [value, up, down] = [h("b"), h("span"), h("span")]
    const alone = link.parts.length === 1
    const el = h("li", {class: part.name.length > 2 ? "long" : null}, h("i", {}, part.name), alone ? value : "", up, down)
    return {part, value, up, down, el}
  })
  const sum = h("b")
  const sumRow = h("p", {class: "chain-sum num", "data-mini": ""}, h("b", {}, "Σ"), sum)
  const name = h(
    "span",
    {class: "chain-name", "data-mini": ""},
    h("b", {}, link.name),
    h("small", {}, breakable(link.by || "raw value")),
  )
  const list = h("ul", {class: "chain-parts num"}, ...parts.map((part) => part.el))
  const sentence = h("span", {class: "sr"}) // for screen readers, in place of names and signs
  for (const part of [name, list, sumRow]) part.ariaHidden = "true"
  const write = (el: HTMLElement, text: string, known: boolean) => {
    el.textContent = text
    el.classList.toggle("later", !known)
  }
  return {
    el: h("li", {class: "chain-link"}, name, list, sumRow, sentence),
    list,
    /**
     * Paint it; tell whether all derivatives by p and all gradients are known, and how the sum comes about.
     * @param last  the recording's end
     */
    paint(look: Look, last: Look) {
      let total = 0
      let [derivatives, gradients] = [true, true]
      const said = []
      const products = []
      for (const {part, value, up, down} of parts) {
        const there = look.value(part.value) !== null
        const asked = (!part.once || look.value(part.once) !== null) && look.value(part.gradient) !== null
        const derivative = last.value(part.moves) ?? 0
        const gradient = last.value(part.gradient) ?? 0
        write(value, there ? inBox(last.value(part.value) ?? 0) : "?", there)
        write(up, `↑\u2004${there ? inBox(derivative) : "?"}`, there)
        write(down, `↓\u2004${asked ? inBox(gradient) : "?"}`, asked)
        const moved = asked ? `, and moves the loss at a rate of ${digits(gradient)}` : ""
        if (there)
          said.push(
            `${part.name} is ${digits(last.value(part.value) ?? 0)}, moves at a rate of ${digits(derivative)} as p grows${moved}`,
          )
        derivatives &&= there
        gradients &&= asked
        total += derivative * gradient
        const product = `${digits(derivative)}·${digits(gradient)}`
        products.push(product.startsWith("−") ? `(${product})` : product)
      }
      const known = derivatives && gradients
      write(sum, known ? inBox(total) : "?", known)
      const sums = known && parts.length > 1 ? ` The products add up to ${digits(total)}.` : ""
      sentence.textContent = `${link.name}, ${link.by || "raw value"}: ${said.join("; ") || "not known yet"}.${sums}`
      return {derivatives, gradients, products: `Σ = ${products.join(" + ")} = ${digits(total)}`}
    },
  }
}
