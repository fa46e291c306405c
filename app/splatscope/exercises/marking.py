"""Mark a kernel: run it on a task's cases in the sandbox, and judge the results here, out of the kernel's reach.

Hidden cases run in a separate process, and only after all other cases have passed. So nothing that a kernel could learn about them
reaches the learner.
"""

import time
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from splatscope.exercises.causes import ERROR, Cause, causes_of, is_beside_the_point
from splatscope.exercises.compiler_words import PYTHON, is_python
from splatscope.exercises.task import Case, Task, load
from splatscope.gpu.device import DeviceError
from splatscope.services import sandbox_jobs
from splatscope.services.case_outcomes import CaseOutcome, outcomes_of
from splatscope.tracing.job import PAGE_RECORDS, KernelJob
from splatscope.tracing.progress import COMPILING, progress_to, report_progress
from splatscope.workers.errors import WorkerError
from splatscope.workers.sandbox import supervisor
from splatscope.workers.sandbox.source_filter import refuse_job
from splatscope.workers.sandbox.supervisor import JobAnswer

LIMIT = 20.0  # seconds for all cases of a task together
NO_KERNEL = "“Start again” brings the first text back."
LOOP_BUDGET = 20_000  # iterations of a thread over all its loops; no task needs a tenth of it
Run = Callable[[str, tuple[Any, ...], float], JobAnswer]


@dataclass(frozen=True)
class CaseMark:
    """The result of one case.

    Attributes:
        name: The case's name.
        hidden: Whether the case is hidden.
        passed: Whether it passed; None if it was not run because another case failed.
        waves: The wave width that it ran with, 0 for the device's own.
        group: The workgroup that its causes refer to.
    """

    name: str
    hidden: bool
    passed: bool | None
    waves: int = 0
    group: tuple[int, int, int] = (0, 0, 0)


@dataclass(frozen=True)
class Mark:
    """The result of marking a kernel. `causes` says why it does not pass; the first is the one to fix first."""

    task: str
    passed: bool
    causes: list[Cause] = field(default_factory=list)
    cases: list[CaseMark] = field(default_factory=list)
    seconds: float = 0.0
    diagnostics: list[dict[str, Any]] = field(default_factory=list)

    @property
    def points(self) -> float:
        """The fraction of the cases that pass, 0 to 1."""
        return sum(case.passed is True for case in self.cases) / len(self.cases) if self.cases else 0.0


def mark_in_sandbox(folder: Path, source: str) -> Mark:
    """Mark a kernel on this worker.

    Raises:
        WorkerError: There is no sandbox.
    """

    def run(name: str, arguments: tuple[Any, ...], limit: float) -> JobAnswer:
        return supervisor.run_sandboxed(sandbox_jobs.__name__, name, arguments, limit)

    return mark(load(folder), source, run)


def mark(task: Task, source: str, run: Run) -> Mark:
    """Mark a kernel on a task.

    Args:
        task: The task.
        source: The kernel. It is not trusted.
        run: Runs a job of `sandbox_jobs` in a sandboxed process, given its name, its arguments and a limit in seconds.
    """
    began = time.monotonic()
    if not source.strip():
        return Mark(task.name, False, [Cause(ERROR, NO_KERNEL, title="There is no kernel")])
    if is_python(source):
        return Mark(task.name, False, [Cause(ERROR, PYTHON)])
    marks: list[CaseMark] = []
    causes: list[Cause] = []
    diagnostics: list[dict[str, Any]] = []
    before = 0  # number of runs in earlier rounds
    for cases, waves in _rounds(task):
        if causes:
            marks += [CaseMark(case.name, case.hidden, None, waves) for case in cases]
            continue
        with progress_to(_numbered(before)):
            outcomes = _run(task, cases, source, waves, run)
        before += len(cases)
        if outcomes is None:  # this machine has no such device
            continue
        causes_by_case = [causes_of(task, case, outcome, source) for case, outcome in zip(cases, outcomes, strict=False)]
        marks += [
            CaseMark(case.name, case.hidden, not case_causes, waves, outcome.group)
            for case, case_causes, outcome in zip(cases, causes_by_case, outcomes, strict=False)
        ]
        marks += [CaseMark(case.name, case.hidden, None, waves) for case in cases[len(outcomes) :]]
        causes_by_case.sort(key=lambda case_causes: bool(case_causes) and is_beside_the_point(case_causes))
        first = {(cause.kind, cause.words): cause for case_causes in reversed(causes_by_case) for cause in reversed(case_causes)}
        causes += [cause for case_causes in causes_by_case for cause in case_causes if first[cause.kind, cause.words] is cause]
        diagnostics = diagnostics or outcomes[0].diagnostics
    return Mark(task.name, not causes, causes, marks, time.monotonic() - began, diagnostics)


def count_of_runs(task: Task) -> int:
    """Return how many runs it takes to mark a kernel that passes. `mark` reports the number of each run as progress."""
    return sum(len(cases) for cases, _ in _rounds(task))


def _rounds(task: Task) -> list[tuple[list[Case], int]]:
    """Return the groups of cases that run together, each with its wave width, 0 for the device's own."""
    shown = [case for case in task.cases if not case.hidden]
    hidden = [case for case in task.cases if case.hidden]
    rounds = [(shown, 0), *((shown, waves) for waves in task.waves), (hidden, 0)]
    return [(cases, waves) for cases, waves in rounds if cases]


def _numbered(before: int) -> Callable[[int], None]:
    """Return a callback for recording stages that reports the number of each recording, starting at `before` + 1."""
    numbers, outside = count(before + 1), copy_context()

    def at_stage(stage: int) -> None:
        if stage == COMPILING:  # the first stage of each recording
            outside.run(report_progress, next(numbers))

    return at_stage


def job_of(task: Task, case: Case, source: str) -> KernelJob:
    """Return the dispatch of a case."""
    return KernelJob(
        source,
        f"{task.name}.slang",
        groups=case.groups,
        inputs=task.inputs(case),
        constants=dict(case.constants),
        records=PAGE_RECORDS,
        loop_budget=LOOP_BUDGET,
    )


def _run(task: Task, cases: list[Case], source: str, waves: int, run: Run) -> list[CaseOutcome] | None:
    """Return the outcome of each case, up to the first that does not run; None if this machine has no waves of that width."""
    jobs = [job_of(task, case, source) for case in cases]
    if wrong := refuse_job(jobs[0]):
        return [CaseOutcome(wrong.partition(" `import NAME;`")[0])]  # the list of modules is of no use in a task
    try:
        try:
            return outcomes_of(run("outcomes", (jobs, task.device(waves)), LIMIT))
        except DeviceError:
            if waves:
                return None
            return outcomes_of(run("outcomes", (jobs, ""), LIMIT))
    except WorkerError as error:
        if getattr(error, "stage", None) is None:
            raise
        return [CaseOutcome(str(error))]
    except ValueError as error:
        return [CaseOutcome(str(error))]
