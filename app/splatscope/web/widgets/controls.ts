// A form made from a description: native inputs in groups. Python holds the values; what was typed is shown until Python answers.
import {h, style} from "#web/runtime/dom.ts"
import {emit} from "#web/runtime/events.ts"
import {bitField} from "./bit_field.ts"
import {Ladder} from "./ladder.ts"
import {arrowsChoose, checkOne, onArrows} from "./roving.ts"
import {dropsAnywhereAround, dropsOn, send} from "./upload.ts"
import type {Group, NumberItem, SliderItem} from "#components"
import type {Model, Render} from "#web/types.ts"

type Setter = (name: string, value: unknown) => void

/** `input`: what a note below it describes. `show` takes a value of the item's kind: a number, a string, a boolean. */
type Made = {el: HTMLElement; input?: HTMLElement; show?: (value: never) => void}

export function render({model, el}: Render<"Controls">) {
  style(el)
  const set: Setter = (name, value) => {
    follow(name, value)
    model.send_msg({type: "set", name, value})
  }
  const items = new Map<string, Made & {note: HTMLElement}>()
  const groups = model.groups.map((group) => {
    const parts = group.items.map((item) => {
      const made = make(item, set, model)
      const note = h("p", {class: "hint", id: `note-${item.name}`, hidden: true})
      if (model.first && item.name !== model.first) made.el.classList.add("rest")
      items.set(item.name, {...made, note})
      return [made.el, note]
    })
    if (group.folded) return h("details", {}, h("summary", {}, group.title), ...parts.flat())
    if (model.bar) return h("fieldset", {"aria-label": group.title}, ...parts.flat()) // a bar has no room for titles
    return h("fieldset", {}, h("legend", {}, group.title), ...parts.flat())
  })

  const heard = h("p", {class: "sr", role: "status"}) // announces a note, also where the same value is refused again
  const show = (answered = true) => {
    const news: string[] = []
    for (const [name, {note, input, show: put}] of items) {
      if (name in model.values) put?.(model.values[name] as never)
      const words = model.notes[name] ?? ""
      if (words && (input || words !== note.textContent)) news.push(words)
      note.textContent = words
      note.hidden = !words
      if (!input) continue
      input.ariaInvalid = words ? "true" : null
      if (words) input.setAttribute("aria-describedby", note.id)
      else input.removeAttribute("aria-describedby")
    }
    heard.textContent = ""
    if (news.length && answered) requestAnimationFrame(() => heard.replaceChildren(news.join(" ")))
  }
  const hideAway = () => {
    for (const [name, {el: item}] of items) item.hidden = model.away?.includes(name) ?? false
    const none = items.size > 0 && [...items.keys()].every((name) => model.away?.includes(name))
    const root = el.getRootNode()
    if (root instanceof ShadowRoot) (root.host as HTMLElement).hidden = none // what surrounds the form is hidden with it
  }
  model.on("message", () => show()) // Python has answered: its values replace what was typed, also where they are as before
  show(false)
  const form = h(
    "form",
    {
      class: `controls${model.bar ? " bar" : ""}`,
      "data-testid": "controls",
      onsubmit: (event: Event) => event.preventDefault(),
    },
    ...groups,
    heard,
  )
  model.on("away", hideAway)
  hideAway()
  return form
}

/** Tell the page of a value, and return whether it is shown already, so that the lesson need not be asked while the hand moves. */
function follow(name: string, value: unknown, held = () => false) {
  const moved = {name, value, held, followed: false}
  emit("moved", moved)
  return moved.followed
}

type Item = Group["items"][number]
type Maker<Kind> = (item: Extract<Item, {kind: Kind}>, set: Setter, model: Model<"Controls">) => Made

