// What a name means to a thread at a moment: a variable of the function it is in, else one of another, else a cell.

import {KIND} from "./recording.js"

const PARTS = {r: 0, g: 1, b: 2, a: 3, x: 0, y: 1, z: 2, w: 3}

// For `parse(…).value`. What a name leads to is looked for once a recording.
export function lookup(recording, state, thread) {
  const names = (recording.names ??= new Names(recording))
  const last = state.last(thread)
  const function_ = last ? recording.about(last - 1).function : recording.head.entry
  return (name, steps) => {
    const found = names.variable(function_, name + steps.map((step) => (typeof step === "string" ? step : `[${step}]`)).join(""))
    if (found) return state.numbers(thread, found.variable)?.[found.part] ?? null
    return cell(recording, state, names.memory(name), steps)
  }
}

function cell(recording, state, m, steps) {
  if (m < 0) return null
  const memory = recording.memories[m],
    {dims} = memory
  const most = Math.max(1, dims.length)
  let index = 0,
    at = 0
  while (at < steps.length && at < most && typeof steps[at] !== "string") {
    if (dims.length && (steps[at] < 0 || steps[at] >= dims[at])) return null
    index = index * (at ? dims[at] : 1) + steps[at++]
  }
  const path = steps
    .slice(at)
    .map((step) => (typeof step === "string" ? step : `[${step}]`))
    .join("")
  const part = path ? memory.parts.findIndex(([label]) => label === path || label === plain(path)) : 0
  const found = memory.cell(index)
  return found < 0 || part < 0 ? null : state.cellNumber(m, found, part)
}

const plain = (path) => path.replace(/\.([rgba])$/, (_, letter) => `.${"xyzw"[PARTS[letter]]}`)

class Names {
  constructor(recording) {
    this.recording = recording
    this.variables = new Map()
    this.memories = new Map()
  }

  memory(name) {
    if (!this.memories.has(name))
      this.memories.set(
        name,
        this.recording.memories.findIndex((memory) => memory.name === name),
      )
    return this.memories.get(name)
  }

  // {variable, part}, or null: `w`, `list[2]`, `blob.colour`, and one component of such, `w.x` or `w[0]`.
  variable(function_, path) {
    const key = `${function_} ${path}`
    if (!this.variables.has(key)) {
      const component = /^(.*)(?:\.([xyzwrgba])|\[([0-3])\])$/.exec(path)
      const whole = this.#find(function_, path),
        vector = whole < 0 && component ? this.#find(function_, component[1]) : -1
      this.variables.set(
        key,
        whole >= 0
          ? {variable: whole, part: 0}
          : vector >= 0
            ? {variable: vector, part: component[2] ? PARTS[component[2]] : +component[3]}
            : null,
      )
    }
    return this.variables.get(key)
  }

  #find(function_, name) {
    const {variables} = this.recording,
      own = variables.findIndex((v) => v.name === name && v.function === function_)
    return own >= 0 ? own : variables.findIndex((v, i) => v.name === name && this.#set.has(i))
  }

  // Variables that the run sets at all: a function that nobody called has its own by the same names.
  get #set() {
    if (this.sets) return this.sets
    const {recording} = this,
      {site, target, kind, sites} = recording
    this.sets = new Set()
    for (let e = 0; e < recording.length; e++) {
      const k = kind[site[e]]
      if (k === KIND.value || k === KIND.element) this.sets.add(k === KIND.value ? sites[site[e]].variable : target[e] - 1)
    }
    return this.sets
  }
}
