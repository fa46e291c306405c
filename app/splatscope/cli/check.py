"""`splatscope check`: record the kernels of a repository, and say what is wrong with them."""

import json
import os
import sys
from dataclasses import dataclass, replace
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from splatscope.cli.errors import CallError
from splatscope.printable import printable, relative

if TYPE_CHECKING:
    from splatscope.check.kernels import CheckedKernel, Undescribed
    from splatscope.check.recorder import Recorder
    from splatscope.check.repository import Repository
    from splatscope.check.run import KernelVerdict


def check(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Files and folders with kernels; this folder by default."),
    ] = None,
    sarif: Annotated[Path | None, typer.Option(help="Write a SARIF report.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Write a JUnit report.")] = None,
    timeout: Annotated[float | None, typer.Option(help="Seconds for each kernel, whatever its own options say.", min=1)] = None,
    budget: Annotated[
        int | None, typer.Option(help="Records of 16 bytes for each kernel, whatever its own options say.", min=1000, max=2**26)
    ] = None,
    github: Annotated[bool, typer.Option("--github", help="After the table, print annotations for GitHub's workflows.")] = False,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit with 2 for kernels without a description, lines not reached, and inputs not given."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on one line.")] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="Look for changes that take findings away, for the table and the reports.")
    ] = False,
    baseline: Annotated[
        Path | None,
        typer.Option(help="A report of an earlier check, printed by --json: its findings are known, and only others count."),
    ] = None,
    init: Annotated[
        bool,
        typer.Option("--init", help="Write a description of each kernel that has none into splatscope.toml, and check nothing."),
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Go on: check kernels anew when their files change, until Ctrl+C.")
    ] = False,
    sandbox: Annotated[
        bool | None,
        typer.Option(
            "--sandbox/--trusted",
            help="Confine kernels, and do nothing where that is impossible; or let them read all files. "
            "By default they are confined where the system can.",
        ),
    ] = None,
) -> None:
    """Record the kernels that splatscope.toml names, or that say so in a comment, and look for what is wrong with them.

    Exit status: 0 clean, 1 findings, 2 when anything could not be looked at. See docs/ci.md.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # not every terminal can print every name
    try:
        if watch and (as_json or github or sarif or junit or init):
            raise CallError("--watch prints its table again and again: leave out --json, --github, --sarif, --junit and --init.")
        reports = _Reports(as_json, github, sarif, junit)
        status = _check(paths or [], reports, timeout, budget, strict, diff, baseline, init, watch, sandbox)
    except Exception as error:
        if getattr(error, "exit_code", 1) == 2:
            raise
        words = " ".join(str(error).split()) or type(error).__name__
        raise CallError(f"The check ended early: {words}") from error  # the status 1 would mean findings
    raise typer.Exit(status)


@dataclass(frozen=True)
class _Reports:
    """Which reports are asked for."""

    as_json: bool
    github: bool
    sarif: Path | None
    junit: Path | None


def _check(
    paths: list[Path],
    reports: _Reports,
    timeout: float | None,
    budget: int | None,
    strict: bool,
    diff: bool,
    baseline: Path | None,
    init: bool,
    watch: bool,
    sandbox: bool | None,
) -> int:
    from splatscope.check.baseline import Baseline
    from splatscope.check.kernels import ConfigurationError, kernels_in
    from splatscope.check.recorder import PARSE_SECONDS, EntryPoints
    from splatscope.check.reports import undescribed_words
    from splatscope.check.run import check as check_all
    from splatscope.check.run import exit_status
    from splatscope.check.watch import Changes

    here = Path.cwd()
    recorder, repository = _confinement(sandbox, here, paths)

    def described() -> "tuple[list[CheckedKernel], Undescribed]":
        entry_points = EntryPoints(recorder, min(timeout or PARSE_SECONDS, PARSE_SECONDS))
        kernels, undescribed = kernels_in(paths, here, strict and not init, repository, entry_points)
        if timeout is not None:
            kernels = [replace(kernel, timeout=timeout) for kernel in kernels]
        if budget is not None:
            kernels = [replace(kernel, job=replace(kernel.job, records=budget)) for kernel in kernels]
        return kernels, undescribed

    places = [path.resolve() for path in paths or [here]]
    changes = Changes(here, places) if watch else None  # before anything is read
    kernels, undescribed = described()
    if init:
        return _init(kernels, undescribed, here, recorder, repository)
    known = Baseline(baseline, here) if baseline else None
    table = None if reports.as_json else _Table()
    while True:
        if not kernels and not watch:
            advice = "splatscope check --init describes them, or write “// splatscope: groups=1” into their files."
            raise CallError(" ".join([f"There is no kernel to check: {advice}", *undescribed_words(undescribed, here)]))
        verdicts = check_all(kernels, table.add if table else lambda verdict: None, recorder, repository, diff, known)
        if table:
            table.end(verdicts, undescribed_words(undescribed, here))
        _report(reports, verdicts, here, undescribed, repository)
        if changes is None:
            return exit_status(verdicts)
        changes.add_read(verdicts)
        changed = set[Path]()
        while True:
            print("Watching. Ctrl+C ends it.", flush=True)
            changed |= changes.wait()
            print(f"\n{', '.join(sorted(printable(file.name) for file in changed))}:")
            try:
                kernels, undescribed = described()
                known = Baseline(baseline, here) if baseline else None
                break
            except ConfigurationError as error:  # a file that is half written
                print(printable(str(error)))
        kernels = changes.affected(kernels, changed)


def _init(
    kernels: "list[CheckedKernel]", undescribed: "Undescribed", here: Path, recorder: "Recorder", repository: "Repository"
) -> int:
    from splatscope.check.describe import with_descriptions

    file, text, count = with_descriptions(undescribed, here, recorder, repository)
    words = f"{'1 kernel' if count == 1 else f'{count} kernels'} described in {file.name}"
    if count:
        _write(file, text, repository)
        print(f"{words}. Change sizes and values there until all lines are reached; then: splatscope check")
    else:
        print(
            "All kernels have a description." if kernels else "There is no kernel here: no source has a function with numthreads."
        )
    return 0


def _report(
    reports: _Reports, verdicts: "list[KernelVerdict]", here: Path, undescribed: "Undescribed", repository: "Repository"
) -> None:
    """Print and write the reports that are asked for. Raises CallError if one cannot be written, once the others are."""
    from splatscope.check.reports import as_annotations, as_junit, as_sarif
    from splatscope.check.reports import as_json as json_report

    if reports.as_json:
        print(json.dumps(json_report(verdicts, here, undescribed), allow_nan=False))
    if reports.github:
        print(*as_annotations(verdicts, here, undescribed), sep="\n", flush=True)
    refusals = []
    for file, text in (
        (reports.sarif, lambda: json.dumps(as_sarif(verdicts, here, undescribed), indent=1)),
        (reports.junit, lambda: as_junit(verdicts, here)),
    ):
        try:
            if file is not None:
                _write(file, text(), repository)
        except CallError as error:
            refusals.append(str(error))
    if refusals:
        raise CallError(" ".join(refusals))


def _confinement(sandbox: bool | None, here: Path, paths: list[Path]) -> "tuple[Recorder, Repository]":
    """Return what records kernels, and the files that they may read."""
    from splatscope.check.recorder import Sandboxes, Workers
    from splatscope.check.repository import Repository
    from splatscope.workers.sandbox.platform_support import missing_support

    why = "" if sandbox is False else missing_support()
    if why and sandbox:
        raise CallError(f"Kernels cannot be confined here: {why}. Check on Linux, or with --trusted if you trust them.")
    if why:
        print(f"splatscope: not confined, since {why}: check only kernels that you trust, as --trusted says.", file=sys.stderr)
    if why or sandbox is False:
        return Workers(), Repository(here)
    return Sandboxes(), Repository(here, paths, is_open=False)


def _label(kernel: "CheckedKernel", here: Path) -> str:
    """Return the path and the name of a kernel, for a file may have several, and a folder several files of one name."""
    return f"{relative(kernel.path, here)} {kernel.name.removeprefix(kernel.path.name).lstrip()}".rstrip()


def _write(file: Path, text: str, repository: "Repository") -> None:
    from splatscope.check.repository import resolved

    path = Path(os.path.abspath(file))
    if not repository.is_open and repository.root_of(path) in path.parents and resolved(path) != path:
        raise CallError(f"{file} is not written: a link in the repository leads elsewhere.")
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CallError(f"{file} cannot be written: {error.strerror}.") from None


class _Table:
    """Prints each verdict as it arrives, then the findings and what was not checked."""

    def __init__(self) -> None:
        from rich.console import Console

        self._console = Console(highlight=False)

    def add(self, verdict: "KernelVerdict") -> None:
        """Print the line of one kernel."""
        from rich.text import Text

        styles = {"clean": "green", "findings": "red", "incomplete": "yellow", "error": "yellow"}
        words = {"findings": f"{len(verdict.findings)} found", "incomplete": "not all looked at", "error": "not recorded"}
        counts = f"{verdict.threads:>7,} threads {verdict.events:>11,} events {verdict.seconds:6.1f} s"
        state = Text(words.get(verdict.state, verdict.state), styles[verdict.state])
        self._console.print(Text(f"{_label(verdict.kernel, Path.cwd()):<40} {counts}  ").append_text(state), soft_wrap=True)

    def end(self, verdicts: "list[KernelVerdict]", left_out: list[str]) -> None:
        """Print the findings, sentences about what was left out, and a line with the totals."""
        from splatscope.cli.trace_report import print_patch
        from splatscope.tracing.fixes import TRIED

        here = Path.cwd()
        for verdict in verdicts:
            path, label = relative(verdict.kernel.path, here), _label(verdict.kernel, here)
            for finding in verdict.findings:
                self._say(f"{relative(verdict.path_of(finding), here)}:{finding.position}: {finding.words}", "red")
            if verdict.change:
                print_patch(self._console, verdict.change.patch)
                self._say(f"{label}: {TRIED.format(verdict.change.verdict)}", "green")
            for finding, reason in verdict.silenced:
                self._say(f"{relative(verdict.path_of(finding), here)}:{finding.line}: allowed: {finding.kind}: {reason}")
            for text in [verdict.error] if verdict.error else verdict.missed:
                has_place = text.startswith(f"{verdict.kernel.job.file}:")
                self._say(path + text.removeprefix(verdict.kernel.job.file) if has_place else f"{label}: {text}", "yellow")
            for text in verdict.notes:
                self._say(f"{label}: {text}")
        for text in left_out:
            self._say(text)
        states = [verdict.state for verdict in verdicts]
        unseen = sum(bool(verdict.error or verdict.missed) for verdict in verdicts)
        kernels = "1 kernel" if len(verdicts) == 1 else f"{len(verdicts)} kernels"
        total = f"{kernels}: {states.count('clean')} clean, {states.count('findings')} with findings"
        self._say(total + (f", {unseen} not looked at in full" if unseen else "") + ".")

    def _say(self, text: str, style: str = "default") -> None:
        self._console.print(text, style=style, soft_wrap=True, markup=False, emoji=False)
