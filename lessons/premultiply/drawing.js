// One layer over several backgrounds, each twice: with its colour as it is, and premultiplied. Below, one pixel's sums by channel.
//
// facts: size, names [of backgrounds], chosen, pictures {straight, premultiplied: bytes in base 64, background after background},
//   pixel {gval, wrong, right, through, straight, premultiplied}, stops [after gval, wrong, right, through, all]
import {h} from "#web/shell/dom.js"

const WAYS = [
  ["straight", "wrong", "as it is", 1],
  ["premultiplied", "right", "premultiplied", 2],
] // the picture, the layer's part, words, its stop
const MOST = 2 // a sum of two colours cannot be more
const CHANNELS = [
  ["red", "--c-verm"],
  ["green", "--c-green"],
  ["blue", "--c-blue"],
]

export function draw(host) {
  const cards = h("div", {class: "prs-cards", role: "radiogroup", "aria-label": "Background"}),
    sums = h("div", {class: "prs-sums"})
  host.root.replaceChildren(cards, sums)
  let bars = []

  const card = (name, n) => {
    const {
        size: [width, height],
        chosen,
        pictures,
      } = host.facts,
      at = n * width * height * 3
    const plates = WAYS.map(([way, , words]) => {
      const bytes = Uint8Array.from(atob(pictures[way]), (c) => c.charCodeAt(0)),
        image = new ImageData(width, height)
      for (let i = 0; i < width * height; i++)
        image.data.set([bytes[at + 3 * i], bytes[at + 3 * i + 1], bytes[at + 3 * i + 2], 255], 4 * i)
      const canvas = h("canvas", {width, height, class: "pixels", "aria-hidden": "true"})
      canvas.getContext("2d").putImageData(image, 0, 0)
      return h("span", {class: "prs-plate"}, canvas, h("span", {}, words))
    })
    const el = h(
      "button",
      {
        type: "button",
        role: "radio",
        class: "prs-card",
        "aria-checked": String(n === chosen),
        tabindex: n === chosen ? 0 : -1,
        onclick: () => host.set("over", name),
      },
      h("b", {}, name[0].toUpperCase() + name.slice(1)),
      h("span", {class: "prs-two"}, ...plates),
    )
    el.onkeydown = (event) => {
      const way = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key]
      if (!way) return
      event.preventDefault()
      event.stopPropagation()
      const all = cards.children,
        next = (n + way + all.length) % all.length
      all[next].focus()
      host.set("over", host.facts.names[next])
    }
    return el
  }

  // A channel twice: the layer's part, then what shows through, with the limit at 1.
  const channel = ([name, colour], c) => {
    const {pixel} = host.facts
    const lines = WAYS.map(([way, part, words, stop]) => {
      const sum = pixel[way][c],
        over = sum > 1.0000005
      const own = h("i", {class: "own", style: `width:${(pixel[part][c] / MOST) * 100}%;background:var(${colour})`}),
        through = h("i", {class: "through", style: `width:${(pixel.through[c] / MOST) * 100}%`})
      const say = h("b", {class: `num${over ? " over" : ""}`}, `${sum.toFixed(2)}${over ? " ◆" : ""}`)
      bars.push({el: own, stop}, {el: through, stop: 3}, {el: say, stop: 4})
      return h(
        "div",
        {class: "prs-line"},
        h("span", {}, words),
        h(
          "div",
          {
            class: "prs-bar",
            role: "img",
            "aria-label": `${name}, ${words}: ${pixel[part][c].toFixed(2)} of the layer and ${pixel.through[c].toFixed(2)} of what lies behind`,
          },
          own,
          through,
          h("i", {class: "limit"}),
        ),
        say,
      )
    })
    return h("section", {}, h("b", {class: "prs-name"}, name[0].toUpperCase() + name.slice(1)), ...lines)
  }

  return {
    open() {
      if (!host.facts.pixel) return
      const focused = [...cards.children].some((one) => one === cards.getRootNode().activeElement)
      bars = []
      cards.replaceChildren(...host.facts.names.map(card))
      if (focused) cards.children[host.facts.chosen].focus()
      sums.replaceChildren(
        h(
          "p",
          {class: "prs-key"},
          h("i", {class: "own"}),
          "the layer's part",
          h("i", {class: "through"}),
          "what shows through",
          h("i", {class: "limit"}),
          "1, the most a screen shows",
        ),
        ...CHANNELS.map(channel),
      )
    },
    changed() {},
    paint(look) {
      const {stops} = host.facts
      if (!stops) return
      for (const {el, stop} of bars) el.classList.toggle("ahead", look.step < stops[stop])
    },
  }
}
