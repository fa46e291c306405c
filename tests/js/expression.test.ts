import assert from "node:assert/strict"
import {test} from "node:test"
import {known, parse} from "#web/recording/expressions/expression.ts"
import {halves, scalar, showQuantity, vector} from "#web/recording/expressions/quantities.ts"
import {usedConstants} from "../../app/splatscope/web/recording/expressions/constants.ts"
import {type Lookup, lookup} from "#web/recording/expressions/lookup.ts"
import {State} from "#web/recording/state.ts"
import {Moment} from "#web/recording/moment.ts"
import {find} from "#web/recording/search.ts"
import {structView} from "#web/stepper/panes/memory_view.ts"
import {divergent, float, recordingOf, shared} from "./packed.ts"
import type {PackedMemory} from "#web/types.ts"

const value = (text: string) => parse(text).value(() => null)

test("operators bind as in C", () => {
  const cases = {
    "1 + 2 * 3": 7,
    "(1 + 2) * 3": 9,
    "8 - 4 - 2": 2,
    "7 % 4 << 1": 6,
    "1 | 2 ^ 3 & 1": 3,
    "1 < 2 == 1": 1,
    "1 < 2 && !0": 1,
    "0 || 0 && 1": 0,
    "-2 + 0x10": 14,
    "- -3": 3,
    "~0": 2 ** 32 - 1,
    "1/4": 0.25,
    "1.5e1f": 15,
    "NaN == NaN": 1,
    "inf > 3": 1,
    true: 1,
  }
  for (const [text, expected] of Object.entries(cases)) assert.equal(value(text), expected, text)
})

test("functions take their arguments", () => {
  assert.equal(value("max(2, 5) - min(2, 5)"), 3)
  assert.equal(value("asuint(1.0)"), 0x3f800000)
  assert.equal(value("asfloat(0x3f800000)"), 1)
  assert.equal(value("isnan(nan)"), 1)
})

test("a name is asked for with its subscripts and members, subscripts rounded down", () => {
  const asked: unknown[] = []
  const question = parse("blobs[9 / 2].colour.x + y")
  assert.deepEqual([...question.names], ["blobs", "y"])
  question.value((name, steps) => {
    asked.push([name, ...steps])
    return scalar(1)
  })
  assert.deepEqual(asked, [["blobs", 4, ".colour", ".x"], ["y"]])
})

test("what has no value makes the whole have none", () => {
  assert.equal(value("x + 1"), null)
  assert.equal(value("keys[x]"), null)
  assert.equal(value("max(1, x)"), null)
})

test("what cannot be read is refused in one line", () => {
  assert.throws(() => parse("1 +"), /Something is missing/)
  assert.throws(() => parse("(1"), /“\)” is missing/)
  assert.throws(() => parse("1 2"), /extra text after the end/)
  assert.throws(() => parse("a $ b"), /“\$” is not understood/)
  assert.throws(() => parse("w."), /write a member/)
  assert.throws(() => parse("foo(1)"), /foo\(\) is not known here/)
})

test("a name that the recording does not have is refused", () => {
  assert.throws(() => known(parse("nobody + 1"), shared()), /No variable or memory is called nobody/)
  assert.equal(known(parse("keys[1] + r"), shared()).names.size, 2)
})

test("a name leads to the thread's variable, else to a cell", () => {
  const recording = shared(),
    state = new State(recording).seek(recording.length)
  const at = (text: string, thread: number) => parse(text).value(lookup(recording, state, thread))
  assert.equal(at("r", 1), 2.5)
  assert.equal(at("r", 0), null)
  assert.equal(at("keys[1]", 0), 2.5)
  assert.equal(at("keys[0]", 0), null)
  assert.equal(at("keys[99]", 0), null)
  const other = divergent()
  assert.equal(parse("x + y").value(lookup(other, new State(other).seek(other.length), 1)), 2)
})

const shown = (text: string, look: Lookup = () => null) => {
  const {quantity, format} = parse(text)
  const found = quantity(look)
  return found && showQuantity(found, format)
}

test("a vector is shown whole, and a swizzle picks from it", () => {
  const look = (name: string, steps: (string | number)[]) => (name === "lid" && !steps.length ? vector([1, 3, 0], "uint") : null)
  assert.equal(shown("lid", look), "(1, 3, 0)")
  assert.equal(shown("(lid + 1).zy", look), "(1, 4)")
  assert.equal(shown("float2(1, 2).yx * 0.5"), "(1, 0.5)")
  assert.equal(shown("lid == 1", look), "(true, false, false)")
  assert.equal(shown("any(lid == 3) ? 7 : 8", look), "7")
  assert.equal(shown("lid.xy + lid", look), null)
})

test("casts round, wrap and reinterpret", () => {
  assert.equal(shown("(int)(-7.9)"), "−7")
  assert.equal(shown("(uint)(0 - 1)"), "4294967295")
  assert.equal(shown("uint(3.5) / 2"), "1.5")
  assert.equal(shown("(float3) 2"), "(2, 2, 2)")
  assert.equal(shown("asfloat(asuint(1.5))"), "1.5")
  assert.equal(shown("(uint)(0 - 1) >> 31"), "1")
  assert.equal(shown("(bool) 3"), "true")
})

test("a format behind a comma shows bits", () => {
  assert.equal(shown("255, x"), "0x000000ff")
  assert.equal(shown("5, b"), "0b101")
  assert.equal(shown("(float) 1, x"), "0x3f800000")
  assert.equal(shown("uint2(1, 16), x"), "(0x00000001, 0x00000010)")
  assert.throws(() => parse("1, q"), /x for hexadecimal, b for binary/)
})

