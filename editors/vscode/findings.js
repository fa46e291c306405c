// Reads the report of `splatscope check --json`. It knows nothing of the editor, so that tests can run it.

const SEVERITIES = {error: "Error", warn: "Warning", note: "Information"}

/**
 * What to show, in the report's order. Lines and columns count from 0, as in the editor; severities are names in vscode.DiagnosticSeverity.
 * @param report  the object that the command prints
 */
function findingsOf({kernels}) {
  return kernels.flatMap((kernel) => [
    ...kernel.findings.map(({kind, severity, message, line, column, file, count}) => ({
      file,
      line: Math.max(0, line - 1),
      column: Math.max(0, (column ?? 1) - 1),
      severity: SEVERITIES[severity],
      code: kind,
      message: count > 1 ? `${message} (${count} times)` : message,
    })),
    ...(kernel.error
      ? [
          {
            file: kernel.error_file,
            line: Math.max(0, kernel.error_line - 1),
            column: 0,
            severity: "Error",
            code: "error",
            message: kernel.error,
          },
        ]
      : []),
  ])
}

module.exports = {findingsOf}
