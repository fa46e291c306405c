// A uint that holds the bits of a float is told as that float; one that counts is told as it is.
import assert from "node:assert/strict"
import {test} from "node:test"
import {sentenceOf} from "#web/recording/describe.ts"
import {Moment} from "#web/recording/moment.ts"
import {float, recordingOf} from "./packed.ts"

const SOURCE = `void add(float value, uint idx)
{
    uint expected = sums[idx].load();
    for (;;)
    {
        uint sum = asuint(asfloat(expected) + value);
        uint found = sums[idx]
            .compareExchange(expected, sum);
        if (found == expected) return; // sum = count
        expected = found;
        uint count = turns;
    }
}`
const local = (name: string, line: number) => ({kind: "value", name, line, type: "uint", width: 1, function: "add"}) as const

test("bits of a float are told as the float, and a count as a count", () => {
  const recording = recordingOf({
    source: SOURCE,
    sites: [local("expected", 3), local("sum", 6), local("found", 7), local("count", 11)],
    events: [1.5, 2, 0, 3].map((value, site) => ({thread: 0, site, words: [site < 3 ? float(value) : value]})),
  })
  const moment = new Moment(recording, () => {})
  const said = [1, 2, 3, 4].map((step) => {
    moment.seek(step)
    return sentenceOf(moment)
  })
  assert.deepEqual(said, [
    "Thread 0 sets expected = bits of 1.5.",
    "Thread 0 sets sum = bits of 2.",
    "Thread 0 sets found = bits of 0.",
    "Thread 0 sets count = 3.",
  ])
})
