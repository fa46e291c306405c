// What the equations of a section show at each stop for each thread: reads a packed recording, writes JSON.
// Called by test_equations.py: node equations.ts REQUEST, where the request is {recording, stops, lockstep, equations}.
import {readFileSync} from "node:fs"
import process from "node:process"
import {numbersAt} from "#web/drawing/formula.ts"
import {splitEquation} from "#web/drawing/formula_text.ts"
import {Look} from "#web/drawing/look.ts"
import {Moment} from "#web/recording/moment.ts"
import {unpack} from "#web/recording/recording.ts"

const request = JSON.parse(readFileSync(process.argv[2], "utf8"))
const recording = await unpack(new Uint8Array(readFileSync(request.recording)))
const moment = new Moment(recording, () => {})
if (request.lockstep) moment.setOrder(true)
const stops = request.stops.map((step: number) => moment.after(step - 1)).sort((a: number, b: number) => a - b)
const seen = new Map<string, unknown>()
for (const text of request.equations) {
  const words = splitEquation(text)
  const fields = words.flatMap((word) => (typeof word === "string" ? [] : word))
  for (let thread = 0; thread < Math.min(recording.threads, 32); thread++)
    for (const position of [0, ...stops]) {
      moment.pinned = thread
      moment.seek(position)
      const look = new Look(moment, moment.state.seek(position).meet())
      look.step = moment.step
      const now = numbersAt(fields, look, stops)
      const shown = words.map((word) => {
        if (typeof word === "string") return word
        const {text, value, later} = now[fields.indexOf(word)]
        return {text, later, sign: Boolean(word.choice), digits: Number.isInteger(value) ? 0 : Number(word.format ?? 4) || 0}
      })
      const key = JSON.stringify(shown)
      if (!seen.has(key)) seen.set(key, {equation: text, thread, position, shown})
    }
}
process.stdout.write(JSON.stringify([...seen.values()]))
