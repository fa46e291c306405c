// Files as somebody gives them: bounded before they are read, whatever a zip says of itself.
import assert from "node:assert/strict"
import {test} from "node:test"
import {entryFile, filesOf, givenIn, readProject} from "../../app/splatscope/web/debugger/project.ts"
import type {Limits} from "#components"

const LIMITS: Limits = {files: 4, bytes: 1000, together: 1800, name: 40, depth: 3, kinds: [".slang", ".slangh", ".hlsl"]}
const KERNEL = "[numthreads(8, 1, 1)]\nvoid main() {}\n"

/** Bytes with numbers in them, `[bytes wide, offset, number]` each. */
function record(length: number, numbers: [width: 2 | 4, offset: number, value: number][]) {
  const bytes = new Uint8Array(length),
    view = new DataView(bytes.buffer)
  for (const [width, offset, value] of numbers) {
    if (width === 2) view.setUint16(offset, value, true)
    else view.setUint32(offset, value, true)
  }
  return bytes
}

async function deflated(bytes: Uint8Array<ArrayBuffer>) {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate-raw"))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}

type Lies = {size?: number; method?: number; flags?: number; packed?: number}

/** A zip, written by hand so that it can lie. */
async function zip(files: [path: string, text: string, lies?: Lies][]) {
  const parts: Uint8Array<ArrayBuffer>[] = [],
    directory: Uint8Array<ArrayBuffer>[] = []
  let at = 0
  for (const [path, text, lies = {}] of files) {
    const name = new TextEncoder().encode(path),
      raw = new TextEncoder().encode(text),
      {method = 8, flags = 0, size = raw.length} = lies,
      body = method === 8 ? await deflated(raw) : raw,
      packed = lies.packed ?? body.length
    const local = record(30, [
      [4, 0, 0x04034b50],
      [2, 26, name.length],
    ])
    const entry = record(46, [
      [4, 0, 0x02014b50],
      [2, 8, flags],
      [2, 10, method],
      [4, 20, packed],
      [4, 24, size],
      [2, 28, name.length],
      [4, 42, at],
    ])
    parts.push(local, name, body)
    directory.push(entry, name)
    at += 30 + name.length + body.length
  }
  const end = record(22, [
    [4, 0, 0x06054b50],
    [2, 10, files.length],
    [4, 16, at],
  ])
  return new File([...parts, ...directory, end], "project.zip")
}

const project = async (files: File[]) => readProject(await givenIn(files, LIMITS), LIMITS)

/** What the error of a promise says, "" where it has none. */
const wrong = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "",
    (error) => error.message,
  )

test("a zip is a project, from the folder that all its files are in", async () => {
  const found = await project([
    await zip([
      ["shaders/", ""],
      ["shaders/src/kernel.slang", KERNEL],
      ["shaders/lib/add.slangh", "// ünïcode\n", {method: 0}],
      ["shaders/readme.md", "words"],
      ["shaders/.git/x.slang", "no"],
      ["__MACOSX/shaders/._kernel.slang", "no"],
    ]),
  ])
  assert.deepEqual(found.files, {"src/kernel.slang": KERNEL, "lib/add.slangh": "// ünïcode\n"})
  assert.equal(entryFile(found.files), "src/kernel.slang")
})

test("files of a folder keep their paths", async () => {
  const file = new File([KERNEL], "kernel.slang")
  Object.defineProperty(file, "webkitRelativePath", {value: "mine/kernel.slang"})
  const other = new File(["x"], "b.slangh")
  Object.defineProperty(other, "webkitRelativePath", {value: "mine/parts/b.slangh"})
  assert.deepEqual(Object.keys((await project([file, other])).files), ["kernel.slang", "parts/b.slangh"])
})

for (const [what, files, words] of [
  ["a file that declares too much", [["a.slang", "x".repeat(1001)]], /a\.slang has 1,001 bytes; a source may have 1,000/],
  [
    "a file that unpacks to more than it declares",
    [["a.slang", "x".repeat(1e6), {size: 10}]],
    /unpacks to more than the zip declares/,
  ],
  ["a file that unpacks to less", [["a.slang", "x", {size: 10}]], /damaged/],
  ["files that are too much together", ["a", "b"].map((n) => [`${n}.slang`, "x".repeat(950)]), /1,800 bytes together/],
  ["too many files", [..."abcde"].map((n) => [`${n}.slang`, ""]), /5 sources; up to 4 are allowed/],
  [
    "a way out",
    [
      ["../a.slang", ""],
      ["b.slang", ""],
    ],
    /\.\.\/a\.slang is not allowed|None of these files is a source/,
  ],
  [
    "an absolute path",
    [
      ["/etc/a.slang", ""],
      ["b.slang", ""],
    ],
    /not allowed/,
  ],
  [
    "a folder too deep",
    [
      ["a/b/c/d/e.slang", ""],
      ["b.slang", ""],
    ],
    /too long/,
  ],
  ["a long name", [[`${"x".repeat(40)}.slang`, ""]], /too long/],
  ["a strange character", [["a\u202e.slang", ""]], /not allowed/],
  ["a name of two lines", [["a\nb.slang", ""]], /^a\?b\.slang is not allowed/],
  [
    "a file that is there twice",
    [
      ["a.slang", ""],
      ["a.slang", "x"],
    ],
    /twice/,
  ],
  ["a password", [["a.slang", "x", {flags: 1}]], /encrypted/],
  ["another way of packing", [["a.slang", "x", {method: 12}]], /plain zip/],
  ["a body that is not there", [["a.slang", "x", {packed: 5000}]], /damaged/],
  ["nothing to compile", [["readme.md", ""]], /None of these files is a source/],
] as [string, Parameters<typeof zip>[0], RegExp][]) {
  test(`${what} is refused in one line`, async () => {
    const said = await wrong(project([await zip(files)]))
    assert.match(said, words)
    assert.ok(!said.includes("\n"))
  })
}

test("a zip that is cut short, or none, is damaged", async () => {
  const whole = new Uint8Array(await (await zip([["a.slang", KERNEL]])).arrayBuffer())
  for (const bytes of [whole.slice(0, -10), whole.slice(20), new Uint8Array(5), new Uint8Array(500)])
    assert.match(await wrong(project([new File([bytes], "a.zip")])), /damaged/)
})

test("bytes that are no text are refused", async () => {
  assert.match(await wrong(project([new File([new Uint8Array([0xff, 0xfe, 0x00])], "a.slang")])), /not UTF-8 text/)
})

test("a project begins with the file that has an entry point, nearest to the top", () => {
  assert.equal(entryFile({"a.slang": "", "lib/b.hlsl": KERNEL}), "lib/b.hlsl")
  assert.equal(entryFile({"b.slang": KERNEL, "main.slang": KERNEL, "a/kernel.slang": KERNEL}), "main.slang")
  assert.equal(entryFile({"b.slang": "", "a.slang": ""}), "a.slang")
})

test("a draft's files are texts and nothing else", () => {
  assert.deepEqual(filesOf({"a.slang": "x", b: 3, c: {}}), {"a.slang": "x"})
  for (const other of [null, undefined, 3, "text", ["a"]]) assert.deepEqual(filesOf(other), {})
})
