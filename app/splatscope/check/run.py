"""Record kernels in parallel, and separate the findings that are allowed from those that are not."""

import os
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from splatscope.api.errors import KernelTimeout
from splatscope.check.baseline import Baseline
from splatscope.check.kernels import Allowance, CheckedKernel
from splatscope.check.recorder import Change, Recorder, Refusal, Summary, Workers, change_of, summary_of
from splatscope.check.repository import Repository
from splatscope.printable import printable
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.comments import Allowed, CommentError, allowances
from splatscope.tracing.fixes import cause_of

CLEAN, FINDINGS, INCOMPLETE, ERROR = "clean", "findings", "incomplete", "error"
MOST_NAME = 200  # characters of a kernel's name


@dataclass(frozen=True)
class KernelVerdict:
    """The result of checking one kernel.

    Attributes:
        kernel: The kernel.
        findings: The findings that are not allowed.
        silenced: Findings that are allowed, each with the reason.
        missed: What was not checked, a sentence each.
        notes: What else a reader should know: inputs that were not given, lines that no thread reached. In a strict check these
            are among `missed`.
        error: Why it could not be recorded; "" if it could.
        error_file: The file that the error is in; None for the kernel's own.
        error_line: The line of the error; 0 if it is about no line.
        events: The number of recorded events.
        threads: The number of recorded threads.
        seconds: How long the recording took.
        paths: Paths of the files that findings name, by that name.
        allowances: The allowances in comments and in the configuration, each with whether it silenced anything.
        change: A change of the kernel's file that takes findings away; None if none was looked for or found.
    """

    kernel: CheckedKernel
    findings: list[Finding] = field(default_factory=list)
    silenced: list[tuple[Finding, str]] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    error: str = ""
    error_file: Path | None = None
    error_line: int = 0
    events: int = 0
    threads: int = 0
    seconds: float = 0.0
    paths: dict[str, Path] = field(default_factory=dict)
    allowances: dict[Allowance, bool] = field(default_factory=dict)
    change: Change | None = None

    @property
    def state(self) -> str:
        """CLEAN, FINDINGS, ERROR, or INCOMPLETE if nothing was found but something was not checked."""
        if self.error:
            return ERROR
        return FINDINGS if self.findings else INCOMPLETE if self.missed else CLEAN

    def path_of(self, finding: Finding, file: str = "") -> Path:
        """Return the path of a finding's file, or of another `file` that it names."""
        return self.paths.get(file or finding.file, self.kernel.path)

    def places_of(self, finding: Finding) -> list[tuple[Path, int]]:
        """Return (file, line) of a finding's first line in each of its files."""
        first: dict[Path, int] = {}
        for file, line in finding.places or [(finding.file, 0)]:
            first.setdefault(self.path_of(finding, file), line)
        return list(first.items())


def check(
    kernels: Iterable[CheckedKernel],
    on_verdict: Callable[[KernelVerdict], None] = lambda verdict: None,
    recorder: Recorder | None = None,
    repository: Repository | None = None,
    changes: bool = False,
    baseline: Baseline | None = None,
) -> list[KernelVerdict]:
    """Record kernels, one per processor at a time, and return a verdict for each, in their order.

    The texts in a verdict are printable, whatever the kernels and their files are called; paths are not.

    Args:
        kernels: The kernels to record.
        on_verdict: Called with each verdict in the same order, as soon as it and all verdicts before it are available.
        recorder: What records them; ordinary workers by default.
        repository: The files that they may read; by default all.
        changes: Whether to look for changes that take findings away.
        baseline: Findings that are known, and silenced; None for none.
    """
    recorder, repository, verdicts = recorder or Workers(), repository or Repository(Path.cwd()), []
    with ThreadPoolExecutor(max_workers=max(1, os.cpu_count() or 1)) as pool:
        for verdict in pool.map(lambda kernel: _printable(_verdict_of(kernel, recorder, repository, changes)), kernels):
            verdict = baseline.without_known(verdict) if baseline else verdict
            verdicts.append(verdict)
            on_verdict(verdict)
    return _with_unused(verdicts)


def _printable(verdict: KernelVerdict) -> KernelVerdict:
    """Return a verdict whose texts can be printed, except for names of files, which lead to its paths."""

    def clean(finding: Finding) -> Finding:
        return replace(finding, name=printable(finding.name), message=printable(finding.message))

    return replace(
        verdict,
        kernel=replace(verdict.kernel, name=printable(verdict.kernel.name, MOST_NAME)),
        findings=list(map(clean, verdict.findings)),
        silenced=[(clean(finding), printable(reason)) for finding, reason in verdict.silenced],
        missed=list(map(printable, verdict.missed)),
        notes=list(map(printable, verdict.notes)),
        error=printable(verdict.error),
        change=replace(verdict.change, verdict=printable(verdict.change.verdict)) if verdict.change else None,
    )


