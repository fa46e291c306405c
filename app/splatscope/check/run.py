"""Record kernels in parallel, and separate the findings that are allowed from those that are not."""

import os
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from splatscope.api.errors import KernelTimeout, RecordError
from splatscope.api.record import record_on_worker
from splatscope.api.recording import Recording
from splatscope.check.kernels import Allowance, CheckedKernel
from splatscope.gpu.kernel import CompileError
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.comments import Allowed, CommentError, allowances

CLEAN, FINDINGS, INCOMPLETE, ERROR = "clean", "findings", "incomplete", "error"


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
    kernels: Iterable[CheckedKernel], on_verdict: Callable[[KernelVerdict], None] = lambda verdict: None
) -> list[KernelVerdict]:
    """Record kernels on one worker per processor, and return a verdict for each, in their order.

    Args:
        kernels: The kernels to record.
        on_verdict: Called with each verdict in the same order, as soon as it and all verdicts before it are available.
    """
    verdicts = []
    with ThreadPoolExecutor(max_workers=max(1, os.cpu_count() or 1)) as pool:
        for verdict in pool.map(verdict_of, kernels):
            verdicts.append(verdict)
            on_verdict(verdict)
    return _with_unused(verdicts)


def _with_unused(verdicts: list[KernelVerdict]) -> list[KernelVerdict]:
    """Add a note on each allowance, in a comment or a configuration, that silenced nothing in any kernel."""
    unsure = [verdict for verdict in verdicts if verdict.missed or verdict.error]
    needed = {one for verdict in verdicts for one, used in verdict.allowances.items() if used or verdict.missed}
    needed |= {one for verdict in unsure for one in verdict.kernel.allow.values() if one is not None}
    reported: set[Allowance] = set()
    noted = []
    for verdict in verdicts:
        unused = [one for one in verdict.allowances if one not in needed | reported]
        reported.update(unused)
        notes = [f"unused: {one.words} silences nothing." for one in unused]
        noted.append(replace(verdict, notes=verdict.notes + notes) if notes else verdict)
    return noted


def exit_status(verdicts: Iterable[KernelVerdict]) -> int:
    """Return 2 if anything could not be checked or there was no kernel; otherwise 1 if anything was found, else 0."""
    listed = list(verdicts)
    if not listed or any(verdict.error or verdict.missed for verdict in listed):
        return 2
    return int(any(verdict.findings for verdict in listed))


def verdict_of(kernel: CheckedKernel) -> KernelVerdict:
    """Record one kernel and return the verdict."""
    if kernel.error:
        return KernelVerdict(kernel, error=kernel.error)
    began = time.monotonic()
    try:
        recording = Recording(record_on_worker(kernel.job, kernel.device, kernel.timeout, kernel.everywhere))
    except KernelTimeout as error:
        return KernelVerdict(kernel, [error.finding], missed=[error.finding.message], seconds=time.monotonic() - began)
    except (CompileError, RecordError, ValueError, RuntimeError) as error:
        message = " ".join(str(error).split()) or type(error).__name__
        file, line = (error.file, error.line) if isinstance(error, CompileError) else ("", 0)
        return KernelVerdict(
            kernel, error=message, error_file=_path(kernel, file), error_line=line, seconds=time.monotonic() - began
        )
    sources: dict[str, str] = recording.trace.header["sources"]
    paths = {name: path for name in sources if (path := _path(kernel, name)) is not None}
    try:
        allowed = {name: allowances(text) for name, text in sources.items() if name in paths}
    except CommentError as error:
        return KernelVerdict(kernel, error=f"{kernel.path.name}, {error}", seconds=time.monotonic() - began)
    findings, silenced = [], []
    used = {_allowance(paths[name], one): False for name, ones in allowed.items() for one in ones}
    used |= {one: False for one in kernel.allow.values() if one is not None}
    for finding in recording.findings:
        if finding.kind in kernel.allow:
            silenced.append((finding, "allowed by the configuration"))
            if (entry := kernel.allow[finding.kind]) is not None:
                used[entry] = True
        elif comments := _comments_on(finding, kernel, allowed):
            silenced.append((finding, comments[0][1].reason))
            used |= {_allowance(paths[name], one): True for name, one in comments}
        else:
            findings.append(finding)
    return KernelVerdict(
        kernel,
        findings,
        silenced,
        recording.missed + (recording.shortfalls if kernel.strict else []),
        [note for note in recording.notes if not (kernel.strict and note in recording.shortfalls)],
        events=recording.events,
        threads=recording.threads,
        seconds=time.monotonic() - began,
        paths=paths,
        allowances=used,
    )


def _allowance(path: Path, comment: Allowed) -> Allowance:
    return Allowance(path, f"line {comment.comment_line}", ", ".join(sorted(comment.kinds)))


def _comments_on(finding: Finding, kernel: CheckedKernel, allowed: dict[str, list[Allowed]]) -> list[tuple[str, Allowed]]:
    """Return (file, comment) for each comment that silences a finding. `allowed` has the comments by file."""
    places = [(file or kernel.job.file, line) for file, line in finding.places]
    there = [(file, one, line) for file, line in places for one in allowed.get(file, [])]
    return [(file, one) for file, one, line in there if finding.kind in one.kinds and one.line == line]


def _path(kernel: CheckedKernel, name: str) -> Path | None:
    """Return the path of a file of the program, or None for Splatscope's own files."""
    if not name or name == kernel.job.file:
        return kernel.path
    return next((folder / name for folder in kernel.job.include if (folder / name).is_file()), None)