test("a question mark chooses, also in a choice", () => {
  assert.equal(shown("1 > 2 ? 10 : 2 > 1 ? 20 : 30"), "20")
  assert.equal(shown("countbits(0xff) + firstbithigh(8)"), "11")
  assert.equal(shown("dot(float2(1, 2), float2(3, 4))"), "11")
})

/** Two threads over a shared array of 2 × 3, with a constant, a macro, and what the host gave. */
function tiled() {
  const tile: PackedMemory = {
    name: "As",
    space: "shared",
    type: "float",
    dims: [2, 3],
    count: 6,
    extent: 6,
    first: 0,
    width: 1,
    parts: [["", "float", 0]],
  }
  return recordingOf({
    source: "#define T 3 // columns\nstatic const uint LAST = T - 1;\nenum Mode { OFF, ON = 4, MORE }\n",
    sites: [
      {kind: "write", line: 3, name: "As", space: "shared", type: "float", width: 1, memory: 0, puts: [0]},
      {kind: "value", line: 4, name: "lid", type: "uint3", width: 3, variable: 0},
      {kind: "arrive", line: 5, name: "GroupMemoryBarrierWithGroupSync"},
    ],
    memories: [tile],
    variables: [{name: "lid", function: "main", type: "uint3", width: 3}],
    uniforms: [{name: "scene.scale", type: "float2", words: [float(0.5), float(2)]}],
    events: [
      ...[0, 1, 2, 3, 4, 5].map((cell) => ({thread: cell % 2, site: 0, words: [float(cell * 10)], target: cell + 1})),
      {thread: 0, site: 1, words: [1, 2, 0]},
      {thread: 0, site: 2},
      {thread: 1, site: 2},
    ],
  })
}

test("arrays of two dimensions, vectors, constants, ids and what the host gave can be watched", () => {
  const recording = tiled(),
    state = new State(recording).seek(recording.length)
  const at = (text: string, thread = 0) => shown(text, lookup(recording, state, thread))
  const cases = {
    "As[1][2]": "50",
    "As[1]": "(30, 40, 50)",
    "As[lid.x][LAST]": "50",
    "As[1][3]": null,
    "As[2][0]": null,
    lid: "(1, 2, 0)",
    "lid.yx": "(2, 1)",
    "T * 2": "6",
    MORE: "5",
    "scale.y": "2",
    "scene.scale": "(0.5, 2)",
    "thread, x": "0x00000000",
    "SV_GroupThreadID.x": "0",
    "WaveGetLaneCount()": "32",
    line: "5",
  }
  for (const [text, expected] of Object.entries(cases)) assert.equal(at(text), expected, text)
  assert.equal(at("thread + lane", 1), "2")
  for (const text of Object.keys(cases)) known(parse(text), recording)
})

test("a line, a thread and a kind of event can be found", () => {
  const moment = new Moment(tiled(), () => {})
  assert.equal(find(moment, "line == 4", 0), 7)
  assert.equal(find(moment, "thread == 1", 0), 2)
  assert.equal(find(moment, "thread 1,0", 0), 2)
  assert.equal(find(moment, "barrier", 0), 8)
  assert.equal(find(moment, "barrier if thread == 1", 0), 9)
  assert.equal(find(moment, "write As", 1), 2)
  assert.equal(find(moment, "write As[1][0]", 0), 4)
  assert.equal(find(moment, "read As", 0), null)
  assert.equal(find(moment, "set lid", 0), 7)
  assert.equal(find(moment, "line == 3 && thread == 1", 2), 4)
  assert.throws(() => find(moment, "thread 9", 0), /There is no thread 9: the workgroup is 2 × 1 × 1/)
  assert.throws(() => find(moment, "thread 0,1", 0), /There is no thread 0,1/)
  assert.throws(() => find(moment, "write nobody", 0), /No variable, memory or function is called nobody/)
})

test("a row that is known in part shows what is known", () => {
  const recording = tiled(),
    state = new State(recording).seek(4) // of the second row one cell is written
  const at = (text: string) => shown(text, lookup(recording, state, 0))
  assert.equal(at("As[1]"), "(30, ·, ·)")
  assert.equal(at("As[1] + 1"), "(31, ·, ·)")
  assert.equal(at("all(As[1] > 0)"), "false")
  assert.equal(shown("As[1]", lookup(recording, new State(recording).seek(2), 0)), null)
})

test("a macro that names itself has no value", () => {
  const recording = recordingOf({
    source: "#define A B + B\n#define B A + A\n",
    sites: [{kind: "call"}],
    events: [{thread: 0, site: 0}],
  })
  assert.equal(shown("A", lookup(recording, new State(recording).seek(1), 0)), null)
})

test("words are read as halves and structs", () => {
  assert.deepEqual(halves(0xc0003c00), [1, -2])
  const columns = structView("float3 place, uint id, half2 uv") ?? []
  assert.deepEqual(
    columns.map(({label}) => label),
    ["place.x", "place.y", "place.z", "id", "uv"],
  )
  assert.deepEqual([columns[0].show(float(1.5)), columns[3].show(7), columns[4].show(0xc0003c00)], ["1.5", "7", "1, −2"])
  assert.equal(structView("nothing here"), null)
})

test("the constants that are listed are those that the recorded files use", () => {
  const source = "#define WIDTH 3\nstatic const uint LAST = WIDTH - 1; // UNUSED\n#define UNUSED 4\nuint x = LAST;\n"
  const recording = recordingOf({source, sites: [{kind: "arrive", line: 4}], events: [{thread: 0, site: 0}]})
  assert.deepEqual(usedConstants(recording), ["WIDTH", "LAST"])
  recording.head.constants = {UNUSED: "4"}
  assert.deepEqual(usedConstants(recording), ["WIDTH", "LAST", "UNUSED"])
})
