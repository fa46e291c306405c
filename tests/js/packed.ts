// Small recordings for tests, written down event by event; and one that Python packed.
import {readFileSync} from "node:fs"
import {read, unpack} from "#web/recording/recording.ts"
import type {Finding, PackedMemory, Site, Uniform, Variable} from "#web/types.ts"

interface Event {
  thread: number
  site: number
  words?: number[]
  /** Cell or variable it touches, counted from 1. */
  target?: number
}

const F32 = new Float32Array(1)

/** The word of a float. */
export function float(value: number) {
  F32[0] = value
  return new Uint32Array(F32.buffer)[0]
}

/** A recording of these events, in the device's order. */
export function recordingOf({
  sites,
  events,
  memories = [],
  variables = [],
  findings = [],
  source = "",
  uniforms = [],
}: {
  sites: Partial<Site>[]
  events: Event[]
  memories?: PackedMemory[]
  variables?: Variable[]
  findings?: Finding[]
  source?: string
  uniforms?: Uniform[]
}) {
  const columns: Record<string, number[]> = {
    thread: events.map((event) => event.thread),
    site: events.map((event) => event.site),
    place: events.map((event) => event.target ?? 0),
    flags: events.map(() => 0),
    words: events.flatMap((event) => event.words ?? []),
    after: [],
    after_known: [],
  }
  memories.forEach((_, i) => {
    columns[`indices${i}`] = []
    columns[`initial${i}`] = []
  })
  const starts = Object.keys(columns)
  const size = starts.reduce((sum, name) => sum + columns[name].length * 4, 0)
  let at = 0
  const table = Object.fromEntries(
    starts.map((name) => {
      const entry = ["uint32", at, columns[name].length]
      at += columns[name].length * 4
      return [name, entry]
    }),
  )
  const head = {
    version: 1,
    file: "a.slang",
    sources: {"a.slang": source},
    entry: "main",
    adapter: "none",
    wave_size: 32,
    group_size: [2, 1, 1],
    groups: [1, 1, 1],
    group: [0, 0, 0],
    threads: events.reduce((most, event) => Math.max(most, event.thread), 0) + 1,
    events: events.length,
    truncated: false,
    same_as_plain: true,
    sites: sites.map((site) => ({file: "a.slang", line: 1, column: 1, function: "main", ...site})),
    memories,
    variables,
    findings,
    uniforms,
    outputs: [],
    columns: table,
  }
  let text = JSON.stringify(head)
  text += " ".repeat((8 - ((4 + text.length) % 8)) % 8)
  const buffer = new ArrayBuffer(4 + text.length + size)
  new Uint32Array(buffer, 0, 1)[0] = text.length
  new Uint8Array(buffer, 4).set(new TextEncoder().encode(text))
  for (const name of starts)
    new Uint32Array(buffer, 4 + text.length + Number(table[name][1]), columns[name].length).set(columns[name])
  return read(buffer)
}

/** Two threads, two passes over the loop of lines 5 and 6, of which each thread sets x on line 6 in another; then line 7. */
export function divergent() {
  const source = "\n\n\nx = 0;\nfor (i = 0; i < 2; i++)\n  if (i == thread) x += 1;\ny = x;\n"
  const sites: Partial<Site>[] = [
    {kind: "value", line: 4, name: "x", type: "int", width: 1, variable: 0},
    {kind: "loop", line: 5, end: 6},
    {kind: "branch", line: 6, type: "bool", width: 1},
    {kind: "value", line: 6, name: "x", type: "int", width: 1, variable: 0},
    {kind: "value", line: 7, name: "y", type: "int", width: 1, variable: 1},
  ]
  const variables = ["x", "y"].map((name) => ({name, function: "main", type: "int", width: 1}))
  const program = (thread: number) => [
    {thread, site: 0, words: [0]},
    {thread, site: 1},
    {thread, site: 2, words: [thread === 0 ? 1 : 0]},
    ...(thread === 0 ? [{thread, site: 3, words: [1]}] : []),
    {thread, site: 1},
    {thread, site: 2, words: [thread === 1 ? 1 : 0]},
    ...(thread === 1 ? [{thread, site: 3, words: [1]}] : []),
    {thread, site: 4, words: [1]},
  ]
  return recordingOf({sites, variables, source, events: [...program(0), ...program(1)]}) // one thread after the other
}

/** Thread 0 writes 2.5 to shared memory, thread 1 reads it after a barrier and sets r. */
export function shared() {
  const sites: Partial<Site>[] = [
    {kind: "write", line: 3, name: "keys", space: "shared", type: "float", width: 1, memory: 0, puts: [0]},
    {kind: "arrive", line: 4, name: "GroupMemoryBarrierWithGroupSync"},
    {kind: "resume", line: 4, name: "GroupMemoryBarrierWithGroupSync"},
    {kind: "read", line: 5, name: "keys", space: "shared", type: "float", width: 1, memory: 0, puts: [0]},
    {kind: "value", line: 5, name: "r", type: "float", width: 1, variable: 0, origins: ["keys"]},
  ]
  const keys: PackedMemory = {
    name: "keys",
    space: "shared",
    type: "float",
    dims: [4],
    count: 4,
    extent: 4,
    first: 0,
    width: 1,
    parts: [["", "float", 0]],
  }
  return recordingOf({
    sites,
    memories: [keys],
    variables: [{name: "r", function: "main", type: "float", width: 1}],
    events: [
      {thread: 0, site: 0, words: [float(2.5)], target: 2},
      {thread: 0, site: 1},
      {thread: 1, site: 1},
      {thread: 0, site: 2},
      {thread: 1, site: 2},
      {thread: 1, site: 3, words: [float(2.5)], target: 2},
      {thread: 1, site: 4, words: [float(2.5)]},
    ],
  })
}

/** The reduction lesson's recording, packed by splatscope.recordings.wire. */
export const reduction = () => unpack(readFileSync(new URL("reduction.bin", import.meta.url)))
