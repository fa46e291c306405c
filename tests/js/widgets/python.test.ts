import assert from "node:assert/strict"
import {test} from "node:test"
import {tokens} from "#web/widgets/python.ts"

test("a division that rounds down is no comment, and what follows # is one", () => {
  const line = `    row = i // width  # from the top, not "down"`
  const words = tokens(line)
  assert.equal(words.map(([, word]) => word).join(""), line)
  assert.deepEqual(
    words.filter(([kind]) => kind),
    [["c", `# from the top, not "down"`]],
  )
})

test("keywords, strings and numbers have their kinds", () => {
  const kinds = Object.fromEntries(tokens(`return f"{x} # no" + 'y', 0x1F`).map(([kind, word]) => [word, kind]))
  assert.equal(kinds.return, "k")
  assert.equal(kinds[`f"{x} # no"`], "s")
  assert.equal(kinds["'y'"], "s")
  assert.equal(kinds["0x1F"], "n")
})
