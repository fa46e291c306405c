"""Run a check's jobs on worker processes or on sandboxed ones: at once as many as threads ask for, each with a limit of time."""

import json
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol

from splatscope.api.record import record_on_worker
from splatscope.api.workers import run_on_worker
from splatscope.check import jobs
from splatscope.check.jobs import Inputs, files_in
from splatscope.check.kernels import CheckedKernel
from splatscope.check.repository import MOST_TEXT, Repository
from splatscope.processes import ChildError, ChildTimeout
from splatscope.tracing.checks import CHECKS
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.fixes import Cause
from splatscope.tracing.job import KernelJob
from splatscope.tracing.progress import progress_to
from splatscope.workers.errors import JobTimeout, WorkerLost
from splatscope.workers.sandbox.failure_messages import NO_ANSWER
from splatscope.workers.sandbox.supervisor import JobAnswer, Sandbox

PARSE_SECONDS = 10.0  # for the entry points of one file, and for the loops of one kernel
MOST_STUCK = 3  # files that could not be parsed in time; after these, no more are tried
_DIED = "its process died"
_NOT_PARSED = "Its kernels are not known: its text could not be parsed within {:g} s."


OnProgress = Callable[[int], None] | None


class Refusal(Exception):  # noqa: N818
    """A kernel cannot be recorded. The message says why; `file` and `line` are the place, "" and 0 if there is none."""

    def __init__(self, message: str, file: str = "", line: int = 0) -> None:
        super().__init__(message)
        self.file, self.line = file, line


@dataclass(frozen=True)
class Summary:
    """What a recording showed, see `Recording`; `sources` are the texts of the program's files by name."""

    findings: list[Finding] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    shortfalls: list[str] = field(default_factory=list)
    events: int = 0
    threads: int = 0
    sources: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, answer: JobAnswer) -> "Summary":
        """Return the summary in an answer. It may come from a process that a kernel has taken over, so it is checked.

        Raises:
            Refusal: The answer says so, or is malformed.
        """
        head, parts = answer
        try:
            if "refused" in head:
                refusal = Refusal(str(head["refused"]), str(head["file"]), int(head["line"]))
            else:
                sources = {str(name): str(text) for name, text in json.loads(parts[0]).items()}
                missed, notes, shortfalls = ([str(text) for text in head[name]] for name in ("missed", "notes", "shortfalls"))
                findings = [_finding(plain) for plain in head["findings"]]
                return cls(findings, missed, notes, shortfalls, int(head["events"]), int(head["threads"]), sources)
        except Exception:  # a forged answer may raise anything
            refusal = Refusal(NO_ANSWER)
        raise refusal


@dataclass(frozen=True)
class Change:
    """A change of a kernel's file that takes findings away.

    Attributes:
        patch: It as a unified diff.
        replacements: It by lines, see `replacements_of`.
        verdict: What is said of the changed kernel.
        gone: The causes of the findings that it takes away.
    """

    patch: str
    replacements: tuple[tuple[int, int, str], ...]
    verdict: str
    gone: frozenset[Cause]


def _finding(plain: dict[str, Any]) -> Finding:
    if plain["kind"] not in CHECKS:
        raise ValueError(plain["kind"])
    kind, name, message, file = (str(plain[key]) for key in ("kind", "name", "message", "file"))
    lines, threads, events = ([int(n) for n in plain[key]] for key in ("lines", "threads", "events"))
    files = [str(file) for file in plain.get("files", [])]
    if files and len(files) != len(lines):
        raise ValueError("There is one file for each line.")
    column = int(plain.get("column", 0))
    return Finding(
        kind, name, message, lines, threads, int(plain["index"]), events, int(plain["count"]), file, files, column=column
    )


class Recorder(Protocol):
    """Runs jobs of `jobs`. Threads may call it at the same time."""

    def run(self, name: str, arguments: tuple[Any, ...], limit: float, on_progress: OnProgress = None) -> JobAnswer:
        """Run a job and return its answer.

        Args:
            name: Its name.
            arguments: Its arguments; the second of a job that records is the adapter.
            limit: Seconds after which it is ended.
            on_progress: Called with the number of each stage that it reports.

        Raises:
            ChildTimeout: It took too long.
            ChildError: Its process died.
        """
        ...


class Workers:
    """Runs jobs in ordinary processes, with all rights of this one."""

    def run(self, name: str, arguments: tuple[Any, ...], limit: float, on_progress: OnProgress = None) -> JobAnswer:
        """Run a job, see `Recorder.run`."""
        kind = arguments[1] if name in (jobs.RECORD, jobs.FIX) else ""  # a process opens one device
        return run_on_worker(jobs.run_job, name, *arguments, limit=limit, kind=kind, on_progress=on_progress)


