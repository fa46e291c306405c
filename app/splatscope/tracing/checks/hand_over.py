"""Hand-overs: a thread writes data, then an atomic; another finds by an atomic that it may go on, and reads the data.

For example, two threads of different waves or workgroups (fence: a barrier that orders the data's memory, such as
`DeviceMemoryBarrier()`):

    thread 0                          thread 1
    data = 42
    fence
    InterlockedAdd(flag, 1)           InterlockedAdd(flag, 0, seen)
                                      fence
                                      if (seen > 0) use(data)          ordered

Both fences are needed: without the first the flag may arrive before the data, without the second the data may be read before the
flag. And thread 1 must decide something by what its atomic returned. If it reads the data whatever that was, this run was lucky.

An atomic of memory order `Release` or `Acquire` is its thread's own fence.

One thread may do the atomic for its workgroup, if all its threads meet at a barrier in between.

An atomic gets its slot after it is done. So of two atomics of different threads the later one may have the lower slot: the thread
that gives a lock back may be held up between the two. It is only certain that an atomic is done after what its thread recorded
before it. What takes may have come after what gives unless it was done before that.
"""

from dataclasses import dataclass, field

import numpy as np

from splatscope.tracing.checks.accesses import NEVER, Accesses
from splatscope.tracing.checks.sources import Sources
from splatscope.tracing.instrument.runtime import NO_SLOT
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace

_ORDERS = ("Release", "Acquire")


@dataclass
class HandOvers:
    """The atomics, fences and decisions of a trace, by which accesses to one kind of memory may be ordered.

    Attributes:
        trace: What was recorded.
        known: What its source says.
        space: The memory that the fences must order: "shared" or "device".
        atomics: The atomic accesses, in any order.
    """

    trace: Trace
    known: Sources
    space: str
    atomics: Accesses
    fences: np.ndarray = field(init=False)  # events
    decisions: np.ndarray = field(init=False)  # events

    def __post_init__(self):
        trace = self.trace
        resumes = trace.at(lambda s: s.kind == "resume")
        self.fences = np.flatnonzero(resumes & trace.at(lambda s: s.space in (self.space, "both")))
        do_loops = {n for n, s in enumerate(trace.sites) if s.kind == "loop" and self.known.is_do_loop(s)}
        self.decisions = np.flatnonzero(trace.at(lambda s: s.kind == "branch") | np.isin(trace.site, list(do_loops)))
        self._is_sync = resumes & trace.at(lambda s: s.name.endswith("WithGroupSync"))
        self._syncs = trace.count(self._is_sync).astype(np.int64)
        self._group = trace.group_and_lane[0]
        orders = {n: self.known.memory_orders(trace.sites[n]) for n in np.unique(self.atomics.site).tolist()}
        releases, acquires = ({n for n, names in orders.items() if names & {one, "AcquireRelease", "SeqCst"}} for one in _ORDERS)
        self._releases = np.isin(self.atomics.site, list(releases))
        self._acquires = np.isin(self.atomics.site, list(acquires))
        self._cell = np.unique(self.atomics.address, return_inverse=True)[1]
        self._after = self._slots_before(self.atomics.event)

    @property
    def are_possible(self) -> bool:
        """Whether there is all that a hand-over needs."""
        has_fence = len(self.fences) > 0 or (self._releases.any() and self._acquires.any())
        return has_fence and len(self.atomics) > 0

    def orders(self, first: int, second: int) -> bool:
        """Return whether a hand-over orders two events of different threads, the earlier first."""
        trace, atomics, syncs = self.trace, self.atomics, self._syncs
        release, acquire = self._next(self.fences, first), self._last(self.fences, second)
        gives = (atomics.thread == trace.thread[first]) & (atomics.event > first) & self._releases
        if release >= 0:
            gives |= (atomics.thread == trace.thread[first]) & (atomics.event > release)
            met = syncs[release] + (not self._is_sync[release])  # after this barrier all threads of the giver's group may give
            gives |= (atomics.group == self._group[first]) & (syncs[atomics.event] >= met)
        takes = (atomics.thread == trace.thread[second]) & (atomics.event < second) & self._acquires
        if acquire >= 0:
            takes |= (atomics.thread == trace.thread[second]) & (atomics.event < acquire)
            takes |= (atomics.group == self._group[second]) & (syncs[atomics.event] < syncs[acquire])
        gives, takes = gives & atomics.writes, takes & atomics.reads
        if not gives.any() or not takes.any():
            return False
        given = np.full(int(self._cell.max()) + 1, NEVER)  # by cell, the earliest slot after which one may have been done
        np.minimum.at(given, self._cell[gives], self._after[gives])
        taken = np.flatnonzero(takes & (given[self._cell] < atomics.slot))
        return any(self._decides(int(event), second) for event in atomics.event[taken[::-1][:64]])

    def _decides(self, take: int, event: int) -> bool:
        """Return whether a thread decides something between what it took, or what one took for its group, and an event."""
        trace = self.trace
        if trace.thread[take] == trace.thread[event]:
            between = slice(*np.searchsorted(self.decisions, [take + 1, event]))
            asked = np.unique(trace.site[self.decisions[between]]).tolist()
            return any(self._may_depend(trace.sites[number], trace.sites[trace.site[take]]) for number in asked)
        own = self._next(self.decisions, take)
        last = self._last(self.decisions, event)
        return (last >= 0 and self._syncs[last] > self._syncs[take]) or own >= 0

    def _may_depend(self, decision: Site, atomic: Site) -> bool:
        return decision.kind != "branch" or self.known.dependence.may_depend(decision, atomic)

    def _slots_before(self, events: np.ndarray) -> np.ndarray:
        """Return the last slot that the thread of each event got before it, -1 where there is none, (events,) int64."""
        trace = self.trace
        ticked = np.flatnonzero(trace.slot != NO_SLOT)
        row = np.searchsorted(ticked, events) - 1
        before = ticked[np.maximum(row, 0)] if len(ticked) else np.zeros(len(events), np.int64)
        is_own = (row >= 0) & (trace.thread[before] == trace.thread[events])
        return np.where(is_own, trace.slot[before].astype(np.int64), -1)

    def _next(self, events: np.ndarray, event: int) -> int:
        """Return the first of some events that the event's thread did after it, -1 if there is none."""
        at = int(np.searchsorted(events, event, side="right"))
        return int(events[at]) if at < len(events) and self.trace.thread[events[at]] == self.trace.thread[event] else -1

    def _last(self, events: np.ndarray, event: int) -> int:
        """Return the last of some events that the event's thread did before it, -1 if there is none."""
        at = int(np.searchsorted(events, event)) - 1
        return int(events[at]) if at >= 0 and self.trace.thread[events[at]] == self.trace.thread[event] else -1
