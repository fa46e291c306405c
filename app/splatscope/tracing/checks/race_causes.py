"""Why two accesses are not ordered, as far as the recording shows it; and which races have one cause."""

from collections.abc import Callable

import numpy as np

from splatscope.tracing.checks.accesses import Accesses
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.trace import Trace

_MEMORY = {"shared": "shared memory", "device": "buffers", "texture": "textures"}


def why_unordered(trace: Trace, first: int, second: int) -> str:
    """Return why nothing orders two events of a workgroup, the earlier first: ": the barrier on line 8 …", "" if not known."""
    for event in _barriers_between(trace, first, second):
        barrier, space = trace.sites[trace.site[event]], trace.sites[trace.site[first]].space
        if trace.slot[event] < trace.slot[first] and barrier.name.endswith("WithGroupSync"):
            continue
        if not barrier.name.endswith("WithGroupSync"):
            return f": {barrier.name} on line {barrier.line} makes no thread wait"
        if barrier.space in _MEMORY and (barrier.space == "shared") != (space == "shared") and space in _MEMORY:
            return f": the barrier on line {barrier.line} orders {_MEMORY[barrier.space]}, not {_MEMORY[space]}"
    one_is_atomic = any(trace.sites[trace.site[event]].kind == "atomic" for event in (first, second))
    misplaced = _misplaced(trace, first, second)
    if one_is_atomic:
        return f": {misplaced or 'no barrier lies between them'}, and only one of them is atomic"
    return f": {misplaced}" if misplaced else ""


def _misplaced(trace: Trace, first: int, second: int) -> str:
    """Return where the barriers next to two events of one epoch are: "the barrier on line 8 comes before both"; "" if not known.

    They wait, and order the right memory. Both threads must have passed the same.
    """
    site = trace.sites[trace.site[first]]
    epoch = trace.shared_epoch if site.space == "shared" else trace.device_epoch
    if epoch[first] != epoch[second]:
        return ""
    waits = trace.at(
        lambda barrier: (
            barrier.kind == "resume"
            and barrier.name.endswith("WithGroupSync")
            and barrier.space in ("both", "shared" if site.space == "shared" else "device")
            and barrier.file == site.file
        )
    )
    before: set[int] = set()
    after: set[int] = set()
    for event in (first, second):
        passed = np.flatnonzero(waits & (trace.thread == trace.thread[event]))
        before.add(next((trace.sites[trace.site[other]].line for other in passed[passed < event][::-1].tolist()), 0))
        after.add(next((trace.sites[trace.site[other]].line for other in passed[passed > event].tolist()), 0))
    one_before = before.pop() if len(before) == 1 else 0
    one_after = after.pop() if len(after) == 1 else 0
    if one_before and one_before == one_after:
        return f"the barrier on line {one_before} does not come between them"
    if one_before and one_after:
        return f"the barrier on line {one_before} comes before both, that on line {one_after} after both"
    if one_before or one_after:
        return f"the barrier on line {one_before or one_after} comes {'before' if one_before else 'after'} both"
    return ""


def _barriers_between(trace: Trace, first: int, second: int) -> list[int]:
    """Return the barriers that the later thread passed between two accesses, the last first, then those of the earlier thread.

    Where threads do not wait, the one that should come second may be first: then the last barrier before its access, which the
    other thread passes after its own.
    """
    all_passed = np.flatnonzero(trace.at(lambda site: site.kind == "resume"))
    passed = all_passed[(trace.slot[all_passed] > trace.slot[first]) & (trace.slot[all_passed] < trace.slot[second])]
    later = passed[(trace.thread[passed] == trace.thread[second]) & (passed < second)]
    earlier = passed[(trace.thread[passed] == trace.thread[first]) & (passed > first)]
    before = all_passed[(trace.thread[all_passed] == trace.thread[first]) & (all_passed < first)]
    after = all_passed[(trace.thread[all_passed] == trace.thread[second]) & (all_passed > second)]
    swapped = before[np.isin(trace.site[before], trace.site[after])]
    return [*later[::-1].tolist(), *earlier.tolist(), *swapped[::-1][:1].tolist()]


