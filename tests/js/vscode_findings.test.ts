// What the extension for VS Code shows of a report of `splatscope check --json`.
import assert from "node:assert/strict"
import {createRequire} from "node:module"
import {test} from "node:test"

type Shown = {file: string; line: number; column: number; severity: string; code: string; message: string}

const findingsOf = createRequire(import.meta.url)("../../editors/vscode/findings.js").findingsOf as (report: unknown) => Shown[]

const race = {
  kind: "race",
  severity: "error",
  message: "Thread 1 writes.",
  line: 8,
  column: 5,
  lines: [8, 9],
  file: "a/racy.slang",
  count: 64,
}

test("a finding stands on its line, with how often it was seen", () => {
  const report = {kernels: [{file: "a/racy.slang", findings: [race], error: null, error_file: "a/racy.slang", error_line: 0}]}
  assert.deepEqual(findingsOf(report), [
    {file: "a/racy.slang", line: 7, column: 4, severity: "Error", code: "race", message: "Thread 1 writes. (64 times)"},
  ])
})

test("severities are those of the checks, and a finding without a line is on the first", () => {
  const findings = [
    {...race, kind: "integer-overflow", severity: "warn", count: 1},
    {...race, kind: "benign-race", severity: "note", count: 1, line: 0},
  ]
  const shown = findingsOf({kernels: [{file: "a.slang", findings, error: null}]})
  assert.deepEqual(
    shown.map(({severity, line}) => [severity, line]),
    [
      ["Warning", 7],
      ["Information", 0],
    ],
  )
})

test("a kernel that cannot be recorded is an error where it says", () => {
  const kernel = {file: "a.slang", findings: [], error: "undefined identifier 'n'", error_file: "b.slang", error_line: 3}
  assert.deepEqual(findingsOf({kernels: [kernel]}), [
    {file: "b.slang", line: 2, column: 0, severity: "Error", code: "error", message: "undefined identifier 'n'"},
  ])
})