class Sandboxes:
    """Runs jobs in sandboxed processes.

    Kernels of one repository share a process one after another, since they trust each other, until one ends or harms it.
    """

    _idle: ClassVar[list[Sandbox]] = []  # of all checks of this process
    _lock = threading.Lock()

    def run(self, name: str, arguments: tuple[Any, ...], limit: float, on_progress: OnProgress = None) -> JobAnswer:
        """Run a job, see `Recorder.run`. If its process dies, run it once more, since an earlier job may have been the cause."""
        if name == jobs.RECORD and not arguments[1]:
            name = jobs.RECORD_ON_DEFAULT
        with self._lock:
            sandbox = self._idle.pop() if self._idle else Sandbox(jobs.__name__)
        try:
            with progress_to(on_progress):
                try:
                    return sandbox.run(name, arguments, limit)
                except WorkerLost:
                    return sandbox.run(name, arguments, limit)
        except JobTimeout:
            timeout_error = ChildTimeout(f"no answer within {limit:g} s")
            timeout_error.was_starved = True  # that is not known
            raise timeout_error from None
        except WorkerLost:
            raise ChildError(_DIED) from None
        finally:
            with self._lock:
                self._idle.append(sandbox)


class EntryPoints:
    """Finds the entry points in texts. However many of these cannot be parsed in time, they cost no more than a few limits."""

    def __init__(self, recorder: Recorder, limit: float = PARSE_SECONDS) -> None:
        self._recorder, self._limit, self._stuck = recorder, limit, 0

    def __call__(self, text: str) -> list[str]:
        """Return the names of the entry points in a text. Raises ValueError if it cannot be parsed in time."""
        if self._stuck < MOST_STUCK:
            try:
                answer, _ = self._recorder.run(jobs.ENTRIES, (text,), self._limit)
                return [str(name) for name in answer["entries"]]
            except ChildError:
                self._stuck += 1
        raise ValueError(_NOT_PARSED.format(self._limit))


def summary_of(kernel: CheckedKernel, recorder: Recorder, repository: Repository) -> Summary:
    """Record a kernel.

    Raises:
        KernelTimeout: It ran until its time was up, in a loop that may not end.
        RecordError: The compiler or the driver crashed on every attempt, or took too long.
        Refusal: It does not compile, or its inputs do not fit.
        ValueError: Its files cannot be read.
    """
    job, inputs = with_files(kernel, repository)
    attempts = 0

    def run(_: Any, job: KernelJob, adapter: str, everywhere: bool, seconds: float, **options: Any) -> Summary:
        nonlocal attempts
        attempts += 1
        arguments = job, adapter, inputs, everywhere, seconds
        try:
            return Summary.of(recorder.run(jobs.RECORD, arguments, options["limit"], options["on_progress"]))
        except ChildTimeout as error:
            error.was_starved = error.was_starved and attempts == 1  # the second attempt has twice the time
            raise

    def endless(job: KernelJob) -> tuple[str, list[int]]:
        try:
            answer, _ = recorder.run(jobs.LOOPS, (job,), PARSE_SECONDS)
            return str(answer["entry"]), [int(line) for line in answer["lines"]]
        except Exception:  # it cannot be parsed in time, or not at all
            return "", []

    return record_on_worker(job, kernel.device, kernel.timeout, kernel.everywhere, run, endless)


def change_of(kernel: CheckedKernel, passed_over: Collection[Cause], recorder: Recorder, repository: Repository) -> Change | None:
    """Return a change of a kernel that takes findings away, but for those that are passed over; None if none is found in time."""
    job, inputs = with_files(kernel, repository)
    arguments = job, kernel.device, inputs, kernel.everywhere, kernel.timeout / 2, passed_over
    try:
        answer, _ = recorder.run(jobs.FIX, arguments, kernel.timeout)
        gone = frozenset((str(kind), str(name)) for kind, name in answer["gone"])
        replacements = tuple((int(first), int(end), str(text)) for first, end, text in answer["replacements"])
        return Change(str(answer["patch"]), replacements, str(answer["verdict"]), gone)
    except Exception:  # too late, a crash, nothing found, or an answer that a kernel has forged
        return None


def with_files(kernel: CheckedKernel, repository: Repository) -> tuple[KernelJob, Inputs]:
    """Return a kernel's job and inputs, with the files that they name unless a process may read these itself."""
    if repository.is_open:
        return kernel.job, kernel.inputs
    files, include, inputs = _collect_files(kernel, repository)
    return replace(kernel.job, files=files, include=include), inputs


def _collect_files(kernel: CheckedKernel, repository: Repository) -> tuple[dict[str, str], tuple[Path, ...], Inputs]:
    """Return the sources that a kernel may include, by path in the repository; its folders there; its inputs with their files."""
    root, *folders = kernel.job.include
    sources = repository.named_in({kernel.path: kernel.job.source}, folders)
    files = {
        path.relative_to(root).as_posix(): data.decode("utf-8", errors="replace")
        for path, data in sources.items()
        if path.is_relative_to(root) and len(data) <= MOST_TEXT
    }
    kernel_inputs = kernel.inputs
    texts = {kernel_inputs.folder / "values": "".join(f'"{name}"\n' for name in files_in(kernel_inputs.values))}
    if kernel_inputs.file:
        texts[kernel_inputs.folder / "file"] = f'"{kernel_inputs.file}"\n'
    inputs = replace(kernel_inputs, contents=repository.named_in(texts, ()))
    include = tuple(folder.relative_to(root) for folder in folders if folder.is_relative_to(root))
    return {kernel.job.file: kernel.job.source} | files, include, inputs