const MAKERS: {[Kind in Item["kind"]]: Maker<Kind>} = {
  number(item, set) {
    const {input, grouped, show} = field(item, set)
    return {el: h("label", {class: "f", title: item.doc}, h("span", {}, item.label, grouped), input), input, show}
  },

  // A slider and its field are one Tab stop, the field: it speaks its value at each arrow, as the slider does, and takes typed numbers
  // as well. Pointers and the cursor of a screen reader reach either.
  slider(item, set, model) {
    const to: (x: number) => number = item.log ? Math.log : (x) => x
    const from: (x: number) => number = item.log ? Math.exp : (x) => x
    const low = to(item.from),
      high = to(item.to)
    const {input, grouped, show: put, group} = field(item, set)
    const range = h("input", {type: "range", min: 0, max: 1, step: "any", tabindex: -1, "aria-label": item.label})
    const value = () => (+range.value >= 1 ? item.to : round(from(low + +range.value * (high - low)), item))
    let told = 0
    const say = (x: number) => {
      input.value = tidy(x)
      group()
      range.setAttribute("aria-valuetext", input.value) // its own value is only a position from 0 to 1
    }
    const drag = () => {
      inHand.add(range)
      say(value())
      if (follow(item.name, value(), () => inHand.has(range))) return
      if (!item.live || performance.now() - told < 90) return
      told = performance.now()
      set(item.name, value())
    }
    const settle = () => {
      inHand.delete(range)
      set(item.name, value())
    }
    range.oninput = drag
    range.onchange = settle
    const place = (x: number) => String(Math.min(1, Math.max(0, (to(x) - low) / (high - low))))
    let pressed = -Infinity // time of the last arrow key, in ms
    const ladder = new Ladder(item)
    const press = (way: number) => {
      const next = ladder.next(+input.value, way)
      range.value = place(next)
      pressed = performance.now()
      inHand.delete(input)
      say(next)
      set(item.name, next)
    }
    onArrows(range, RISE, press)
    onArrows(input, {ArrowUp: RISE.ArrowUp, ArrowDown: RISE.ArrowDown}, press) // the others move in its text
    const show = (now: number) => {
      if (inHand.has(range)) return
      const early = pressed + PRESSES - performance.now()
      if (early > 0) return void setTimeout(() => show(Number(model.values[item.name])), early) // this may be the answer to an earlier press
      put(now)
      range.setAttribute("aria-valuetext", tidy(now))
      range.value = place(now)
    }
    const label = h("label", {}, h("span", {}, item.label, grouped), input)
    return {el: h("div", {class: "f slide", title: item.doc}, label, range), input, show}
  },

  segments(item, set) {
    const values = item.options.map(([value]) => value)
    const show = (value: unknown) => checkOne(buttons, values.indexOf(value))
    const buttons = item.options.map(([value, label]) => {
      const choose = ({detail}: MouseEvent) => {
        show(value)
        set(item.name, value)
        if (detail) button.blur() // after a click with a pointer, arrow keys belong to the figure again; a click by keyboard has no detail
      }
      const button = h("button", {type: "button", role: "radio", "aria-checked": "false", onclick: choose}, label)
      return button
    })
    const row = h("div", {class: "seg", role: "radiogroup", "aria-label": item.label}, ...buttons)
    arrowsChoose(row, buttons)
    return {el: h("div", {class: "choice", title: item.doc}, h("span", {}, item.label), row), show}
  },

  menu(item, set) {
    const select = h("select", {"aria-label": item.label}, ...item.options.map(([value, label]) => h("option", {value}, label)))
    select.onchange = () => set(item.name, select.value)
    const el = item.bare ? select : h("label", {class: "choice", title: item.doc}, h("span", {}, item.label), select)
    const other = h("option", {hidden: true}) // in the menu only for a value that is not an option, such as the user's own file
    const show = (value: string) => {
      const known = item.options.some(([option]) => option === value)
      if (known) other.remove()
      else select.append(other)
      other.value = other.textContent = value
      select.value = value
    }
    return {el, show}
  },

  text(item, set) {
    const input = h("input", {type: "text", "aria-label": item.label, spellcheck: "false", autocomplete: "off"})
    input.oninput = () => inHand.add(input)
    input.onblur = () => inHand.delete(input)
    input.onchange = () => {
      inHand.delete(input)
      set(item.name, input.value)
    }
    return {
      el: h("label", {class: "f words", title: item.doc}, item.label, input),
      input,
      show: (value: string) => put(input, value),
    }
  },

  // A few whole numbers as bars to draw, each a vertical slider.
  bars(item, set) {
    const ranges = Array.from({length: item.count}, (_, i) =>
      h("input", {type: "range", min: item.min, max: item.max, step: 1, "aria-label": `${item.label}, number ${i + 1}`}),
    )
    const read = h("output", {"aria-live": "off"}) // each bar announces its own value
    const say = () => {
      read.textContent = ranges.map((range) => range.value).join(" ")
    }
    const row = h("div", {class: "bars", role: "group", "aria-label": item.label}, ...ranges)
    // one stroke of the pointer can draw several bars
    const draw = (event: PointerEvent) => {
      const range = ranges.find((one) => {
        const box = one.getBoundingClientRect()
        return event.clientX >= box.left && event.clientX < box.right
      })
      if (!range) return
      const box = range.getBoundingClientRect(),
        share = 1 - (event.clientY - box.top) / box.height
      range.value = String(Math.round(item.min + Math.min(1, Math.max(0, share)) * (item.max - item.min)))
      inHand.add(row)
      say()
    }
    row.onpointerdown = (event) => {
      event.preventDefault()
      row.setPointerCapture(event.pointerId)
      draw(event)
    }
    row.onpointermove = (event) => {
      if (row.hasPointerCapture(event.pointerId)) draw(event)
    }
    row.onpointerup = () => {
      inHand.delete(row)
      set(item.name, read.textContent)
    }
    for (const range of ranges) {
      range.oninput = say
      range.onchange = () => set(item.name, read.textContent)
      range.onkeydown = (event) => {
        if (event.key.startsWith("Arrow")) event.stopPropagation()
      }
    }
    const show = (value: string) => {
      if (inHand.has(row)) return
      const numbers = (String(value).match(/\d+/g) ?? []) as string[]
      ranges.forEach((range, i) => {
        range.value = numbers[i] ?? String(item.min)
      })
      say()
    }
    return {el: h("div", {class: "choice", title: item.doc}, h("span", {}, item.label), row, read), show}
  },

  bits: bitField,

  action(item, set) {
    const el = h(
      "button",
      {class: `btn ${item.on_phones ? "narrow" : ""}`, type: "button", onclick: () => set(item.name, true)},
      item.label,
    )
    return {el}
  },

  upload(item, set, model) {
    const input = h("input", {type: "file", accept: item.accept, class: "sr", "aria-label": item.label})
    const words = h("span", {}, item.label)
    const take = async (file: File | undefined) => {
      if (!file) return
      const wrong = await send(model, item, file, (share) => {
        words.textContent = share < 1 ? `${Math.round(100 * share)} %` : item.label
      })
      if (wrong) set(`${item.name}!`, wrong)
    }
    input.onchange = async () => {
      await take(input.files?.[0])
      input.value = ""
    }
    const label = h("label", {class: "btn upload", "data-testid": item.testid || null}, words, input)
    if (item.accept.startsWith("image/")) dropsAnywhereAround(label, take)
    else dropsOn(label, label, take)
    return {el: label}
  },
}

