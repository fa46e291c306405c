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

The last to arrive at a counter comes after everybody's atomics on it without any fence: see `last_arrival`.

An atomic gets its slot in the device's order only after it is done. So of two atomics of different threads, the later one may have
the lower slot: a thread that releases a lock may be delayed between the atomic and getting its slot. It is only certain that an
atomic comes after whatever its thread recorded before it. So an acquiring atomic counts as possibly later than a releasing one,
unless its slot is lower than the last one that the releasing thread got before its release.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from splatscope.tracing.checks.analysis.accesses import NEVER, Accesses
from splatscope.tracing.checks.analysis.last_arrival import LastArrival, got_highest
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
        self.syncs = trace.events_so_far(self.is_sync).astype(np.int64)
        self._group = trace.group_and_lane[0]
        self._passed = self.syncs[self.atomics.event]  # by atomic, how many barriers its thread has passed
        orders = {n: self.known.memory_orders(trace.sites[n]) for n in np.unique(self.atomics.site).tolist()}
        releases, acquires = (
            {n for n, names in orders.items() if names & {order, "AcquireRelease", "SeqCst"}} for order in _ORDERS
        )
        self._releases = np.isin(self.atomics.site, list(releases))
        self._acquires = np.isin(self.atomics.site, list(acquires))
        self._last_arrival = LastArrival(self.known)
        self._cell = np.unique(self.atomics.address, return_inverse=True)[1]
        self._after = self._slots_before(self.atomics.event)

    @property
    def are_possible(self) -> bool:
        """Whether the trace has all the parts of a hand-over."""
        has_fence = len(self.fences) > 0 or bool(self._releases.any() and self._acquires.any())
        return len(self.atomics) > 0 and (has_fence or self.are_asked)

    def orders(self, first: int, second: int) -> bool:
        """Return whether a hand-over orders two events of different threads at one address, the earlier first."""
        return self._pair(second, self._gives(first), self._takes(second)) is not None or self._is_by_last(first, second)

    def _is_by_last(self, first: int, second: int) -> bool:
        """Return whether the first event is an arrival at a counter, and the second is the last thread's own, or its group's."""
        atomics, trace = self.atomics, self.trace
        own = np.flatnonzero(atomics.event == first)
        if len(own) != 1:
            return False
        takes = np.flatnonzero(self._takes(second, fenced=False))
        arrivals = np.flatnonzero(self._cell == self._cell[own[0]])
        for acquire in takes[self._cell[takes] == self._cell[own[0]]].tolist():
            same_site = takes[atomics.site[takes] == atomics.site[acquire]]
            is_latest = atomics.slot[acquire] == atomics.slot[same_site].max()
            at_counter = atomics.take(arrivals)
            row = int(np.searchsorted(arrivals, acquire))
            if is_latest and got_highest(at_counter, row, trace.sites, self.known):
                is_own = bool(atomics.thread[acquire] == trace.thread[second])
                return self._last_arrival.guards(trace.sites[atomics.site[acquire]], trace.sites[trace.site[second]], is_own)
        return False

    def missing_between(self, first: int, second: int, between_groups: bool = False) -> str:
        """Return what is missing from a hand-over that would order two events, the earlier first; "" if there is no sign of one.

        A hand-over shows itself by a branch that depends on the second thread's atomic. For example "DeviceMemoryBarrier() is
        missing between the write on line 10 and the atomic on line 11". Between workgroups, the branch may be what is missing.
        """
        gives, takes = self._gives(first), self._takes(second)
        all_gives, all_takes = self._gives(first, fenced=False), self._takes(second, fenced=False)
        for some_gives, some_takes in ((all_gives, takes), (gives, all_takes), (all_gives, all_takes)):
            if (pair := self._pair(second, some_gives, some_takes, is_sign=True)) is not None:
                release, acquire = (int(self.atomics.event[row]) for row in pair)
                gaps = [self._gap_before(first, release)] if some_gives is all_gives else []
                gaps += [self._gap_behind(acquire, second)] if some_takes is all_takes else []
                fence = f"{'Group' if self.space == 'shared' else 'Device'}MemoryBarrier()"
                return f"{fence} is missing {', and '.join(gaps)}"
        if between_groups and (pair := self._pair(second, gives, takes, decided=False)) is not None:
            acquire_site = self.trace.sites[self.atomics.site[pair[1]]]
            return f"no branch after {acquire_site.name} on line {acquire_site.line} depends on what it returned"
        return ""

    def _gap_before(self, first: int, event: int) -> str:
        """Return where the fence of a release is missing: "between the write on line 10 and the atomic on line 11"."""
        if self.trace.thread[first] == self.trace.thread[event]:
            return self._gap(first, event)
        meeting = self._next(np.flatnonzero(self.is_sync), first)
        return self._gap(first, meeting if meeting >= 0 else event)  # a thread may return, or be cut off, before it meets its group

    def _gap_behind(self, event: int, second: int) -> str:
        """Return where the fence of an acquire is missing: "between the atomic on line 15 and the read on line 17"."""
        if self.trace.thread[event] == self.trace.thread[second]:
            return self._gap(event, second)
        return self._gap(self._last(np.flatnonzero(self.is_sync), second), second)

    def _gap(self, start: int, end: int) -> str:
        """Return "between the write on line 10 and the atomic on line 11", with the barriers there that order other memory.

        The barriers are those of the first event's thread.
        """
        trace = self.trace
        start_site, end_site = trace.sites[trace.site[start]], trace.sites[trace.site[end]]
        several = start_site.file != end_site.file

        def describe(site: Site) -> str:
            noun = "barrier" if site.kind == "resume" else site.kind
            return f"the {noun} on line {site.line}{f' of {site.file}' if several else ''}"

        memory, needed = ("buffers", "shared memory") if self.space == "shared" else ("shared memory", "buffers")
        words = f"between {describe(start_site)} and {describe(end_site)}"
        if end_site.kind == "resume":
            return f"{words}, which orders {memory}, not {needed}"
        between = np.flatnonzero(trace.at(lambda site: site.kind == "resume")[start + 1 : end]) + start + 1
        between = between[trace.thread[between] == trace.thread[start]]
        barriers = [trace.sites[n] for n in trace.site[between[~np.isin(between, self.fences)]].tolist()]
        return f"{words}; {barriers[-1].name} on line {barriers[-1].line} orders {memory}, not {needed}" if barriers else words

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
            return (is_own | ((atomics.group == self._group[first]) & (self._passed > syncs[first]))) & atomics.writes
        gives, release = is_own & self._releases, self._next(self.fences, first)
        if release >= 0:
            gives |= is_own & (atomics.event > release)
            met = syncs[release] + (not self.is_sync[release])  # after this barrier, all threads of the group may release
            gives |= (atomics.group == self._group[first]) & (self._passed >= met)
        return gives & atomics.writes

    def _takes(self, second: int, fenced: bool = True) -> np.ndarray:
        """Return a mask of the atomics that may acquire for an event, (atomics,) bool; if `fenced`, only those before a fence."""
        trace, atomics, syncs = self.trace, self.atomics, self.syncs
        is_own = (atomics.thread == trace.thread[second]) & (atomics.event < second)
        if not fenced:
            return (is_own | ((atomics.group == self._group[second]) & (self._passed < syncs[second]))) & atomics.reads
        takes, acquire = is_own & self._acquires, self._last(self.fences, second)
        if acquire >= 0:
            takes |= is_own & (atomics.event < acquire)
            takes |= (atomics.group == self._group[second]) & (self._passed < syncs[acquire])
        return takes & atomics.reads

    def _pair(
        self, second: int, gives: np.ndarray, takes: np.ndarray, decided: bool = True, is_sign: bool = False
    ) -> tuple[int, int] | None:
        """Return the rows of a release and of the latest acquire from it. If `decided`, a branch before `second` depends on it.

        If `is_sign`, the branch must name what the acquire returned, and the two atomics be those of different threads.
        """
        atomics = self.atomics
        if not gives.any() or not takes.any():
            return None
        earliest = np.full(int(self._cell.max()) + 1, NEVER)  # by cell, the earliest slot after which a release may have been done
        np.minimum.at(earliest, self._cell[gives], self._after[gives])
        candidates = np.flatnonzero(takes & (earliest[self._cell] < atomics.slot))
        candidates = candidates[np.argsort(atomics.slot[candidates], kind="stable")][::-1][:_MOST_TAKEN]
        for acquire in candidates.tolist():
            if decided and not self._decides(int(atomics.event[acquire]), second, is_sign):
                continue
            releases = np.flatnonzero(gives & (self._cell == self._cell[acquire]))
            if is_sign:
                is_earlier = self._after[releases] < atomics.slot[acquire].astype(np.int64)
                releases = releases[is_earlier & (atomics.thread[releases] != atomics.thread[acquire])]
            if len(releases):
                return int(releases[np.argmin(atomics.slot[releases])]), acquire
        return None

    def _decides(self, acquire: int, event: int, is_sign: bool = False) -> bool:
        """Return whether a thread branches between its own acquire, or its group's, and an event.

        If `is_sign`, a loop with `do` counts only if it is left in between, and a branch of another thread only if it may depend on
        the acquire.
        """
        trace = self.trace
        if trace.thread[acquire] == trace.thread[event]:
            between = slice(*np.searchsorted(self.decisions, [acquire + 1, event]))
            decision_numbers = np.unique(trace.site[self.decisions[between]]).tolist()
            acquire_site = trace.sites[trace.site[acquire]]
            may_depend = any(
                self._may_depend(trace.sites[number], acquire_site)
                for number in decision_numbers
                if not is_sign or trace.sites[number].kind == "branch"
            )
            return may_depend or self.known.is_left_by_condition(acquire_site, trace.sites[trace.site[event]])
        first = self._next(self.decisions, acquire)
        last = self._last(self.decisions, event)
        if is_sign:
            own_decisions = self.decisions[(trace.thread[self.decisions] == trace.thread[acquire]) & (self.decisions > acquire)]
            other_decisions = self.decisions[(trace.thread[self.decisions] == trace.thread[event]) & (self.decisions < event)]
            other_decisions = other_decisions[self.syncs[other_decisions] > self.syncs[acquire]]
            decision_sites = [
                trace.sites[number] for number in np.unique(trace.site[np.r_[own_decisions, other_decisions]]).tolist()
            ]
            return any(
                site.kind == "branch" and self._may_depend(site, trace.sites[trace.site[acquire]]) for site in decision_sites
            )
        return (last >= 0 and self.syncs[last] > self.syncs[acquire]) or first >= 0

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
        row = int(np.searchsorted(events, event, side="right"))
        return int(events[row]) if row < len(events) and self.trace.thread[events[row]] == self.trace.thread[event] else -1

    def _last(self, events: np.ndarray, event: int) -> int:
        """Return the last of `events` that belongs to the event's thread and comes before it, -1 if there is none."""
        row = int(np.searchsorted(events, event)) - 1
        return int(events[row]) if row >= 0 and self.trace.thread[events[row]] == self.trace.thread[event] else -1
