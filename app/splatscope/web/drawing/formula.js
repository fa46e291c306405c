// A formula with the numbers of the step: letters, numbers, bits; then sentences with values in them.
import {h, style} from "#web/shell/dom.js"
import {follow} from "./follow.js"
import {bits, Look} from "./look.js"

// `{i ^ j}`, `{T:6}` with so many digits, `{l:b4}` in base 2, `{l:x}` in base 16, `{l*}` in the colour of the chosen thread, `{l = i ^ j}` shown as l,
// `{i < l ? goes up | goes down}` words.
const NONE = "▢" // no value yet
const PLACE = /\{([^{}]+)\}/

function place(text) {
  const [, condition, yes, no] = /^(.+?)\?([^|]*)\|(.*)$/.exec(text) ?? []
  if (condition) return {value: condition, yes: yes.trim(), no: no.trim()}
  let [, body, format] = /^(.*?)(?::(b?\d+|x))?$/.exec(text)
  const mine = body.trimEnd().endsWith("*")
  if (mine) body = body.trimEnd().slice(0, -1)
  const [, label, value] = /^\s*([^=!<>]+?)\s*=(?!=)\s*(.+)$/.exec(body) ?? [null, body.trim(), body.trim()]
  return {label, value, mine, format}
}

function words(spot, look) {
  const value = look.value(spot.value)
  if (value === null) return null
  if (spot.yes !== undefined) return value ? spot.yes : spot.no
  if (spot.format?.startsWith("b")) return bits(value, +spot.format.slice(1))
  if (spot.format === "x") return `0x${(value >>> 0).toString(16).toUpperCase().padStart(8, "0")}`
  return look.text(spot.value, look.thread, spot.format ? +spot.format : 4)
}

export function render({model, el}) {
  style(el)
  const root = h("div", {class: "numbers", "aria-live": "off"})
  let parts = []

  const build = () => {
    const lines = model.text
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean)
    parts = lines.map((line) => (line.startsWith("= ") ? equation(line.slice(2), model.bits) : sentence(line)))
    root.replaceChildren(...parts.map((part) => part.el))
  }
  build()
  model.on("text", build)
  const leave = follow(el, (moment) => {
    const look = new Look(moment)
    for (const part of parts) part.paint(look)
    // an equation wider than its room is scrolled by keyboard, too
    for (const row of root.querySelectorAll(".eq")) row.tabIndex = row.scrollWidth > row.clientWidth ? 0 : -1
  })
  model.on("remove", leave)
  return root
}

// `= {l*} = {i*} ⊕ {j}`: every word a column.
function equation(text, count) {
  const spots = (text.match(/\{[^{}]+\}|[^\s{}]+/g) ?? []).map((word) =>
    PLACE.test(word) ? place(PLACE.exec(word)[1]) : {sign: word},
  )
  const cell = (klass, content) => h("span", {class: klass}, content)
  const letters = spots.map((spot) => cell(`s${spot.mine ? " mine" : ""}`, spot.sign ?? spot.label))
  const numbers = spots.map((spot) => cell(`d${spot.mine ? " mine" : ""}`, spot.sign ?? NONE))
  const binary = count ? spots.map((spot) => cell("b", spot.sign ?? "")) : []
  const el = h("div", {class: "eq", style: `grid-template-columns: repeat(${spots.length}, auto) 1fr`})
  for (const row of [letters, numbers, binary]) if (row.length) el.append(...row, h("span"))
  return {
    el,
    paint(look) {
      spots.forEach((spot, i) => {
        if (spot.sign) return
        numbers[i].textContent = words(spot, look) ?? NONE
        if (count) {
          const value = look.value(spot.value)
          binary[i].textContent = value === null ? "" : bits(value, count)
        }
      })
    },
  }
}

function sentence(text) {
  const el = h("p")
  const pieces = text
    .split(/(\{[^{}]+\}|`[^`]+`)/)
    .filter(Boolean)
    .map((piece) => {
      if (piece[0] === "`") return {node: h("code", {}, piece.slice(1, -1))}
      const found = PLACE.exec(piece)
      if (!found) return {node: document.createTextNode(piece)}
      const spot = place(found[1])
      return {spot, node: spot.yes !== undefined ? h("span") : h("code", {class: spot.mine ? "mine" : ""})}
    })
  el.append(...pieces.map((piece) => piece.node))
  return {
    el,
    paint(look) {
      let known = true
      for (const {spot, node} of pieces) {
        if (!spot) continue
        const said = words(spot, look)
        if (said === null) known = false
        node.textContent = said ?? NONE
      }
      el.classList.toggle("unknown", !known) // keeps its room, so that nothing below it moves
    },
  }
}
