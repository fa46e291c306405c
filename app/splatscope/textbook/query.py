"""Query a recording: find steps and their values."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from splatscope.gpu.slang_types import SlangType
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.job import KernelJob
from splatscope.tracing.recording import Recording
from splatscope.tracing.sites import Site


@dataclass(frozen=True)
class RecordingQuery:
    """A recording with its job and its findings. Steps are events in the device's order, counted from 1 as in the stepper."""

    recording: Recording
    job: KernelJob
    findings: list[Finding]

    def __len__(self) -> int:
        """Return the number of steps."""
        return len(self.recording.trace)

    def steps(self, where: Callable[[Site], bool] | None = None, thread: int | None = None, **attributes: str | int) -> np.ndarray:
        """Return the steps of one thread or all at sites with these attributes, sorted: (n,) int64.

        `steps(kind="write", name="blobs", function="orderPair")`; `where` narrows the sites further.
        """

        def fits(site: Site) -> bool:
            return all(getattr(site, name) == value for name, value in attributes.items()) and (where is None or where(site))

        mask = self.recording.trace.at(fits)
        if thread is not None:
            mask &= self.recording.trace.thread == thread
        return np.flatnonzero(mask[self._order]) + 1

    def site(self, step: int) -> Site:
        """Return the site of a step."""
        trace = self.recording.trace
        return trace.sites[trace.site[self._order[step - 1]]]

    def threads(self, steps: ArrayLike) -> np.ndarray:
        """Return the thread of each step."""
        return self.recording.trace.thread[self._order[np.asarray(steps) - 1]]

    def indices(self, steps: ArrayLike) -> np.ndarray:
        """Return the element that each step reads or writes."""
        return self.recording.trace.index[self._order[np.asarray(steps) - 1]]

    def values(self, steps: ArrayLike) -> np.ndarray:
        """Return the values of steps that all have the same type: (n,) for scalars, (n, components) for vectors and matrices."""
        trace, events = self.recording.trace, self._order[np.asarray(steps, int) - 1]
        if not len(events):
            return np.zeros(0)
        type_ = SlangType.parse(trace.sites[trace.site[events[0]]].type)
        if type_ is None:
            return np.array([trace.value(int(event)) for event in events])
        numbers = type_.values(trace.words[events])
        return numbers if type_.shape else numbers[:, 0]

    def contents(self, name: str, count: int, after: Sequence[int]) -> np.ndarray:
        """Return the first `count` elements of an array of scalars after each of these steps, from its recorded writes.

        Args:
            name: A shared array, or a buffer that is initially zeros; an element that was not written yet is 0.
            count: The number of elements.
            after: Steps in ascending order.

        Returns:
            (steps, count), of the array's type.
        """
        writes = self.steps(kind="write", name=name)
        indices, values = self.indices(writes), self.values(writes)
        elements, snapshots, applied = np.zeros(count, values.dtype), [], 0
        for end in np.searchsorted(writes, after, side="right"):
            for index, value in zip(indices[applied:end], values[applied:end], strict=True):
                elements[index] = value
            applied = int(end)
            snapshots.append(elements.copy())
        return np.array(snapshots).reshape(len(after), count)

    def count_until(self, steps: np.ndarray, marks: np.ndarray) -> np.ndarray:
        """Return, for each of `steps`, how many of `marks` its thread has passed, including the step itself: (n,) int64."""
        trace = self.recording.trace
        marked = np.zeros(len(trace), bool)
        marked[self._order[np.asarray(marks, int) - 1]] = True
        return trace.events_so_far(marked)[self._order[np.asarray(steps, int) - 1]].astype(np.int64)

    def last(self, name: str, thread: int, before: int | None = None) -> float | int | list | None:
        """Return the value of a thread's variable after step `before`, by default at the end; None if it was never set."""
        steps = self.steps(kind="value", name=name, thread=thread)
        steps = steps if before is None else steps[steps <= before]
        if not len(steps):
            return None
        value = self.recording.trace.value(int(self._order[steps[-1] - 1]))
        return value[0] if value is not None and len(value) == 1 else value

    def last_number(self, name: str, thread: int, before: int | None = None) -> float | int:
        """Return the value of a scalar as `last` does. Raises LookupError if it was never set."""
        value = self.last(name, thread, before)
        if not isinstance(value, int | float):
            raise LookupError(f"thread {thread} has no number {name}")
        return value

    def barriers(self) -> list[int]:
        """Return the steps at which all threads have reached a barrier, one for each time that a barrier is met."""
        arrivals = self.steps(kind="arrive")
        numbers = self.count_until(arrivals, arrivals)  # the number of barriers that each thread has met
        return sorted(int(arrivals[numbers == number].max()) for number in np.unique(numbers))

    def output(self, name: str) -> np.ndarray:
        """Return a buffer after the dispatch, with the dtype and shape of its input."""
        return typed(self.job, name, self.recording.outputs[name])

    def race_shown_by(self, earlier: int, later: int) -> list[Finding]:
        """Return the findings, with the first race on a variable shown by these two steps, which belong to different threads.

        A check shows a race by the first unordered accesses. A section may know which accesses did the harm.
        """
        sites = [self.site(step) for step in (earlier, later)]
        threads, index = self.threads([earlier, later]).tolist(), int(self.indices([earlier])[0])
        accesses = [
            f"{site.kind}s {target} on line {site.line}"
            for site, target in zip(sites, (f"{sites[0].name}[{index}]", "it"), strict=True)
        ]
        message = f"Thread {threads[0]} {accesses[0]}, thread {threads[1]} {accesses[1]}, and nothing orders the two."
        evidence = {"events": self._order[[earlier - 1, later - 1]].tolist(), "lines": [site.line for site in sites]}
        findings = list(self.findings)
        for i, finding in enumerate(findings):
            if finding.kind == "race" and finding.name == sites[0].name:
                findings[i] = replace(finding, threads=threads, index=index, message=message, **evidence)
                break
        return findings

    @cached_property
    def _order(self) -> np.ndarray:
        return self.recording.trace.order


def typed(job: KernelJob, name: str, words: np.ndarray) -> np.ndarray:
    """Return 32-bit words with the dtype and shape of the job's input of this name; as uint32 if there is none."""
    job_input = job.inputs.get(name)
    if job_input is None:
        return words
    job_input = np.asarray(job_input)
    return np.frombuffer(words.tobytes(), job_input.dtype, job_input.size).reshape(job_input.shape)
