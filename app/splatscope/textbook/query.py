"""A recording as a lesson asks it: which steps did what, and with which values."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from splatscope.gpu.slang_types import SlangType
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.job import KernelJob
from splatscope.tracing.recording import Recording
from splatscope.tracing.sites import Site


@dataclass(frozen=True)
class RecordingQuery:
    """Steps are the events in the device's order, counted from 1, as the stepper counts them."""

    recording: Recording
    job: KernelJob
    findings: list[Finding]

    def __len__(self) -> int:
        return len(self.recording.trace)

    def steps(self, says: Callable[[Site], bool] | None = None, thread: int | None = None, **wanted: str | int) -> np.ndarray:
        """The steps at sites with these attributes: `steps(kind="write", name="blobs", function="orderPair")`. Sorted, int64."""

        def fits(site: Site) -> bool:
            return all(getattr(site, name) == value for name, value in wanted.items()) and (says is None or says(site))

        marked = self.recording.trace.at(fits)
        if thread is not None:
            marked &= self.recording.trace.thread == thread
        return np.flatnonzero(marked[self._order]) + 1

    def site(self, step: int) -> Site:
        trace = self.recording.trace
        return trace.sites[trace.site[self._order[step - 1]]]

    def threads(self, steps: np.ndarray) -> np.ndarray:
        """The thread of each step."""
        return self.recording.trace.thread[self._order[np.asarray(steps) - 1]]

    def indices(self, steps: np.ndarray) -> np.ndarray:
        """The element that each step reads or writes."""
        return self.recording.trace.index[self._order[np.asarray(steps) - 1]]

    def values(self, steps: np.ndarray) -> np.ndarray:
        """The values of steps that all have the same type: (n,) for scalars, (n, components) for vectors and matrices."""
        trace, events = self.recording.trace, self._order[np.asarray(steps, int) - 1]
        if not len(events):
            return np.zeros(0)
        type_ = SlangType.parse(trace.sites[trace.site[events[0]]].type)
        if type_ is None:
            return np.array([trace.value(int(event)) for event in events])
        numbers = type_.values(trace.words[events])
        return numbers if type_.shape else numbers[:, 0]

    def passed(self, steps: np.ndarray, marks: np.ndarray) -> np.ndarray:
        """At each of `steps`, how many of `marks` its thread has made by then, the step itself included: (n,) int64."""
        trace = self.recording.trace
        marked = np.zeros(len(trace), bool)
        marked[self._order[np.asarray(marks, int) - 1]] = True
        return trace.count(marked)[self._order[np.asarray(steps, int) - 1]].astype(np.int64)

    def last(self, name: str, thread: int, before: int | None = None) -> float | int | list | None:
        """What a thread's variable held after step `before` (default: at the end); None where it was never set."""
        steps = self.steps(kind="value", name=name, thread=thread)
        steps = steps if before is None else steps[steps <= before]
        if not len(steps):
            return None
        value = self.recording.trace.value(int(self._order[steps[-1] - 1]))
        return value[0] if value is not None and len(value) == 1 else value

    def barriers(self) -> list[int]:
        """The steps at which all have reached a barrier, one for each barrier that is met."""
        trace, arrived, last = self.recording.trace, {}, []
        for step in self.steps(kind="arrive"):
            thread = int(trace.thread[self._order[step - 1]])
            count = arrived[thread] = arrived.get(thread, 0) + 1
            last[count - 1 : count] = [int(step)]
        return sorted(last)

    def output(self, name: str) -> np.ndarray:
        """A buffer after the run, with dtype and shape of the input of this name."""
        return typed(self.job, name, self.recording.outputs[name])

    @cached_property
    def _order(self) -> np.ndarray:
        return self.recording.trace.order


def typed(job: KernelJob, name: str, words: np.ndarray) -> np.ndarray:
    """32-bit words as what was put in: dtype and shape of the job's input, uint32 where it had none."""
    given = job.inputs.get(name)
    if given is None:
        return words
    given = np.asarray(given)
    return np.frombuffer(words.tobytes(), given.dtype, given.size).reshape(given.shape)
