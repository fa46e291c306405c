// Driven by test_timeline_as_in_browser.py: the state of a packed recording at positions, as the browser has it.
import {readFileSync} from "node:fs"
import process from "node:process"
import {parse} from "#web/recording/expressions/expression.ts"
import {lookup} from "#web/recording/expressions/lookup.ts"
import {unpack} from "#web/recording/recording.ts"
import {State} from "#web/recording/state.ts"

const {file, positions, expressions}: {file: string; positions: number[]; expressions: string[]} = JSON.parse(process.argv[2])
const recording = await unpack(readFileSync(file))
const state = new State(recording)
const asText = (value: number | null) => (value === null ? null : String(value)) // JSON has no NaN
const answers = positions.map((position) => {
  state.seek(position)
  const cells = recording.memories.map((memory, m) =>
    Array.from({length: memory.count}, (_, cell) => ({
      index: memory.index(cell),
      parts: memory.parts.map((_part, part) => asText(state.cellNumber(m, cell, part))),
    })),
  )
  const calls = Array.from({length: recording.threads}, (_, thread) => {
    const names = []
    for (let at = recording.stacks.at(thread, state.done(thread) - 1); at; at = at.parent) names.push(at.function)
    return names
  })
  const values = expressions.map((text) =>
    Array.from({length: recording.threads}, (_, thread) => {
      const found = parse(text).quantity(lookup(recording, state, thread))
      return found && !found.kinds.includes("?") ? found.parts.map(asText) : null
    }),
  )
  return {cells, calls, values}
})
process.stdout.write(JSON.stringify({answers, loopLocals: recording.loopLocals}))
