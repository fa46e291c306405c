// Starts `splatscope dap` for debugging sessions, and `splatscope check` when a kernel is saved.
const {execFile} = require("node:child_process")
const path = require("node:path")
const vscode = require("vscode")
const {findingsOf} = require("./findings.js")

const CHECK_SECONDS = 120
const MOST_BYTES = 64 * 2 ** 20

/** The command line that starts Splatscope: its program, then arguments that stand before the subcommand. */
function commandFor(resource) {
  const [program, ...before] = vscode.workspace.getConfiguration("splatscope", resource).get("command")
  return {program, before}
}

/** The folder that a command runs in: that of the workspace, or else that of the file. */
function folderOf(uri) {
  return vscode.workspace.getWorkspaceFolder(uri)?.uri.fsPath ?? path.dirname(uri.fsPath)
}

class Adapters {
  createDebugAdapterDescriptor(session) {
    const {program, before} = commandFor(session.workspaceFolder?.uri)
    const {cwd} = session.configuration
    return new vscode.DebugAdapterExecutable(program, [...before, "dap"], {cwd: cwd ?? session.workspaceFolder?.uri.fsPath})
  }
}

class Configurations {
  /** F5 without a launch.json debugs the kernel in the editor. */
  resolveDebugConfiguration(_folder, configuration) {
    if (configuration.type || configuration.request) return configuration
    const document = vscode.window.activeTextEditor?.document
    if (document?.languageId !== "slang") return undefined // shows what is configured
    return {type: "splatscope", request: "launch", name: "Kernel", program: document.uri.fsPath}
  }
}

/** Checks kernels, and shows their findings as problems until the next check. */
class Checks {
  constructor() {
    this.problems = vscode.languages.createDiagnosticCollection("splatscope")
    this.log = vscode.window.createOutputChannel("Splatscope")
    this.running = new Map() // by file, the check that runs
    this.shown = new Map() // by file, the files that its findings are in
  }

  saved(document) {
    const settings = vscode.workspace.getConfiguration("splatscope", document.uri)
    if (document.languageId === "slang" && document.uri.scheme === "file" && settings.get("checkOnSave")) this.check(document.uri)
  }

  check(uri) {
    const {program, before} = commandFor(uri),
      cwd = folderOf(uri)
    this.running.get(uri.fsPath)?.kill()
    const options = {cwd, timeout: CHECK_SECONDS * 1000, maxBuffer: MOST_BYTES}
    const run = execFile(program, [...before, "check", uri.fsPath, "--json"], options, (_error, output, complaint) => {
      if (this.running.get(uri.fsPath) !== run) return // a later one has begun
      this.running.delete(uri.fsPath)
      try {
        this.show(uri, findingsOf(JSON.parse(output)), cwd)
      } catch {
        this.log.appendLine(complaint.trim() || `${program} could not be run: see the setting splatscope.command.`)
      }
    })
    this.running.set(uri.fsPath, run)
  }

  show(uri, findings, cwd) {
    for (const file of this.shown.get(uri.fsPath) ?? []) this.problems.delete(vscode.Uri.file(file))
    const byFile = new Map()
    for (const {file, line, column, severity, code, message} of findings) {
      const range = new vscode.Range(line, column, line, Number.MAX_SAFE_INTEGER)
      const problem = new vscode.Diagnostic(range, message, vscode.DiagnosticSeverity[severity])
      problem.source = "splatscope"
      problem.code = code
      const at = path.resolve(cwd, file)
      byFile.set(at, [...(byFile.get(at) ?? []), problem])
    }
    for (const [file, problems] of byFile) this.problems.set(vscode.Uri.file(file), problems)
    this.shown.set(uri.fsPath, [...byFile.keys()])
  }

  dispose() {
    for (const run of this.running.values()) run.kill()
    this.problems.dispose()
    this.log.dispose()
  }
}

function activate(context) {
  const checks = new Checks()
  context.subscriptions.push(
    checks,
    vscode.debug.registerDebugAdapterDescriptorFactory("splatscope", new Adapters()),
    vscode.debug.registerDebugConfigurationProvider("splatscope", new Configurations()),
    vscode.workspace.onDidSaveTextDocument((document) => checks.saved(document)),
    vscode.commands.registerCommand("splatscope.check", () => {
      const document = vscode.window.activeTextEditor?.document
      if (document) checks.check(document.uri)
    }),
  )
}

module.exports = {activate}
