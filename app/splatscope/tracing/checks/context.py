"""The data that the checks of one trace share: which events can be trusted, the memory accesses, the sources.

One cause should give one finding. So events that only follow from another finding are not judged: those after an endless loop was
ended, and those of threads past a barrier that not all threads met. Nor is anything that the recording does not show in full:
there are no races if a barrier is not recorded, and no uninitialised reads of shared memory that unrecorded code may have written.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np

from splatscope.tracing.checks.analysis.accesses import Accesses, accesses
from splatscope.tracing.checks.analysis.barrier_arrivals import Divergence, first_divergence
from splatscope.tracing.checks.analysis.race_causes import Race, by_one_barrier, one_for_each_cause
from splatscope.tracing.checks.analysis.race_detection import races_in
from splatscope.tracing.checks.analysis.release_acquire import HandOvers
from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.checks.analysis.unrecorded_accesses import unrecorded_accesses
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.trace import Trace


class Context:
    """The data that the checks of one trace share. Each part is computed when a check first uses it."""

    def __init__(self, trace: Trace, run_check: Callable[[str, "Context"], list[Finding]]):
        self.trace = trace
        self._run_check = run_check
        self._findings: dict[str, list[Finding]] = {}

    def findings(self, kind: str) -> list[Finding]:
        """Return the findings of another kind, for a check whose findings may follow from them."""
        if kind not in self._findings:
            self._findings[kind] = self._run_check(kind, self)
        return self._findings[kind]

    @cached_property
    def sources(self) -> Sources:
        """The parsed sources of the modules."""
        return Sources.of(self.trace)

    @cached_property
    def unrecorded(self) -> dict[str, tuple[str, int]]:
        """Shared variables with unrecorded accesses, and "barriers" if a barrier is not recorded, each with a place."""
        return unrecorded_accesses(self.sources, self.trace.sites)

    @cached_property
    def trusted(self) -> np.ndarray:
        """A mask of the events before the first endless loop in their workgroup was ended, (events,) bool."""
        return before_overrun(self.trace, self.trace.group_and_lane[0].astype(np.int64))

    @cached_property
    def divergence(self) -> Divergence | None:
        """The first barrier that not all threads meet."""
        return first_divergence(self.trace)

    @cached_property
    def ordered(self) -> np.ndarray:
        """A mask of the trusted events whose thread had not passed a divergent barrier, (events,) bool."""
        return self.trusted & self.divergence.ordered if self.divergence else self.trusted

    @cached_property
    def shared(self) -> Accesses:
        """The ordered accesses to shared memory."""
        return accesses(self.trace, "shared", self.ordered, self.sources)

    @cached_property
    def device(self) -> Accesses:
        """The ordered accesses to buffers."""
        return accesses(self.trace, "device", self.ordered, self.sources)

    @cached_property
    def races(self) -> list[Finding]:
        """All races, true and benign: in shared memory, in buffers, and between workgroups if all were recorded."""
        trace, sources = self.trace, self.sources
        shared, device = self.shared, self.device
        atomics = shared.take(shared.atomic).beside(device.take(device.atomic))
        within = [
            race
            for space, table in (("shared", shared), ("device", device))
            for race in races_in(trace, table, sources, HandOvers(trace, sources, space, atomics))
        ]
        between = _between_groups(trace, sources) if trace.info.all_groups else []
        return one_for_each_cause([*within, *between], lambda race, other: by_one_barrier(trace, sources, race, other))


def races_between_groups(trace: Trace, known: Sources) -> list[Finding]:
    """Return the races on buffers between workgroups before any endless loop was ended, from a recording of all workgroups.

    No barrier orders such accesses; a hand-over through an atomic does.
    """
    return one_for_each_cause(_between_groups(trace, known))


def _between_groups(trace: Trace, sources: Sources) -> list[Race]:
    trusted = before_overrun(trace, np.zeros(len(trace), np.int64))
    table = accesses(trace, "device", trusted, sources, across_groups=True)
    hand_overs = HandOvers(trace, sources, "device", table.take(table.atomic))
    return races_in(trace, table, sources, hand_overs, between_groups=True)


def before_overrun(trace: Trace, group: np.ndarray) -> np.ndarray:
    """Return a mask of the events before the first endless loop of their group was ended, (events,) bool.

    Afterwards the kernel no longer does what its source says.

    Args:
        trace: The trace.
        group: The group of each event, (events,).
    """
    overruns = np.flatnonzero(trace.at(lambda site: site.kind == "overrun"))
    if len(overruns) == 0:
        return np.ones(len(trace), bool)
    position = np.empty(len(trace), np.int64)
    position[trace.order] = np.arange(len(trace))
    group = np.unique(group, return_inverse=True)[1]
    first = np.full(int(group.max(initial=0)) + 1, len(trace))
    np.minimum.at(first, group[overruns], position[overruns])
    return position < first[group]
