"""Hand-overs, the release–acquire pattern: a thread writes data, then a flag; another finds the flag set, then reads the data.

For example, two threads of different waves or workgroups (fence: a barrier that orders the data's memory, such as
`DeviceMemoryBarrier()`):

    thread 0                          thread 1
    data = 42
    fence
    InterlockedAdd(flag, 1)           InterlockedAdd(flag, 0, seen)
                                      fence
                                      if (seen > 0) use(data)          ordered

Both fences are needed. Without the first, the flag may become visible before the data. Without the second, the data may be read
before the flag. And thread 1 must branch on what its atomic returned. If it reads the data in any case, this run was just lucky.

An atomic with memory order `Release` or `Acquire` is its thread's own fence.

One thread may use the atomic on behalf of its workgroup if all threads of the group meet at a barrier in between.

An atomic gets its slot in the device's order only after it is done. So of two atomics of different threads, the later one may have
the lower slot: a thread that releases a lock may be delayed between the atomic and getting its slot. It is only certain that an
atomic comes after whatever its thread recorded before it. So an acquiring atomic counts as possibly later than a releasing one,
unless its slot is lower than the last one that the releasing thread got before its release.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from splatscope.tracing.checks.analysis.accesses import NEVER, Accesses
from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.instrument.runtime import NO_SLOT
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace

_ORDERS = ("Release", "Acquire")
_MOST_TAKEN = 64  # possibly acquiring atomics that are examined one by one


@dataclass
class HandOvers:
    """The atomics, fences and decisions of a trace that may order accesses to one kind of memory.

    In the names of methods, an atomic that releases `gives`, and one that acquires `takes`.

    Attributes:
        trace: The trace.
        known: The sources.
        space: The memory that the fences must order: "shared" or "device".
        atomics: The atomic accesses, in any order.
        is_sync: A mask of the events at which a thread has passed a barrier with group sync, (events,) bool.
        syncs: For each event, how many of those barriers its thread has passed, (events,) int64.
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
        self.is_sync = resumes & trace.at(lambda s: s.name.endswith("WithGroupSync"))
        self.syncs = trace.count(self.is_sync).astype(np.int64)
        self._group = trace.group_and_lane[0]
        orders = {n: self.known.memory_orders(trace.sites[n]) for n in np.unique(self.atomics.site).tolist()}
        releases, acquires = ({n for n, names in orders.items() if names & {one, "AcquireRelease", "SeqCst"}} for one in _ORDERS)
        self._releases = np.isin(self.atomics.site, list(releases))
        self._acquires = np.isin(self.atomics.site, list(acquires))
        self._cell = np.unique(self.atomics.address, return_inverse=True)[1]
        self._after = self._slots_before(self.atomics.event)

    @property
    def are_possible(self) -> bool:
        """Whether the trace has all the parts of a hand-over."""
        has_fence = len(self.fences) > 0 or (self._releases.any() and self._acquires.any())
        return has_fence and len(self.atomics) > 0

    def orders(self, first: int, second: int) -> bool:
        """Return whether a hand-over orders two events of different threads, the earlier first."""
        return self._pair(second, self._gives(first), self._takes(second)) is not None

    def lacks(self, first: int, second: int) -> str:
        """Return what is missing from a hand-over that would order two events, the earlier first; "" if there is no sign of one.

        For example "flag on lines 11 and 15 hands over without a fence before line 11; DeviceMemoryBarrier() is one".
        """
        gives, takes = self._gives(first), self._takes(second)
        all_gives, all_takes = self._gives(first, fenced=False), self._takes(second, fenced=False)
        fence = f"{'Group' if self.space == 'shared' else 'Device'}MemoryBarrier() is one"
        for pair, missing in (
            (self._pair(second, all_gives, takes), "before"),
            (self._pair(second, gives, all_takes), "behind"),
            (self._pair(second, all_gives, all_takes), ""),
        ):
            if pair is not None:
                gave, took = pair
                lines = f"line {gave.line}" if gave.line == took.line else f"lines {gave.line} and {took.line}"
                where = f" {missing} line {(gave if missing == 'before' else took).line}" if missing else ""
                return f"{gave.name} on {lines} hands over without a fence{where}; {fence}"
        if (pair := self._pair(second, gives, takes, decided=False)) is not None:
            return f"no branch behind {pair[1].name} on line {pair[1].line} depends on what it returned"
        return ""

    @cached_property
    def are_asked(self) -> bool:
        """Whether any branch of the kernel may depend on an atomic's result, so that fences may be part of a hand-over."""
        atomics = [self.trace.sites[n] for n in np.unique(self.atomics.site[self.atomics.reads]).tolist()]
        decisions = [self.trace.sites[n] for n in np.unique(self.trace.site[self.decisions]).tolist()]
        return any(self._may_depend(decision, atomic) for decision in decisions for atomic in atomics)

    def _gives(self, first: int, fenced: bool = True) -> np.ndarray:
        """Return a mask of the atomics that may release an event, (atomics,) bool: those after a fence, unless `fenced` is False.

        They are its thread's own atomics and, after a barrier, those of its group.
        """
        trace, atomics, syncs = self.trace, self.atomics, self.syncs
        is_own = (atomics.thread == trace.thread[first]) & (atomics.event > first)
        if not fenced:
            return (is_own | ((atomics.group == self._group[first]) & (syncs[atomics.event] > syncs[first]))) & atomics.writes
        gives, release = is_own & self._releases, self._next(self.fences, first)
        if release >= 0:
            gives |= is_own & (atomics.event > release)
            met = syncs[release] + (not self.is_sync[release])  # after this barrier, all threads of the group may release
            gives |= (atomics.group == self._group[first]) & (syncs[atomics.event] >= met)
        return gives & atomics.writes

    def _takes(self, second: int, fenced: bool = True) -> np.ndarray:
        """Return a mask of the atomics that may acquire for an event, (atomics,) bool; if `fenced`, only those before a fence."""
        trace, atomics, syncs = self.trace, self.atomics, self.syncs
        is_own = (atomics.thread == trace.thread[second]) & (atomics.event < second)
        if not fenced:
            return (is_own | ((atomics.group == self._group[second]) & (syncs[atomics.event] < syncs[second]))) & atomics.reads
        takes, acquire = is_own & self._acquires, self._last(self.fences, second)
        if acquire >= 0:
            takes |= is_own & (atomics.event < acquire)
            takes |= (atomics.group == self._group[second]) & (syncs[atomics.event] < syncs[acquire])
        return takes & atomics.reads

    def _pair(self, second: int, gives: np.ndarray, takes: np.ndarray, decided: bool = True) -> tuple[Site, Site] | None:
        """Return the sites of a release and of the latest acquire from it. If `decided`, a branch before `second` depends on it."""
        atomics, sites = self.atomics, self.trace.sites
        if not gives.any() or not takes.any():
            return None
        given = np.full(int(self._cell.max()) + 1, NEVER)  # by cell, the earliest slot after which a release may have been done
        np.minimum.at(given, self._cell[gives], self._after[gives])
        taken = np.flatnonzero(takes & (given[self._cell] < atomics.slot))
        taken = taken[np.argsort(atomics.slot[taken], kind="stable")][::-1][:_MOST_TAKEN]
        take = next((row for row in taken.tolist() if not decided or self._decides(int(atomics.event[row]), second)), None)
        if take is None:
            return None
        givers = np.flatnonzero(gives & (self._cell == self._cell[take]))
        give = givers[np.argmin(atomics.slot[givers])]
        return sites[atomics.site[give]], sites[atomics.site[take]]

    def _decides(self, take: int, event: int) -> bool:
        """Return whether a thread branches between its own acquire, or its group's, and an event."""
        trace = self.trace
        if trace.thread[take] == trace.thread[event]:
            between = slice(*np.searchsorted(self.decisions, [take + 1, event]))
            asked = np.unique(trace.site[self.decisions[between]]).tolist()
            taken = trace.sites[trace.site[take]]
            may_depend = any(self._may_depend(trace.sites[number], taken) for number in asked)
            return may_depend or self.known.is_left_by_condition(taken, trace.sites[trace.site[event]])
        own = self._next(self.decisions, take)
        last = self._last(self.decisions, event)
        return (last >= 0 and self.syncs[last] > self.syncs[take]) or own >= 0

    def _may_depend(self, decision: Site, atomic: Site) -> bool:
        return decision.kind != "branch" or self.known.dependence.may_depend(decision, atomic)

    def _slots_before(self, events: np.ndarray) -> np.ndarray:
        """Return the last slot that each event's thread got before it, -1 if there is none, (events,) int64."""
        trace = self.trace
        ticked = np.flatnonzero(trace.slot != NO_SLOT)
        row = np.searchsorted(ticked, events) - 1
        before = ticked[np.maximum(row, 0)] if len(ticked) else np.zeros(len(events), np.int64)
        is_own = (row >= 0) & (trace.thread[before] == trace.thread[events])
        return np.where(is_own, trace.slot[before].astype(np.int64), -1)

    def _next(self, events: np.ndarray, event: int) -> int:
        """Return the first of `events` that belongs to the event's thread and comes after it, -1 if there is none."""
        at = int(np.searchsorted(events, event, side="right"))
        return int(events[at]) if at < len(events) and self.trace.thread[events[at]] == self.trace.thread[event] else -1

    def _last(self, events: np.ndarray, event: int) -> int:
        """Return the last of `events` that belongs to the event's thread and comes before it, -1 if there is none."""
        at = int(np.searchsorted(events, event)) - 1
        return int(events[at]) if at >= 0 and self.trace.thread[events[at]] == self.trace.thread[event] else -1