const make = <Kind extends Item["kind"]>(item: Extract<Item, {kind: Kind}>, set: Setter, model: Model<"Controls">) =>
  (MAKERS[item.kind] as Maker<Kind>)(item, set, model)

/** A field for a number. Browsers show 40960, so for large numbers the label is followed by 40,960. */
function field(item: NumberItem | SliderItem, set: Setter) {
  const grouped = h("span", {class: "grouped", "aria-hidden": "true"})
  const input = h("input", {
    type: "number",
    min: item.min,
    max: item.max,
    step: item.whole ? 1 : "any",
    "aria-label": item.label,
    inputmode: item.whole ? "numeric" : "decimal",
  })
  const group = () => {
    grouped.textContent = Math.abs(+input.value) >= 10_000 ? (+input.value).toLocaleString("en") : ""
  }
  input.oninput = () => {
    inHand.add(input)
    group()
  }
  input.onblur = () => inHand.delete(input)
  input.onchange = () => {
    inHand.delete(input)
    set(item.name, input.value === "" ? null : +input.value)
  }
  const show = (value: number) => {
    put(input, tidy(value))
    group()
  }
  return {input, grouped, show, group}
}

/** Steps of a slider. Unlike in a row of buttons, up increases the value. */
const PRESSES = 400 // ms after an arrow key during which an answer may belong to an earlier press
const RISE = {ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1}

// Inputs that the user is editing. A training run sends values twice a second, and these inputs must not be overwritten.
const inHand = new WeakSet<Element>()
const put = (input: HTMLInputElement, value: string) => {
  if (!inHand.has(input)) input.value = value
}

/** Round to two significant digits, the precision of a slider moved by hand. Whole numbers stay whole. */
function round(value: number, item: NumberItem | SliderItem) {
  const rough = Number(value.toPrecision(2))
  const tied = Math.min(item.max, Math.max(item.min, rough))
  return item.whole ? Math.round(tied) : tied
}

const tidy = (value: number) => (Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6))))
