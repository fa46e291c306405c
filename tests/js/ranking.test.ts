import assert from "node:assert/strict"
import {test} from "node:test"
import {excerpt, Index, isNear, marked, wordsOf} from "#web/search/ranking.ts"
import type {SearchEntry} from "#components"

const ENTRIES: SearchEntry[] = [
  ["section", "sort", "Bitonic sort", "32 threads sort one list", ""],
  ["text", "sort", "Padding", "The barrier at the end of a pass. A list of five is padded to eight keys.", ""],
  ["heading", "sort", "", "Take a barrier away", ""],
  ["code", "sort", "Padding", "GroupMemoryBarrierWithGroupSync();", ""],
  ["code", "sort", "Padding", "orderPair(i, i ^ j, (i & k) == 0);", ""],
  ["text", "waves", "Lanes", "A wave executes 32 lanes: café, naïve.", ""],
  ["term", "glossary", "barrier", "No thread passes it before all have come.", "#term-barrier"],
]
const TITLES: Record<string, string> = {sort: "Bitonic sort", waves: "Waves", glossary: "Glossary"}
const index = new Index(ENTRIES, (page) => TITLES[page])
const kinds = (query: string) => index.find(query).map(({entry}) => entry[0])
const words = (query: string) => index.find(query).map(({entry}) => entry[3])

test("a title is before a heading, a heading before text, text before code", () => {
  assert.deepEqual(kinds("barrier"), ["term", "heading", "text", "code"])
  assert.deepEqual(kinds("sort")[0], "section")
})

test("all words must match, of which those of the titles above a text may be some, but not all", () => {
  assert.deepEqual(words("barrier passes"), [ENTRIES[6][3], ENTRIES[1][3]])
  assert.deepEqual(kinds("bitonic eight"), ["text"])
  assert.deepEqual(kinds("bitonic"), ["section"])
  assert.deepEqual(index.find("barrier xylophone"), [])
  assert.deepEqual(index.find("  ;  "), [])
})

test("a word also finds what it begins and its other endings", () => {
  assert.ok(kinds("barr").includes("heading"))
  assert.ok(kinds("barriers").includes("heading"))
  assert.ok(words("sorting").includes(ENTRIES[0][3]))
  assert.deepEqual(kinds("passing"), kinds("pass"))
})

test("one wrong letter still finds, but only if nothing has the word as it is", () => {
  for (const typo of ["barier", "bsrrier", "barrierr", "brarier", "bariie"]) assert.ok(kinds(typo).includes("term"), typo)
  assert.deepEqual(index.find("wxve1"), [])
  assert.ok(!words("lane").includes(ENTRIES[0][3]))
})

test("names are found by their parts, without accents, in any case", () => {
  assert.ok(kinds("memorybarrier").length === 0 && kinds("memory barrier").includes("code"))
  assert.deepEqual(kinds("orderpair"), ["code"])
  assert.deepEqual(kinds("ORDER PAIR"), ["code"])
  assert.deepEqual(kinds("cafe naive"), ["text"])
})

test("words beside each other count more", () => {
  const two = new Index(
    [
      ["text", "a", "", "the list is one long sorted row", ""],
      ["text", "b", "", "one sorted list", ""],
    ],
    () => "",
  )
  assert.equal(two.find("sorted list")[0].entry[1], "b")
})

test("two words are near if they differ by at most one letter", () => {
  for (const [one, other] of ["ab ab", "ab b", "ab abc", "ab ac", "ab ba", "abcd abdc"].map((pair) => pair.split(" ")))
    assert.ok(isNear(one, other) && isNear(other, one), `${one} ${other}`)
  for (const [one, other] of ["ab cd", "abc cab", "ab abcd"].map((pair) => pair.split(" ")))
    assert.ok(!isNear(one, other), `${one} ${other}`)
})

test("what was found is marked: the letters that were typed, or the whole word", () => {
  const {marks} = index.find("barr")[0]
  assert.deepEqual(marked("A barrier", marks), [
    ["A ", false],
    ["barr", true],
    ["ier", false],
  ])
  assert.deepEqual(marked("MemoryBarrier()", marks), [
    ["Memory", false],
    ["Barr", true],
    ["ier()", false],
  ])
  const pieces = marked(ENTRIES[1][3], index.find("barrier pass padded")[0].marks)
  assert.equal(pieces.map(([text]) => text).join(""), ENTRIES[1][3])
  assert.deepEqual(
    pieces.filter(([, found]) => found).map(([text]) => text),
    ["barrier", "pass", "padded"],
  )
})

test("an excerpt is around the first word that was found, and cut between words", () => {
  const text = `${"one two three ".repeat(30)}needle ${"four five ".repeat(30)}end`
  const found = new Index([["text", "a", "", text, ""]], () => "").find("needle")[0].marks
  const cut = excerpt(text, found, 80)
  assert.match(cut, /^… \w+ .*needle.* …$/)
  assert.ok(cut.length <= 90)
  for (const {word} of wordsOf(cut)) assert.ok(text.includes(word))
  assert.equal(excerpt("short", found, 80), "short")
})

test("if nothing has all words, what has most of the rarer ones is found", () => {
  const fillers = Array.from(
    {length: 40},
    (_, i): SearchEntry => ["text", "waves", "Lanes", `Here is why number ${i} is there.`, ""],
  )
  const more = new Index([...ENTRIES, ...fillers], (page) => TITLES[page])
  const found = (query: string) => more.find(query).map(({entry}) => entry[3])
  assert.deepEqual(found("why is café naïve xylophone"), [ENTRIES[5][3]])
  assert.deepEqual(found("why is xylophone"), [])
})