def _with_unused(verdicts: list[KernelVerdict]) -> list[KernelVerdict]:
    """Add a note on each allowance, in a comment or a configuration, that silenced nothing in any kernel."""
    unsure = [verdict for verdict in verdicts if verdict.missed or verdict.error]
    needed = {allowance for verdict in verdicts for allowance, used in verdict.allowances.items() if used or verdict.missed}
    needed |= {allowance for verdict in unsure for allowance in verdict.kernel.allow.values() if allowance is not None}
    reported: set[Allowance] = set()
    noted = []
    for verdict in verdicts:
        unused = [allowance for allowance in verdict.allowances if allowance not in needed | reported]
        reported.update(unused)
        notes = [printable(f"unused: {allowance.words} silences nothing.") for allowance in unused]
        noted.append(replace(verdict, notes=verdict.notes + notes) if notes else verdict)
    return noted


def exit_status(verdicts: Iterable[KernelVerdict]) -> int:
    """Return 2 if anything could not be checked or there was no kernel; otherwise 1 if anything was found, else 0."""
    listed = list(verdicts)
    if not listed or any(verdict.error or verdict.missed for verdict in listed):
        return 2
    return int(any(verdict.findings for verdict in listed))


def _verdict_of(kernel: CheckedKernel, recorder: Recorder, repository: Repository, changes: bool) -> KernelVerdict:
    """Record one kernel and return the verdict, if asked for with a change."""
    if kernel.error:
        return KernelVerdict(kernel, error=kernel.error)
    began = time.monotonic()
    try:
        verdict = _judged(kernel, summary_of(kernel, recorder, repository))
        if changes and verdict.findings:
            allowed = {cause_of(finding) for finding, _ in verdict.silenced}
            verdict = replace(verdict, change=change_of(kernel, allowed, recorder, repository))
    except KernelTimeout as error:
        verdict = KernelVerdict(kernel, [error.finding], missed=[error.finding.message])
    except CommentError as error:
        verdict = KernelVerdict(kernel, error=f"{kernel.path.name}, {error}")
    except Exception as error:  # whatever a kernel and its files may cause, it concerns this kernel alone
        message = " ".join(str(error).split()) or type(error).__name__
        file, line = (error.file, error.line) if isinstance(error, Refusal) else ("", 0)
        verdict = KernelVerdict(kernel, error=message, error_file=_path(kernel, file), error_line=line)
    return replace(verdict, seconds=time.monotonic() - began)


def _judged(kernel: CheckedKernel, summary: Summary) -> KernelVerdict:
    """Return the verdict on what was recorded of a kernel. Raises CommentError if a comment in its sources is malformed."""
    paths = {name: path for name in summary.sources if (path := _path(kernel, name)) is not None}
    allowed = {name: allowances(text) for name, text in summary.sources.items() if name in paths}
    findings, silenced = [], []
    used = {_allowance(paths[name], comment): False for name, file_comments in allowed.items() for comment in file_comments}
    used |= {allowance: False for allowance in kernel.allow.values() if allowance is not None}
    for finding in summary.findings:
        if finding.kind in kernel.allow:
            silenced.append((finding, "allowed by the configuration"))
            if (allowance := kernel.allow[finding.kind]) is not None:
                used[allowance] = True
        elif comments := _comments_on(finding, kernel, allowed):
            silenced.append((finding, comments[0][1].reason))
            used |= {_allowance(paths[name], comment): True for name, comment in comments}
        else:
            findings.append(finding)
    return KernelVerdict(
        kernel,
        findings,
        silenced,
        summary.missed + (summary.shortfalls if kernel.strict else []),
        [note for note in summary.notes if not (kernel.strict and note in summary.shortfalls)],
        events=summary.events,
        threads=summary.threads,
        paths=paths,
        allowances=used,
    )


def _allowance(path: Path, comment: Allowed) -> Allowance:
    return Allowance(path, f"line {comment.comment_line}", ", ".join(sorted(comment.kinds)))


def _comments_on(finding: Finding, kernel: CheckedKernel, allowed: dict[str, list[Allowed]]) -> list[tuple[str, Allowed]]:
    """Return (file, comment) for each comment that silences a finding. `allowed` has the comments by file."""
    places = [(file or kernel.job.file, line) for file, line in finding.places]
    candidates = [(file, comment, line) for file, line in places for comment in allowed.get(file, [])]
    return [(file, comment) for file, comment, line in candidates if finding.kind in comment.kinds and comment.line == line]


def _path(kernel: CheckedKernel, name: str) -> Path | None:
    """Return the path of a file of the program, or None for Splatscope's own files."""
    if not name or name == kernel.job.file:
        return kernel.path
    try:
        return next((folder / name for folder in kernel.job.include if (folder / name).is_file()), None)
    except OSError:  # a name that is too long
        return None
