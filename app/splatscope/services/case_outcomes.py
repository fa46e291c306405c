"""Run a kernel on several cases in the sandbox, and return the outcomes to the code that marks it.

The numbers leave the sandbox and are judged where the kernel cannot interfere.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from splatscope.gpu.device import open_device
from splatscope.gpu.kernel import CompileError
from splatscope.services.refused_source import why_refused
from splatscope.tracing.checks.analysis.cell_history import ACCESSES
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.job import KernelJob
from splatscope.tracing.record_and_check import record_and_check
from splatscope.tracing.recording import Recording
from splatscope.workers.sandbox.failure_messages import NO_ANSWER
from splatscope.workers.sandbox.supervisor import JobAnswer


@dataclass(frozen=True)
class CaseOutcome:
    """The outcome of one case.

    Attributes:
        error: Why it could not run, in one line; "" if it ran.
        diagnostics: The compiler's diagnostics, each `Diagnostic` as a dict.
        findings: The findings in all workgroups.
        steps: For each finding, the step of the recording that shows it, 0 if it is in another workgroup.
        group: The recorded workgroup: the first with a finding, or else the case's own.
        who: For each finding, its threads as (workgroup, lane).
        group_size: Threads per workgroup in x, y and z.
        outputs: The buffers after the recorded kernel, as uint32 words by name.
        plain: The buffers after the plain kernel, likewise; {} if it was not safe to run.
        writers: For each word, the step of the recording that last wrote it, 0 if none did: int32, by name.
        elements: The number of elements written in each memory, by name.
        counts: "threads"; "barriers" and "accesses", each the maximum over threads; and "atomics", "reads" and "writes" of all
            threads together. Those of one memory are under "reads NAME", and so on.
        missed: What was not checked, a sentence each.
    """

    error: str = ""
    diagnostics: list[dict[str, Any]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    group: tuple[int, int, int] = (0, 0, 0)
    who: list[list[tuple[tuple[int, int, int], int]]] = field(default_factory=list)
    group_size: tuple[int, int, int] = (1, 1, 1)
    outputs: dict[str, np.ndarray] = field(default_factory=dict)
    plain: dict[str, np.ndarray] = field(default_factory=dict)
    writers: dict[str, np.ndarray] = field(default_factory=dict)
    elements: dict[str, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    missed: list[str] = field(default_factory=list)


_ARRAYS = ("outputs", "plain", "writers")


def outcomes_job(jobs: list[KernelJob], adapter: str = "") -> JobAnswer:
    """Run jobs with the same source, up to the first that does not run, and return their outcomes, encoded for `outcomes_of`."""
    device = open_device(adapter or None)
    outcomes, data = [], []
    for job in jobs:
        try:
            outcome = _outcome(record_and_check(device, job, between_groups=True, follow=True))
        except CompileError as error:
            words, marks = why_refused(error, job)
            outcome = CaseOutcome(words, [vars(mark) for mark in marks])
        except ValueError as error:
            outcome = CaseOutcome(str(error))
        arrays = {kind: list(getattr(outcome, kind).items()) for kind in _ARRAYS}
        data += [array.tobytes() for named in arrays.values() for _, array in named]
        outcomes.append(
            {name: value for name, value in vars(outcome).items() if name not in (*_ARRAYS, "findings")}
            | {"findings": [finding.as_dict() for finding in outcome.findings]}
            | {kind: [(name, array.size) for name, array in named] for kind, named in arrays.items()}
        )
        if outcome.error:
            break
    return {"outcomes": outcomes}, [b"".join(data)]


def outcomes_of(answer: JobAnswer) -> list[CaseOutcome]:
    """Decode the answer of `outcomes_job`. It comes from the sandbox, so it is checked.

    Raises:
        ValueError: The answer is malformed.
    """
    try:
        return list(_unpacked(*answer))
    except Exception as error:  # a forged answer may raise anything
        raise ValueError(NO_ANSWER) from error


def _unpacked(head: dict[str, Any], parts: list[bytes]) -> Iterator[CaseOutcome]:
    (data,) = parts
    words, at = np.frombuffer(data, np.uint32), 0

    def arrays(named: list) -> Iterator[tuple[str, np.ndarray]]:
        nonlocal at
        for name, size in named:
            if not 0 <= int(size) <= len(words) - at:
                raise ValueError("The answer is cut off.")
            yield str(name), words[at : at + int(size)]
            at += int(size)

    for fields in head["outcomes"]:
        named = {kind: dict(arrays(fields[kind])) for kind in _ARRAYS}
        named["writers"] = {name: array.view(np.int32) for name, array in named["writers"].items()}
        findings = [Finding.of(finding) for finding in fields["findings"]]
        who = [[(_three(group), int(lane)) for group, lane in threads] for threads in fields["who"]]
        places = {"group": _three(fields["group"]), "group_size": _three(fields["group_size"]), "who": who}
        yield CaseOutcome(**fields | named | places | {"findings": findings})


def _three(numbers: Any) -> tuple[int, int, int]:
    x, y, z = (int(n) for n in numbers)
    return x, y, z


def _outcome(recording: Recording) -> CaseOutcome:
    return CaseOutcome(
        findings=recording.findings,
        steps=[_step(recording, finding) for finding in recording.findings],
        group=recording.trace.info.group,
        who=[list(zip(finding.groups, finding.threads, strict=True)) for finding in recording.findings],
        group_size=recording.trace.info.group_size,
        outputs=recording.outputs,
        plain=recording.plain or {},
        writers={name: _writers(recording, name, words.size) for name, words in recording.outputs.items()},
        elements=_elements(recording),
        counts=_counts(recording),
        missed=list(recording.verdict.missed or ()),
    )


def _elements(recording: Recording) -> dict[str, int]:
    """Return the number of distinct elements that are written in each memory, by name."""
    trace = recording.trace
    written = trace.at(lambda site: site.kind in ("write", "atomic"))
    names = np.array([site.name for site in trace.sites])[trace.site] if len(trace) else np.zeros(0, str)
    return {str(name): len(np.unique(trace.index[written & (names == name)])) for name in np.unique(names[written])}


def _step(recording: Recording, finding: Finding) -> int:
    return int(np.flatnonzero(recording.trace.order == finding.events[-1])[0]) + 1 if finding.events else 0


def _writers(recording: Recording, name: str, size: int) -> np.ndarray:
    """Return, for each word of a buffer, the step that last wrote its element, 0 if none did: (size,) int32."""
    trace, steps = recording.trace, np.zeros(size, np.int32)
    order = trace.order
    chosen = np.flatnonzero(trace.at(lambda site: site.kind in ("write", "atomic") and site.name == name)[order])
    indices = trace.index[order[chosen]].astype(np.int64)
    layout = recording.layouts.get(name)
    if layout is not None and layout.shape == "byte_address_buffer":
        indices, words = indices // 4, 1
    else:
        words = max(1, (layout.stride if layout else 4) // 4)
    for part in range(words):
        at = indices * words + part
        inside = at < size
        steps[at[inside]] = chosen[inside] + 1
    return steps


def _counts(recording: Recording) -> dict[str, int]:
    """Return the counts that a task may limit, see `CaseOutcome.counts`."""
    trace = recording.trace
    kinds, names = trace.kinds, np.array([site.name for site in trace.sites])[trace.site] if len(trace) else np.zeros(0, str)
    arrivals = trace.thread[trace.at(lambda site: site.kind == "arrive" and site.name.endswith("WithGroupSync"))]
    counts = {
        "barriers": int(np.bincount(arrivals, minlength=1).max()),
        "threads": trace.info.threads_per_group,
    }
    for what, counted in (("atomics", ["atomic"]), ("reads", ["read"]), ("writes", ["write"]), ("accesses", ACCESSES)):
        chosen = np.isin(kinds, counted)
        for name in ["", *np.unique(names[chosen]).tolist()]:
            threads = trace.thread[chosen & (names == name)] if name else trace.thread[chosen]
            counts[f"{what} {name}".strip()] = int(np.bincount(threads, minlength=1).max()) if what == "accesses" else len(threads)
    return counts
