"""Explain why two accesses are not ordered, as far as the recording shows it, and merge races with the same cause."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from splatscope.tracing.checks.analysis.release_acquire import HandOvers
from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.trace import Trace

_MOST_ASKED = 70  # threads that are searched for the place of a missing barrier
_MEMORY = {"shared": "shared memory", "device": "buffers", "texture": "textures"}


@dataclass(frozen=True)
class Why:
    """Why nothing orders two accesses, as words that follow a colon; "" if not known.

    `is_cause` is True for a cause, such as a barrier that orders other memory, and False for a mere observation, such as where the
    nearest barriers are. `effect` is what follows from it.
    """

    words: str = ""
    is_cause: bool = False
    effect: str = "nothing orders the two"


def why_unordered(trace: Trace, hand_overs: HandOvers | None, first: int, second: int) -> Why:
    """Return why nothing orders two events of a workgroup, the earlier first: "the barrier on line 8 …".

    A fence without group sync may be half of a hand-over. So it is mentioned only in a kernel without hand-overs.
    """
    space = trace.sites[trace.site[first]].space
    passed = _barriers_between(trace, first, second)
    waits = [event for event in passed if hand_overs is not None and hand_overs.syncs[event] > hand_overs.syncs[first]]
    for event in sorted(waits, key=lambda event: int(trace.slot[event])):
        barrier = trace.sites[trace.site[event]]
        is_other = barrier.space in _MEMORY and (barrier.space == "shared") != (space == "shared") and space in _MEMORY
        if is_other and barrier.name.endswith("WithGroupSync"):
            return Why(f"the barrier on line {barrier.line} orders {_MEMORY[barrier.space]}, not {_MEMORY[space]}", True)
    if hand_overs is not None and (lack := hand_overs.missing_between(first, second)):
        return Why(lack, True)
    barriers = (trace.sites[trace.site[event]] for event in passed)
    fence = next((site for site in barriers if not site.name.endswith("WithGroupSync")), None)
    if fence is not None and not (hand_overs is not None and hand_overs.are_asked):
        if fence.name.endswith("WithWaveSync"):
            return Why(f"{fence.name} on line {fence.line} orders the threads of a wave alone", True)
        explanation = f"{fence.name} on line {fence.line} orders each thread's own accesses"
        return Why(f"{explanation}, and no thread waits there for another", True)
    one_is_atomic = any(trace.sites[trace.site[event]].kind == "atomic" for event in (first, second))
    misplaced = _misplaced(trace, first, second)
    if one_is_atomic:
        return Why(f"{misplaced or 'no barrier lies between them'}, and only one of them is atomic")
    has_barrier = hand_overs is None or hand_overs.known.has_barrier
    return Why(misplaced if has_barrier else "the kernel has no barrier")


def _misplaced(trace: Trace, first: int, second: int) -> str:
    """Return where the barriers next to two events of one epoch are: "the barrier on line 8 comes before both"; "" if not known.

    Only barriers with group sync that order the right memory count, and both threads must have passed the same ones.
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
        before.add(
            next((trace.sites[trace.site[barrier_event]].line for barrier_event in passed[passed < event][::-1].tolist()), 0)
        )
        after.add(next((trace.sites[trace.site[barrier_event]].line for barrier_event in passed[passed > event].tolist()), 0))
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

    If threads do not wait, the access that should be second may come first. Then it is the last barrier before that access, which
    the other thread passes after its own access.
    """
    all_passed = np.flatnonzero(trace.at(lambda site: site.kind == "resume"))
    passed = all_passed[(trace.slot[all_passed] > trace.slot[first]) & (trace.slot[all_passed] < trace.slot[second])]
    later = passed[(trace.thread[passed] == trace.thread[second]) & (passed < second)]
    earlier = passed[(trace.thread[passed] == trace.thread[first]) & (passed > first)]
    before = all_passed[(trace.thread[all_passed] == trace.thread[first]) & (all_passed < first)]
    after = all_passed[(trace.thread[all_passed] == trace.thread[second]) & (all_passed > second)]
    swapped = before[np.isin(trace.site[before], trace.site[after])]
    return [*later[::-1].tolist(), *earlier.tolist(), *swapped[::-1][:1].tolist()]


@dataclass(frozen=True)
class Race:
    """A race as a finding, with the data to decide which other races have the same cause.

    `stretch` identifies the stretch of code between two barriers; None for a race that is in more than one.
    """

    finding: Finding
    why: Why = field(default_factory=Why)
    stretch: object = None
    is_between_groups: bool = False


def one_for_each_cause(races: list[Race], are_one: Callable[[Race, Race], bool] = lambda one, other: False) -> list[Finding]:
    """Merge the races on a variable that share a line into one finding, since whatever orders one of them orders the others.

    For example, if the barrier at the end of a loop is missing, a write races with reads in the next iteration and with reads after
    the loop. A true race takes precedence over a benign one. The message of a finding names the other lines; its count does not
    include them. Races in one stretch are also merged if they share lines only indirectly, as in the steps of a reduction that
    relies on waves running in lockstep. A race between workgroups stays separate from one whose cause does not apply to it, and
    from one on two other lines, which a barrier between them may mend, since no barrier orders workgroups. `are_one` says of two
    races on different variables whether one barrier would order both.
    """
    kept: list[list[Race]] = []
    for race in sorted(races, key=_order):
        match = next((group for group in kept if _share_a_line(group[0], race) and _may_share_cause(group[0], race)), None)
        if match is None and race.finding.kind == "race" and race.stretch is not None:
            match = next((group for group in kept if any(_share_a_line(r, race) for r in group if r.stretch == race.stretch)), None)
        if match is None:
            match = next((group for group in kept if group[0].finding.name != race.finding.name and are_one(group[0], race)), None)
        if match is None:
            kept.append([race])
        elif race.finding.kind == match[0].finding.kind == "race":
            match.append(race)
    for race, *merged in kept:
        race.finding.merged = [one.finding for one in merged]
        own_places = sorted(race.finding.places)
        places_by_name: dict[str, dict[tuple, None]] = {}
        for merged_race in merged:
            places, name = sorted(merged_race.finding.places), merged_race.finding.name
            if name != race.finding.name or places != own_places:
                places_by_name.setdefault(name, {})[tuple(places)] = None
        for name in sorted(places_by_name, key=lambda name: (name != race.finding.name, name)):
            lines = [[_line(place, race.finding.file) for place in dict.fromkeys(places)] for places in places_by_name[name]]
            race.finding.message += f" For the same reason {_list_pairs(lines, '' if name == race.finding.name else name)}."
    return [race.finding for race, *_ in kept]


def _list_pairs(pairs: list[list[str]], name: str) -> str:
    """Return which pairs of lines race as well, each named once: on the variable `name`, or "" for that of the finding."""
    if name:
        is_single = len(pairs) == len(pairs[0]) == 1
        return f"{name} races on line{'' if is_single else 's'} {'; '.join(' and '.join(lines) for lines in pairs)}"
    if len(pairs) == len(pairs[0]) == 1:
        return f"line {pairs[0][0]} races with itself"
    return f"these lines race: {'; '.join(' and '.join(lines) if len(lines) > 1 else f'{lines[0]} with itself' for lines in pairs)}"


def _order(race: Race) -> tuple:
    return race.finding.kind != "race", race.is_between_groups, sorted(race.finding.lines), race.finding.name


def by_one_barrier(trace: Trace, known: Sources, one: Race, other: Race) -> bool:
    """Return whether one barrier would order the accesses of two races of a workgroup on different variables.

    That is so if a barrier between the two orders other memory, and is the cause of both; or if some thread, on its way between two
    barriers, makes the earlier accesses of both races before the later ones of both. An allowed race is not merged with another.
    """
    pairs = [[trace.sites[trace.site[event]] for event in race.finding.events] for race in (one, other)]
    is_shared = [site.space == "shared" for sites in pairs for site in sites]
    is_apart = one.is_between_groups or other.is_between_groups or len(set(is_shared)) > 1
    if is_apart or {one.finding.kind, other.finding.kind} != {"race"} or any(known.may_be_allowed(s) for p in pairs for s in p):
        return False
    if one.why.is_cause or other.why.is_cause:
        return one.why == other.why
    return any(
        max(gaps[0][0], gaps[1][0]) < min(gaps[0][1], gaps[1][1])
        for race in (one, other)
        if race.stretch is not None
        for event in race.finding.events
        for gaps in _gaps(trace, event, [race.finding.events for race in (one, other)])
    )


def _gaps(trace: Trace, event: int, pairs: list[list[int]]) -> Iterator[list[tuple[int, int]]]:
    """Yield, for threads of an event's workgroup, where a barrier would order each pair of accesses: (after, before), as events.

    Only the stretch between two barriers around `event` counts, and only threads in which a barrier there would order all pairs.
    """
    lanes = int(trace.info.threads_per_group) if trace.info.all_groups else 2**31
    lowest = int(trace.thread[event]) // lanes * lanes
    threads, starts = trace.spans
    first, last = np.searchsorted(threads, np.array([lowest, lowest + lanes], threads.dtype)).tolist()  # in another dtype it copies
    racing_threads = {int(trace.thread[access]) for pair in pairs for access in pair}
    for row in sorted(range(first, last), key=lambda row: int(threads[row]) not in racing_threads)[:_MOST_ASKED]:
        own_events = np.arange(starts[row], starts[row + 1])
        is_in_stretch = (trace.shared_epoch[own_events] == trace.shared_epoch[event]) & (
            trace.device_epoch[own_events] == trace.device_epoch[event]
        )
        own_events = own_events[is_in_stretch]
        spans = [[own_events[trace.site[own_events] == trace.site[access]] for access in pair] for pair in pairs]
        if all(len(events) for pair in spans for events in pair):
            gaps = [gap for first_events, second_events in spans if (gap := _gap(first_events, second_events)) is not None]
            if len(gaps) == len(pairs):
                yield gaps


def _gap(first: np.ndarray, second: np.ndarray) -> tuple[int, int] | None:
    if first[-1] < second[0]:
        return int(first[-1]), int(second[0])
    return (int(second[-1]), int(first[0])) if second[-1] < first[0] else None


def _share_a_line(one: Race, other: Race) -> bool:
    return one.finding.name == other.finding.name and bool(set(one.finding.places) & set(other.finding.places))


def _may_share_cause(one: Race, other: Race) -> bool:
    if one.is_between_groups == other.is_between_groups:
        return True
    if one.why.is_cause or other.why.is_cause:
        return one.why == other.why
    within = other if one.is_between_groups else one
    is_one_statement = len(set(within.finding.places)) == 1  # so that no barrier can come between
    return is_one_statement or sorted(one.finding.places) == sorted(other.finding.places)


def _line(place: tuple[str, int], own_file: str) -> str:
    file, line = place
    return str(line) if file == own_file else f"{line} of {file}"