def why_not_handed_over(trace: Trace, atomics: Accesses, first: int, second: int) -> str:
    """Return what a hand-over between workgroups lacks, of two events, the earlier first; "" if there is none.

    For example: one group writes data and then raises a flag by an atomic; another finds the flag raised and reads the data.
    Without a fence, the flag may arrive before the data. And a group that reads whatever the atomic returned was lucky.
    """
    groups, _ = trace.group_and_lane
    gives = np.flatnonzero((atomics.group == groups[first]) & (atomics.slot > trace.slot[first]) & atomics.writes)
    takes = np.flatnonzero((atomics.group == groups[second]) & (atomics.slot < trace.slot[second]))
    given: dict[int, int] = {}  # by address, the row of the earliest atomic
    for row in gives[np.argsort(atomics.slot[gives], kind="stable")].tolist():
        given.setdefault(int(atomics.address[row]), row)
    for take in takes[np.argsort(atomics.slot[takes], kind="stable")][::-1].tolist():
        give = given.get(int(atomics.address[take]))
        if give is not None and atomics.slot[give] < atomics.slot[take]:
            raised, found = (trace.sites[atomics.site[row]] for row in (give, take))
            if _is_fenced(trace, first, int(atomics.event[give])) and _is_fenced(trace, int(atomics.event[take]), second):
                return f": no branch behind {found.name} on line {found.line} depends on what it returned"
            lines = f"line {raised.line}" if raised.line == found.line else f"lines {raised.line} and {found.line}"
            return f": {raised.name} on {lines} hands over without a fence; DeviceMemoryBarrier() is one"
    return ""


def _is_fenced(trace: Trace, first: int, second: int) -> bool:
    """Return whether two events are of one thread, with a fence for buffers in between."""
    between = np.arange(first + 1, second)
    is_fence = trace.at(lambda site: site.kind == "resume" and site.space in ("device", "both"))
    return trace.thread[first] == trace.thread[second] and bool(is_fence[between].any())


def one_for_each_cause(findings: list[Finding], stretch_of: Callable[[Finding], object] | None = None) -> list[Finding]:
    """Return one finding for the races on a variable that share a line: what orders one of them orders the others.

    For example, without the barrier at the end of a loop, a write races with the reads of the next turn and with those behind the
    loop. A benign race gives way to a true one. The message of a finding names the other lines; its count stays that of its own.

    Args:
        findings: The races.
        stretch_of: What tells one stretch between two barriers from others; None for a race that lies in more than one. Races in
            one stretch are one finding also where they share lines with each other alone, as the steps of a reduction do that
            counts on waves in step.
    """
    kept: list[Finding] = []
    others: list[list[Finding]] = []
    for finding in sorted(findings, key=lambda f: (f.kind != "race", sorted(f.lines))):
        heads = range(len(kept))
        of = next((number for number in heads if _share_a_line(kept[number], finding)), None)
        if of is None and stretch_of is not None and finding.kind == "race" and (stretch := stretch_of(finding)) is not None:
            alike = [[race for race in (kept[number], *others[number]) if stretch_of(race) == stretch] for number in heads]
            of = next((number for number in heads if any(_share_a_line(race, finding) for race in alike[number])), None)
        if of is None:
            kept.append(finding)
            others.append([])
        elif finding.kind == kept[of].kind == "race":
            pairs = [sorted(race.places) for race in (kept[of], *others[of])]
            if sorted(finding.places) not in pairs:
                others[of].append(finding)
    for finding, more in zip(kept, others, strict=True):
        if more:
            pairs = "; ".join(" and ".join(_line(place, finding.file) for place in race.places) for race in more)
            finding.message = f"{finding.message} For the same reason these lines race: {pairs}."
    return kept


def _share_a_line(one: Finding, other: Finding) -> bool:
    return one.name == other.name and bool(set(one.places) & set(other.places))


def _line(place: tuple[str, int], own: str) -> str:
    file, line = place
    return str(line) if file == own else f"{line} of {file}"
