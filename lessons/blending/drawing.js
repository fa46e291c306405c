// A stack of layers over one pixel, nearest first: each may be moved, coloured, made more or less opaque, added, removed.
//
// values: layers [{colour, alpha, shape}], pixel [x, y]
// facts: what pixelPicture shows, layers [{alpha, before [r, g, b, T], after, end}], over [r, g, b]
// options: most (layers)
import {h} from "#web/shell/dom.js"
import {pixelPicture} from "#web/drawing/pixel.js"
import {handle} from "#web/drawing/reorder.js"

const FRESH = ["#cc79a7", "#56b4e9", "#e69f00", "#777777", "#d55e00", "#0072b2", "#f0e442", "#009e73"] // of new layers
const short = (x) => (x === 1 ? "1" : x.toFixed(3).replace(/^0(?=\.)/, ""))
const rgb = (c) => `rgb(${c.map((x) => Math.round(255 * Math.min(1, Math.max(0, x)))).join(" ")})`

export function draw(host) {
  const rows = new Map() // by shape, which is a layer's own for good
  const list = h("ol", {class: "lyr-list"}),
    news = h("p", {class: "vh", "aria-live": "polite"})
  const picture = pixelPicture((at) => host.set("pixel", at))
  const so = h("i", {class: "swatch"}),
    end = h("i", {class: "swatch"}),
    words = h("p", {class: "num"}),
    ends = h("p", {class: "num"})
  const add = h("button", {type: "button", class: "btn"}, "Add a layer"),
    turn = h("button", {type: "button", class: "btn"}, "Turn the stack over")
  const rest = row("lyr-rest", h("span", {class: "lyr-name"}, "White paper"))
  const el = h(
    "div",
    {class: "lyr", "data-testid": "controls"},
    h(
      "div",
      {class: "lyr-top"},
      picture.el,
      h(
        "dl",
        {},
        h("div", {}, h("dt", {}, "Gathered so far"), h("dd", {}, so, words)),
        h("div", {}, h("dt", {}, "In the end, over white"), h("dd", {}, end, ends)),
      ),
    ),
    h("p", {class: "lyr-head"}, h("span", {}, "nearest"), h("span", {}, "opacity"), h("span", {}, "its share of the light, α·T")),
    list,
    h("div", {class: "lyr-acts"}, add, turn),
    news,
  )
  host.root.replaceChildren(el)

  let held = 0,
    late = 0 // a hand on a slider or a colour asks for at most ten pictures a second
  const stack = () => [...list.children].map((one) => rows.get(one)?.layer).filter(Boolean)
  const tell = (now = true) => {
    clearTimeout(late)
    if (!now && performance.now() - held < 100) {
      late = setTimeout(tell, 100)
      return
    }
    held = performance.now()
    host.set("layers", stack())
  }
  const changed = () => {
    number()
    tell()
  }
  const number = () => stack().forEach((layer, i) => rows.get(list.children[i]).name(i + 1))

  add.onclick = () => {
    const now = stack(),
      free = (name) => (one) => !now.some((layer) => layer[name] === one)
    place([...now, {colour: FRESH.find(free("colour")) ?? FRESH[0], alpha: 0.7, shape: [...FRESH.keys()].find(free("shape"))}])
    tell()
  }
  turn.onclick = () => {
    place(stack().reverse())
    tell()
  }

  // The rows for these layers, in this order; those that are there already stay.
  const place = (wanted) => {
    const have = new Map([...rows.values()].map((one) => [one.layer.shape, one]))
    const next = wanted.map((layer) => {
      const one = have.get(layer.shape) ?? made(layer)
      one.show(layer)
      return one
    })
    for (const one of rows.values())
      if (!next.includes(one)) {
        rows.delete(one.el)
        one.el.remove()
      }
    next.forEach((one, i) => {
      if (list.children[i] !== one.el) list.insertBefore(one.el, list.children[i] ?? null)
    })
    list.append(rest.el)
    add.disabled = next.length >= host.options.most
    for (const one of next) one.drop.disabled = next.length < 2
    number()
  }

  const made = (layer) => {
    const colour = h("input", {type: "color"}),
      range = h("input", {type: "range", min: 0, max: 1, step: 0.01}),
      value = h("output", {class: "num"})
    const drop = h("button", {type: "button", class: "btn quiet icon"}, "×"),
      no = h("b", {class: "num"})
    const one = row("lyr-row", no, colour, range, value, drop)
    const grip = handle(one.el, "", () => {
      changed()
      news.textContent = `${grip.getAttribute("aria-label")} now`
    })
    one.el.prepend(grip)
    Object.assign(one, {
      layer,
      drop,
      show(given) {
        one.layer = {...given}
        colour.value = given.colour
        range.value = given.alpha
        value.textContent = given.alpha.toFixed(2)
      },
      name(n) {
        no.textContent = n
        for (const [of, what] of [
          [grip, "Place of layer"],
          [colour, "Colour of layer"],
          [range, "Opacity of layer"],
          [drop, "Remove layer"],
        ])
          of.setAttribute("aria-label", `${what} ${n}`)
      },
    })
    colour.oninput = () => {
      one.layer.colour = colour.value
      tell(false)
    }
    range.oninput = () => {
      one.layer.alpha = +range.value
      value.textContent = (+range.value).toFixed(2)
      tell(false)
    }
    range.onkeydown = (event) => {
      if (event.key.startsWith("Arrow") || ["Home", "End"].includes(event.key)) event.stopPropagation()
    }
    drop.onclick = () => {
      place(stack().filter((other) => other !== one.layer))
      tell()
      add.focus()
    }
    rows.set(one.el, one)
    return one
  }

  place(host.values.layers ?? [])
  return {
    changed() {
      if (!host.root.querySelector(".held, input:active")) place(host.values.layers)
    },
    open() {
      if (!host.facts.layers) return
      picture.show(
        host.facts,
        stack().map((layer) => layer.colour),
      )
      end.style.background = rgb(host.facts.over)
      ends.textContent = host.facts.over.map(short).join("  ")
    },
    paint(look) {
      const all = host.facts.layers ?? []
      const part = (name) => look.value(`state.value.${name}`) ?? +(name === "a")
      const state = [..."rgba"].map(part)
      so.style.background = rgb(state.slice(0, 3))
      words.textContent = `C = ${state.slice(0, 3).map(short).join("  ")}\nT = ${short(state[3])}`
      const done = all.filter((one) => look.step >= one.end).length
      stack().forEach((layer, i) => {
        const row = rows.get(list.children[i])
        if (all[i])
          row.paint(
            layer.colour,
            all[i].before[3],
            all[i].after[3],
            `α ${short(all[i].alpha)}`,
            i + 1 < done ? "past" : i + 1 === done ? "now" : "ahead",
          )
      })
      if (all.length) rest.paint("#ffffff", all.at(-1).after[3], 0, "what is left", done === all.length ? "past" : "ahead")
    },
  }
}

// A row's bar: taken by nearer layers, its own share, what goes on; and the same as numbers.
function row(klass, ...parts) {
  const taken = h("i", {class: "taken"}),
    own = h("i", {class: "own"}),
    alpha = h("span"),
    light = h("span")
  const el = h(
    "li",
    {class: klass},
    ...parts,
    h("div", {class: "lyr-bar"}, taken, own),
    h("p", {class: "lyr-say num"}, alpha, light),
  )
  return {
    el,
    paint(colour, before, after, words, when) {
      taken.style.width = `${100 * (1 - before)}%`
      own.style.cssText = `width: ${100 * (before - after)}%; --own: ${colour}`
      alpha.textContent = words
      light.textContent = after ? `T ${short(before)} → ${short(after)}` : `T ${short(before)}`
      el.dataset.when = when
    },
  }
}
