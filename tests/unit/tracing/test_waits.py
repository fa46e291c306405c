"""Waits of workgroups for each other, as made-up recordings show them: who changed the cell, and who still could."""

import numpy as np
import pytest

from helpers.traces import run_info
from splatscope.tracing.checks import cut_off, find
from splatscope.tracing.instrument.runtime import NO_SLOT
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace

SOURCE = """RWStructuredBuffer<uint> flag;
[shader("compute")] [numthreads(1, 1, 1)]
void main(uint3 group : SV_GroupID)
{
    uint seen, old;
    InterlockedAdd(flag[1], 1, old);
    do
        InterlockedAdd(flag[0], 0, seen);
    while (seen != 9);
    InterlockedExchange(flag[0], seen, old);
}
"""
SITES = [
    Site("", 0, 0, "nothing"),
    Site("a.slang", 7, 5, "loop"),
    Site("a.slang", 8, 9, "atomic", "flag", "main", "uint", "", "device", ("?",), operation="InterlockedAdd"),
    Site("a.slang", 7, 5, "overrun"),
    Site("a.slang", 10, 5, "atomic", "flag", "main", "uint", "", "device", ("?",), operation="InterlockedExchange"),
    Site("a.slang", 6, 5, "atomic", "flag", "main", "uint", "", "device", ("?",), operation="InterlockedAdd"),
]
LOOP, LOOK, OVERRUN, CHANGE, DRAW = 1, 2, 3, 4, 5


def recording(*events: tuple[int, int, int], source: str = SOURCE) -> Trace:
    """Return what two workgroups of one thread did: (group, site, value found), in the device's order."""
    rows = sorted(((group, slot, site, value) for slot, (group, site, value) in enumerate(events)), key=lambda row: row[:2])
    thread, slot, site, value = np.array(rows, np.uint32).T
    info = run_info(source, "a.slang", groups=(2, 1, 1), threads=2, all_groups=True)
    words = np.zeros((len(rows), 3), np.uint32)
    words[:, 0] = value
    index = np.where(site == DRAW, 1, 0).astype(np.uint32)
    slots = np.where(site == LOOP, NO_SLOT, slot).astype(np.uint32)
    return Trace(info, SITES, thread, site, slots, index, words, np.zeros(len(rows), np.uint32))


def waits(group: int, value: int, turns: int = 4) -> list[tuple[int, int, int]]:
    return [(group, LOOP, 0), (group, LOOK, value)] * turns


def test_an_atomic_that_adds_0_is_not_what_changed_the_cell():
    first = [(1, CHANGE, 2), (0, LOOP, 0), (0, LOOK, 3)]
    (found,) = find(recording(*first, *waits(0, 5), (0, OVERRUN, 0)))
    assert found.kind == "livelock"
    assert found.lines == [10, 7]
    assert found.message == (
        "Thread 0 of group 0 (thread 0 of all) waits in the loop on line 7 for flag[0] (looked at on line 8), which stays 5: "
        "thread 0 of group 1 (thread 1 of all) changed it on line 10, and does not change it again."
    )


def test_an_atomic_that_adds_1_is_what_changed_the_cell():
    first = [(1, CHANGE, 2), (0, LOOP, 0), (0, LOOK, 3)]
    adds = SOURCE.replace("flag[0], 0", "flag[0], 1")
    (found,) = find(recording(*first, *waits(0, 5), (0, OVERRUN, 0), source=adds))
    assert found.lines == [8, 7]


@pytest.mark.parametrize(("one", "other", "begun"), [(1, 0, []), (1, 0, [(0, DRAW, 1)]), (0, 1, [(1, DRAW, 1)])])
def test_a_wait_that_another_group_could_still_end_is_not_judged(one, other, begun):
    events = [(one, DRAW, 0), *begun, *waits(one, 3), (one, OVERRUN, 0), (other, CHANGE, 3)]
    trace = recording(*events)
    assert [finding.kind for finding in find(trace)] == []
    (sentence,) = cut_off(trace)
    assert sentence.startswith("a.slang, line 7: what follows this loop was not looked at.")


