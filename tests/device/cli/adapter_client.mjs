// Drives `splatscope dap` with the client that Microsoft tests debug adapters with: node adapter_client.mjs PYTHON ADAPTER KERNEL.
import assert from "node:assert/strict"
import {createRequire} from "node:module"

const {DebugClient} = createRequire(import.meta.url)("@vscode/debugadapter-testsupport")
const [python, adapter, program] = process.argv.slice(2)
const client = new DebugClient(python, adapter, "splatscope")
client.defaultTimeout = 120_000

/** Makes a move, and returns where the session has stopped. */
async function move(request, threadId = 1) {
  const [{body}] = await Promise.all([client.waitForEvent("stopped"), client[`${request}Request`]({threadId})])
  return body
}

/** The line that a thread stands on. */
async function lineOf(threadId) {
  const {body} = await client.stackTraceRequest({threadId})
  return body.stackFrames[0].line
}

await client.start()
const {body: capabilities} = await client.initializeRequest()
assert(capabilities.supportsStepBack && capabilities.supportsDataBreakpoints)
const stopped = client.waitForEvent("stopped")
await Promise.all([
  client.waitForEvent("initialized").then(async () => {
    await client.setExceptionBreakpointsRequest({filters: ["error"]})
    await client.configurationDoneRequest()
  }),
  client.launchRequest({program}),
])

// It meets the race, and can say what it is.
const race = (await stopped).body
assert.equal(race.reason, "exception")
const {body: about} = await client.customRequest("exceptionInfo", {threadId: race.threadId})
assert.equal(about.exceptionId, "race")
await client.setExceptionBreakpointsRequest({filters: []})

// It steps forward and back to the same line, and goes back to the beginning.
const before = await lineOf(race.threadId)
await move("next", race.threadId)
await move("stepBack", race.threadId)
assert.equal(await lineOf(race.threadId), before)
assert.equal((await move("reverseContinue")).reason, "entry")

// It follows the writers of a cell, forward and back.
const {body: info} = await client.dataBreakpointInfoRequest({name: "total"})
await client.setDataBreakpointsRequest({breakpoints: [{dataId: info.dataId, accessType: "write"}]})
const writers = []
for (let stop = await move("continue"); stop.reason === "data breakpoint"; stop = await move("continue", stop.threadId))
  writers.push(stop.threadId)
assert.equal(writers.length, 8)
assert.equal(new Set(writers).size, 8)
assert.equal((await move("reverseContinue")).threadId, writers.at(-1))
assert.equal(await lineOf(writers.at(-1)), 8)
await client.stop()
