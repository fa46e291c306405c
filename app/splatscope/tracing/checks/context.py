"""What the checks of one trace share: which events they may trust, the accesses to memory, what the source says.

One cause makes one finding. So nothing is judged that only follows from another finding: what comes after the end of an endless
loop, and what threads do past a barrier that not all of them met. Nor is what the recording does not show in full: no races
where a barrier is not recorded, no reads of shared memory that something unrecorded may have written.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np

from splatscope.tracing.checks.analysis.accesses import Accesses, accesses
from splatscope.tracing.checks.analysis.barrier_arrivals import Divergence, first_divergence
from splatscope.tracing.checks.analysis.race_causes import Race, one_for_each_cause
from splatscope.tracing.checks.analysis.race_detection import races_in
from splatscope.tracing.checks.analysis.release_acquire import HandOvers
from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.trace import Trace


class Context:
    """The common knowledge of the checks of one trace, each part worked out when a check first asks for it."""

    def __init__(self, trace: Trace, run_check: Callable[[str, "Context"], list[Finding]]):
        self.trace = trace
        self._run_check = run_check
        self._findings: dict[str, list[Finding]] = {}

    def findings(self, kind: str) -> list[Finding]:
        """Return the findings of a kind, for a check whose findings may follow from these."""
        if kind not in self._findings:
            self._findings[kind] = self._run_check(kind, self)
        return self._findings[kind]

    @cached_property
    def sources(self) -> Sources:
        """What the texts of the modules say."""
        return Sources.of(self.trace)

    @cached_property
    def unrecorded(self) -> dict[str, tuple[str, int]]:
        """The shared variables that something accesses unrecorded, and "barriers" where one is not recorded; each with a place."""
        return self.sources.unrecorded(self.trace.sites)

    @cached_property
    def trusted(self) -> np.ndarray:
        """Of each event, whether it comes before the end of its workgroup's first endless loop: (events,) bool."""
        return before_overrun(self.trace, self.trace.group_and_lane[0].astype(np.int64))

    @cached_property
    def divergence(self) -> Divergence | None:
        """The first barrier that not all threads meet."""
        return first_divergence(self.trace)

    @cached_property
    def ordered(self) -> np.ndarray:
        """Of each event, whether it is trusted and its thread had passed no barrier that not all met: (events,) bool."""
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
        """The races, true and benign, in shared memory, in buffers, and between workgroups if all were recorded."""
        trace, known = self.trace, self.sources
        shared, device = self.shared, self.device
        atomics = shared.take(shared.atomic).beside(device.take(device.atomic))
        within = [
            race
            for space, table in (("shared", shared), ("device", device))
            for race in races_in(trace, table, known, HandOvers(trace, known, space, atomics))
        ]
        between = _between_groups(trace, known) if trace.header.get("all_groups") else []
        return one_for_each_cause([*within, *between])


def races_between_groups(trace: Trace, known: Sources) -> list[Finding]:
    """Return the races on buffers between workgroups, from a recording of them all, before any endless loop was ended.

    No barrier orders these; a hand-over by an atomic does.
    """
    return one_for_each_cause(_between_groups(trace, known))


def _between_groups(trace: Trace, known: Sources) -> list[Race]:
    trusted = before_overrun(trace, np.zeros(len(trace), np.int64))
    table = accesses(trace, "device", trusted, known, across_groups=True)
    hand_overs = HandOvers(trace, known, "device", table.take(table.atomic))
    return races_in(trace, table, known, hand_overs, between_groups=True)


def before_overrun(trace: Trace, group: np.ndarray) -> np.ndarray:
    """Return of each event whether it comes before the first endless loop of its group was ended, (events,) bool.

    Afterwards the kernel is no longer the one that was written.

    Args:
        trace: What was recorded.
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
