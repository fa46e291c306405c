// Signs that screen readers skip are said in words.
import assert from "node:assert/strict"
import {test} from "node:test"
import {aloud} from "#web/recording/aloud.ts"

for (const [written, said] of [
  ["off by 1.2\u202f×\u202f10⁻⁷.", "off by 1.2 times 10 to the minus 7."],
  ["C · T and α·T, in a block of 16 × 2", "C times T and α times T, in a block of 16 by 2"],
  ["∂L/\u2060∂α is −0.002", "dL/dα is −0.002"],
  ["thread 3, line 21, keys[3] → 30", "thread 3, line 21, keys[3]: 30"],
  ["Before the first event of 9: press → to begin", "Before the first event of 9: press the right arrow to begin"],
  ["p ± 0.01, cut to ±10", "p plus or minus 0.01, cut to plus or minus 10"],
  ["β₁·m₋₁, m̂ / √v̂", "β₁ times m before, m hat / the root of v hat"],
  ["0.26 ≤ 0.5, 3 ≠ 4", "0.26 is at most 0.5, 3 is not 4"],
])
  test(`“${written}” is said in words`, () => assert.equal(aloud(written), said))
