// What waits in the tab's storage until the server is there again.
import assert from "node:assert/strict"
import {test} from "node:test"
import {sendLater, takeUnsent} from "#web/runtime/unsent.ts"

const stored = new Map<string, string>()
Object.assign(globalThis, {
  sessionStorage: {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
  },
})

test("a message waits for its page, and is sent once", () => {
  sendLater("train", "RunBar", {type: "start"})
  sendLater("train", "RunBar", {type: "step"})
  sendLater("undo", "Controls", {type: "set"})
  assert.deepEqual(takeUnsent("train"), [{page: "train", kind: "RunBar", message: {type: "start"}}])
  assert.deepEqual(takeUnsent("train"), [])
})

test("a storage that another version has written is empty", () => {
  stored.set("splatscope-unsent", "{half")
  assert.deepEqual(takeUnsent("train"), [])
  sendLater("train", "RunBar", {type: "pause"})
  assert.deepEqual(
    takeUnsent("train").map(({message}) => message),
    [{type: "pause"}],
  )
})
