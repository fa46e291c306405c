// Where two recordings part: the first event that is another one, the first value that is, the final buffers that are.
import {KIND} from "#web/stepper/model/kinds.js"
import {number, text} from "#web/stepper/model/values.js"

const SHOWN = 8 // differing elements that are told of each buffer

// {event, value, outputs}. `event` and `value` are {first, second} (event numbers, -1 where that recording has none) or null where
// the two agree; both are looked for thread by thread, in the order of the program, and the earliest of them is told. `value`
// passes over lines that only one of the sources has and over barriers: what a fix changes is no news, what comes of it is.
// `outputs` are [{name, count, of, cells: [{index, first, second}]}] of the buffers that end up different.
export function differences(first, second) {
  const keys = common(first, second)
  return {
    event: earliest(first, second, (t) => [events(first, t, () => true), events(second, t, () => true)], keys),
    value: earliest(
      first,
      second,
      (t) => [
        events(first, t, (s) => keys[0][s] >= 0 && valued(first, s)),
        events(second, t, (s) => keys[1][s] >= 0 && valued(second, s)),
      ],
      keys,
    ),
    outputs: outputs(first, second),
  }
}

const valued = (recording, s) => recording.kind[s] >= KIND.value && recording.kind[s] <= KIND.atomic && recording.width[s] > 0
const events = (recording, t, wanted) =>
  recording.own.subarray(recording.start[t], recording.start[t + 1]).filter((e) => wanted(recording.site[e]))

// Of each site a number that is the same in both recordings where the same words on a line do the same; below 0 where only one has it.
function common(first, second) {
  const numbers = new Map()
  const names = [first, second].map((recording) => {
    const lines = Object.fromEntries(Object.entries(recording.head.sources).map(([file, source]) => [file, source.split("\n")]))
    return recording.sites.map((s) =>
      [s.kind, s.function, s.name, s.path, s.type, (lines[s.file]?.[s.line - 1] ?? "").trim()].join("\n"),
    )
  })
  const known = names.map((list) => new Set(list))
  return names.map((list, i) =>
    Int32Array.from(list, (name) => {
      if (!numbers.has(name)) numbers.set(name, numbers.size)
      return known[1 - i].has(name) ? numbers.get(name) : -1 - numbers.get(name)
    }),
  )
}

function earliest(first, second, of, keys) {
  const rank = new Uint32Array(first.length)
  first.lockstep.order.forEach((e, p) => {
    rank[e] = p
  })
  let found = null,
    least = Infinity
  for (let t = 0; t < Math.max(first.threads, second.threads); t++) {
    const [a, b] = of(t)
    let i = 0
    while (i < a.length && i < b.length && same(first, second, a[i], b[i], keys)) i++
    if (i === a.length && i === b.length) continue
    const at = i < a.length ? rank[a[i]] : i ? rank[a[i - 1]] + 0.5 : -0.5
    if (at < least) [least, found] = [at, {first: a[i] ?? -1, second: b[i] ?? -1}]
  }
  return found
}

function same(first, second, a, b, keys) {
  const s = first.site[a],
    z = second.site[b],
    from = first.wordAt[a],
    to = second.wordAt[b]
  if (keys[0][s] !== keys[1][z] || where(first, a) !== where(second, b)) return false
  for (let w = 0; w < first.width[s]; w++) if (first.words[from + w] !== second.words[to + w]) return false
  return true
}

// Which element of a memory or of a local array.
function where(recording, event) {
  const site = recording.about(event),
    target = recording.target[event]
  if (!target) return -1
  return site.memory === undefined
    ? recording.variables[target - 1].name
    : recording.memories[site.memory].index(target - 1 - recording.memories[site.memory].first)
}

function outputs(first, second) {
  const found = []
  for (const one of first.outputs) {
    const other = second.outputs.find((output) => output.name === one.name)
    if (!other) continue
    const {stride, parts} = one,
      cells = [],
      length = Math.min(one.data.length, other.data.length),
      of = Math.floor(length / stride)
    let count = 0
    for (let index = 0; index < of; index++) {
      const from = index * stride
      let same = true
      for (let w = from; same && w < from + stride; w++) same = one.data[w] === other.data[w]
      if (same) continue
      if (++count > SHOWN) continue
      const [first, second] = [one, other].map(({data}) => shown(data, from, parts))
      cells.push({index, first, second})
    }
    if (count) found.push({name: one.name, count, of, cells})
  }
  return found
}

// Members of less than a word are left out: they share it.
function shown(data, from, parts) {
  const values = parts
    .filter(([, scalar, byte]) => byte % 4 === 0 && !/half|16|8_t/.test(scalar))
    .map(([, scalar, byte]) => text(number(data, from + byte / 4, scalar), scalar))
  return values.length === 1 ? values[0] : `(${values.join(", ")})`
}
