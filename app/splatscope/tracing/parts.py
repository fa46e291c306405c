"""Dispatches of more workgroups than can be recorded at once: they are dispatched several times, and a part is recorded each time.

Two halves of a part are recorded together, and looked at as if they were all. First come (0, 1), (2, 3), …, so that each
workgroup is looked at once. A race between workgroups may be one of two halves that were not together yet. That takes an address
that one half writes and another touches: only such halves are then recorded together, too.
"""

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from splatscope.tracing.checks import Finding, cut_off, find
from splatscope.tracing.trace import Trace

_Touched = dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]  # by memory: indices written plainly, atomically, and read plainly


MORE_SECONDS = "Allow more seconds (timeout=, --timeout), or dispatch fewer workgroups."


@dataclass
class Parts:
    """The parts of a dispatch.

    Attributes:
        groups: How many workgroups there are.
        half: How many are in one half of a part.
        record: Records (first, second, count), see `KernelJob.part`.
        findings: What was found, one of each cause.
        truncated: Whether a recording was full before its end.
        left_over: What was not looked at for want of time, or behind a wait that another part may have ended; "" if nothing.
    """

    groups: int
    half: int
    record: Callable[[tuple[int, int, int]], Trace]
    findings: list[Finding] = field(default_factory=list)
    truncated: bool = False
    left_over: str = ""

    def look(self, seconds: float) -> None:
        """Record part after part, and look for all findings; begin none that would not end within so many seconds."""
        end, longest = time.monotonic() + seconds, 0.0
        starts = list(range(0, self.groups, self.half))
        touched: dict[int, _Touched] = {}
        for at in range(0, len(starts), 2):
            began = time.monotonic()
            if at and began + longest > end:
                looked_at = f"Of {self.groups:,} workgroups {starts[at]:,} were looked at in the time."
                self.left_over = f"{looked_at} {MORE_SECONDS}"
                return
            touched |= self._look_at(starts[at : at + 2])
            longest = max(longest, time.monotonic() - began)
        together = {(start, start + self.half) for start in starts[::2]}
        for pair in itertools.combinations(starts, 2):
            if pair in together or not _meet(touched[pair[0]], touched[pair[1]]):
                continue
            if time.monotonic() + longest > end:
                self.left_over = "Not all workgroups were compared with each other for races in the time. " + MORE_SECONDS
                return
            self._look_at(list(pair))

    def _look_at(self, starts: list[int]) -> dict[int, _Touched]:
        """Record one half or two, note the findings, and return what each half touched."""
        trace = self.record((starts[0], starts[-1], self.half))
        self.truncated |= trace.header["truncated"]
        known = {cause_of(finding) for finding in self.findings}
        self.findings += [finding for finding in find(trace) if cause_of(finding) not in known]
        self.left_over = self.left_over or " ".join(cut_off(trace))
        return {start: _touched(trace, start, start + self.half) for start in starts}


def cause_of(finding: Finding) -> tuple:
    """Return what two findings of one cause have in common."""
    # Of shared memory that nobody wrote, any line may be the first to read it.
    lines = () if finding.kind == "uninitialised-read" else tuple(sorted(finding.lines))
    return finding.kind, finding.name, finding.file, lines


def _touched(trace: Trace, first: int, last: int) -> _Touched:
    """Return what the workgroups from `first` to `last` touch of buffers and textures, by name and index."""
    group = trace.group_and_lane[0]
    mine = (group >= first) & (group < last)
    found: _Touched = {}
    names = {site.name for site in trace.sites if site.space in ("device", "texture") and site.kind in ("read", "write", "atomic")}
    for name in names:
        kinds = (
            np.unique(trace.index[mine & trace.at(lambda s, n=name, k=kind: s.name == n and s.kind == k)])
            for kind in ("write", "atomic", "read")
        )
        found[name] = tuple(kinds)
    return found


def _meet(one: _Touched, other: _Touched) -> bool:
    """Return whether one half writes what the other touches, other than by atomics alone."""
    for name in one.keys() & other.keys():
        (writes, atomics, reads), (other_writes, other_atomics, other_reads) = one[name], other[name]
        pairs = (
            (writes, other_writes), (writes, other_atomics), (writes, other_reads), (atomics, other_writes),
            (atomics, other_reads), (reads, other_writes), (reads, other_atomics),
        )  # fmt: skip
        if any(np.isin(a, b).any() for a, b in pairs):
            return True
    return False