def test_a_group_of_a_higher_number_that_had_not_begun_cannot_end_a_wait():
    trace = recording((0, DRAW, 0), *waits(0, 3), (0, OVERRUN, 0), (1, DRAW, 1), (1, CHANGE, 3))
    (found,) = find(trace)
    assert (found.kind, found.threads) == ("livelock", [0])
    assert cut_off(trace) == []


def test_a_group_that_had_not_begun_though_there_was_room_for_it_could_end_a_wait():
    events = [(0, DRAW, 0), *waits(0, 3), (0, OVERRUN, 0), (1, DRAW, 1), (0, DRAW, 2), (1, CHANGE, 3)]
    trace = recording(*events)
    assert find(trace) == []
    assert len(cut_off(trace)) == 1


def test_a_group_that_waits_itself_cannot_end_a_wait():
    both = [event for pair in zip(waits(0, 3), waits(1, 3), strict=True) for event in pair]
    trace = recording((0, DRAW, 0), (1, DRAW, 1), *both, (0, OVERRUN, 0), (1, OVERRUN, 0), (1, CHANGE, 3))
    (found,) = find(trace)
    assert (found.kind, found.count) == ("livelock", 2)
    assert cut_off(trace) == []


def test_workgroups_that_wait_for_each_other_are_told_what_that_needs():
    both = [event for pair in zip(waits(0, 3), waits(1, 3), strict=True) for event in pair]
    trace = recording((0, CHANGE, 0), (1, CHANGE, 0), *both, (0, OVERRUN, 0), (1, OVERRUN, 0))
    (found,) = find(trace)
    assert found.message.endswith(
        "and waits itself in the loop on line 7. Workgroups that wait for each other end only if all of them run side by side, "
        "which no device promises."
    )


def test_a_wait_that_ended_by_luck_in_a_loop_in_which_another_did_not_is_no_finding_of_its_own():
    lucky = [*waits(0, 3), (1, CHANGE, 3), (0, LOOP, 0), (0, LOOK, 9)]
    assert [finding.kind for finding in find(recording(*lucky))] == ["group-order"]
    both = [event for pair in zip(waits(0, 4), waits(1, 4), strict=True) for event in pair]
    trace = recording(*lucky, *both, (0, OVERRUN, 0), (1, OVERRUN, 0))
    assert [finding.kind for finding in find(trace)] == ["livelock"]


def test_a_wait_for_what_a_later_group_has_taken_itself_is_a_lock_and_no_finding():
    """The lock's taking gets its place in the order behind the first look that finds it taken: group 1 has begun all the same."""
    locked = [*waits(0, 3)[:2], (1, CHANGE, 0), *waits(0, 3)[2:], (1, CHANGE, 3), (0, LOOP, 0), (0, LOOK, 0)]
    assert find(recording(*locked)) == []
    before = [(1, CHANGE, 0), *waits(0, 3), (1, CHANGE, 3), (0, LOOP, 0), (0, LOOK, 0)]
    assert find(recording(*before)) == []
    twice = [(1, CHANGE, 3), *waits(0, 3), (1, CHANGE, 3), (0, LOOP, 0), (0, LOOK, 9)]
    assert [finding.kind for finding in find(recording(*twice))] == ["group-order"]  # it changed nothing by the first


def test_a_wait_that_begins_when_another_was_given_up_is_no_finding_of_its_own():
    trace = recording((1, DRAW, 0), *waits(0, 3), (0, OVERRUN, 0), (0, CHANGE, 3), *waits(1, 3), (1, OVERRUN, 0))
    (found,) = find(trace)
    assert (found.kind, found.threads[-1]) == ("livelock", 0)


def test_after_a_wait_that_was_cut_off_no_other_is_judged():
    trace = recording((0, DRAW, 0), (1, DRAW, 1), *waits(0, 3), (0, OVERRUN, 0), (1, CHANGE, 3), *waits(1, 4), (1, OVERRUN, 0))
    assert find(trace) == []
