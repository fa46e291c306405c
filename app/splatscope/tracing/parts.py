"""Record dispatches with too many workgroups for one recording: dispatch several times, and record a part each time.

A part has two halves, which are recorded together and checked as if they were all workgroups. First come (0, 1), (2, 3), …, so that
each workgroup is checked once. Workgroups of two halves that were not yet recorded together may race, but only if one half writes
an address that the other touches. Only such halves are then recorded together, too.
"""

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from splatscope.tracing.checks import Finding, find
from splatscope.tracing.recording import Recording
from splatscope.tracing.trace import Trace

_Touched = dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]  # by memory: indices written, accessed atomically, read


MORE_SECONDS = "Allow more seconds (timeout=, --timeout), or dispatch fewer workgroups."


@dataclass
class Parts:
    """The parts of a dispatch.

    Attributes:
        groups: The number of workgroups.
        half: The number of workgroups in one half of a part.
        record: Records (first, second, count), see `KernelJob.part`.
        findings: The findings, one for each cause.
        truncated: Whether a recording was full before its end.
        left_over: What was not checked, because time was up or because it followed a wait that another part may have ended; "" if
            there is nothing.
    """

    groups: int
    half: int
    record: Callable[[tuple[int, int, int]], Recording]
    findings: list[Finding] = field(default_factory=list)
    truncated: bool = False
    left_over: str = ""

    def look(self, seconds: float) -> None:
        """Record part after part, and collect all findings. A part that would not finish within `seconds` is not begun."""
        end, longest = time.monotonic() + seconds, 0.0
        starts = list(range(0, self.groups, self.half))
        touched: dict[int, _Touched] = {}
        for index in range(0, len(starts), 2):
            began = time.monotonic()
            if index and began + longest > end:
                looked_at = f"Of {self.groups:,} workgroups {starts[index]:,} were looked at in the time."
                self.left_over = f"{looked_at} {MORE_SECONDS}"
                return
            touched |= self._look_at(starts[index : index + 2], are_new=True)
            longest = max(longest, time.monotonic() - began)
        recorded_pairs = {(start, start + self.half) for start in starts[::2]}
        for pair in itertools.combinations(starts, 2):
            if pair in recorded_pairs or not _meet(touched[pair[0]], touched[pair[1]]):
                continue
            if time.monotonic() + longest > end:
                self.left_over = "Not all workgroups were compared with each other for races in the time. " + MORE_SECONDS
                return
            self._look_at(list(pair))

    def _look_at(self, starts: list[int], *, are_new: bool = False) -> dict[int, _Touched]:
        """Record one half or two, collect the findings, and return the indices that each half touched.

        If the halves are new, a finding that another part has, too, counts for both.
        """
        recording = self.record((starts[0], starts[-1], self.half))
        trace = recording.trace
        self.truncated |= trace.info.truncated
        known = {cause_of(finding): finding for finding in self.findings}
        for finding in find(trace):
            if (same := known.get(cause_of(finding))) is None:
                self.findings.append(finding)
            elif are_new:
                same.count += finding.count
        self.left_over = self.left_over or " ".join(recording.cut_off)
        return {start: _touched(trace, start, start + self.half) for start in starts}


def cause_of(finding: Finding) -> tuple:
    """Return a key that findings with the same cause share."""
    # Any line may be the first to read shared memory that was never written.
    lines = () if finding.kind == "uninitialised-read" else tuple(sorted(finding.lines))
    return finding.kind, finding.name, finding.file, lines


def _touched(trace: Trace, first: int, last: int) -> _Touched:
    """Return the indices that the workgroups from `first` to `last` touch in buffers and textures, by name."""
    group = trace.group_and_lane[0]
    is_in_half = (group >= first) & (group < last)
    touched: _Touched = {}
    names = {site.name for site in trace.sites if site.space in ("device", "texture") and site.kind in ("read", "write", "atomic")}
    for name in names:
        writes, atomics, reads = (
            np.unique(trace.index[is_in_half & trace.at(lambda s, n=name, k=kind: s.name == n and s.kind == k)])
            for kind in ("write", "atomic", "read")
        )
        touched[name] = writes, atomics, reads
    return touched


def _meet(one: _Touched, other: _Touched) -> bool:
    """Return whether one half writes an element that the other touches, unless both use only atomics."""
    for name in one.keys() & other.keys():
        (writes, atomics, reads), (other_writes, other_atomics, other_reads) = one[name], other[name]
        pairs = (
            (writes, other_writes), (writes, other_atomics), (writes, other_reads), (atomics, other_writes),
            (atomics, other_reads), (reads, other_writes), (reads, other_atomics),
        )  # fmt: skip
        if any(np.isin(a, b).any() for a, b in pairs):
            return True
    return False
