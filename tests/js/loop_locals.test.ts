import assert from "node:assert/strict"
import {test} from "node:test"
import {State} from "#web/recording/state.ts"
import {Moment} from "#web/recording/moment.ts"
import {find, nextStop} from "#web/recording/search.ts"
import {recordingOf} from "./packed.ts"
import type {Site} from "#web/types.ts"

/** The site of a variable's value where a text stands in a source. */
function site(source: string, text: string, kind: string, name?: string): Partial<Site> {
  const before = source.slice(0, source.indexOf(text)).split("\n")
  const place = {kind: kind as Site["kind"], line: before.length, column: (before.at(-1)?.length ?? 0) + 1}
  return name ? {...place, name, type: "int", width: 1} : place
}

const SQUARES = `int total = 0;
for (int i = 0; i < 2; i++)
{
    total += i;
    int square = i * i; // int total = 0;
    const float2 a = f(1, 2), b[2] = {}, c;
}
total += 1;
`

test("what a loop's body declares has no value from the head of the next iteration until it is declared again", () => {
  const names = ["total", "i", "square"]
  const places: [string, string, string?][] = [
    ["int total", "value", "total"],
    ["for", "loop"],
    ["for", "value", "i"],
    ["total += i", "value", "total"],
    ["int square", "value", "square"],
    ["total += 1", "value", "total"],
  ]
  const sites = places.map(([text, kind, name]) => {
    const found = site(SQUARES, text, kind, name)
    return name ? {...found, variable: names.indexOf(name)} : found
  })
  const iteration = (i: number) => [
    {thread: 0, site: 1},
    {thread: 0, site: 2, words: [i]},
    {thread: 0, site: 3, words: [i]},
    {thread: 0, site: 4, words: [i * i]},
  ]
  const recording = recordingOf({
    sites,
    source: SQUARES,
    variables: names.map((name) => ({name, function: "main", type: "int", width: 1})),
    events: [{thread: 0, site: 0, words: [0]}, ...iteration(0), ...iteration(1), {thread: 0, site: 5, words: [2]}],
  })
  assert.deepEqual(recording.loopLocals, [[], [2], [], [], [], []])
  const state = new State(recording)
  const values = [5, 6, 7, 8, 9, 10].map((position) => names.map((_, v) => state.seek(position).value(0, v)))
  assert.deepEqual(values, [
    ["0", "0", "0"],
    ["0", "0", ""],
    ["0", "1", ""],
    ["1", "1", ""],
    ["1", "1", "1"],
    ["2", "1", "1"],
  ])
  const moment = new Moment(recording, () => {})
  assert.equal(nextStop(moment, new Map([["a.slang:4", "square == 0"]]), 1), null)
  assert.equal(nextStop(moment, new Map([["a.slang:5", "square == 1"]]), 1), 9)
  assert.equal(find(moment, "total == 1 && square == 0", 0), null)
})

/**
 * The names of the variables that the loops of a source declare, by the line of the loop.
 * @param values  where each variable is set
 */
function declared(source: string, values: [text: string, name: string][]) {
  const loops = [...source.matchAll(/\b(for|while|do)\b(?! *\(.*\);)/g)].map(({index}) => site(source, source.slice(index), "loop"))
  const names = [...new Set(values.map(([, name]) => name))]
  const set = values.map(([text, name]) => ({...site(source, text, "value", name), variable: names.indexOf(name)}))
  const recording = recordingOf({
    sites: [...loops, ...set],
    source,
    variables: names.map((name) => ({name, function: "main", type: "int", width: 1})),
    events: [{thread: 0, site: 0}],
  })
  return loops.map((_, loop) => recording.loopLocals[loop].map((v) => names[v]))
}

test("declarations are found in bodies of all kinds, and members belong to their struct", () => {
  const all =
    "const float2 a = f(1, 2), b[2] = {}, c;\nlet d = 1; Array<int, 2> e; half3x3 g; P p; p.at = 1; static int h = 0; return x; k = 2;"
  for (const loop of ["for (;;) {", "while (x) {", "[unroll]\ndo {"]) {
    const source = `${loop}\n${all}\n}\n`
    const places = ["a", "b", "c", "d", "e", "g", "p.at", "h", "x", "k"].map((name) => ["let d", name]) as [string, string][]
    assert.deepEqual(declared(source, places), [["a", "b", "c", "d", "e", "g", "p.at"]])
  }
})

test("a name that is also set outside of the bodies that declare it may be another variable, and is left alone", () => {
  const source = "int w = 0;\nfor (;;) {\n    int w = 1; int v = 2;\n}\nfor (;;) {\n    int v = 3;\n}\nwhile (true) z++;\n"
  assert.deepEqual(
    declared(source, [
      ["int w = 0", "w"],
      ["int w = 1", "w"],
      ["int v = 2", "v"],
      ["int v = 3", "v"],
      ["z++", "z"],
    ]),
    [["v"], ["v"], []],
  )
})
