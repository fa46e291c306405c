"""A race's finding says why the two accesses are not ordered."""

import re

import numpy as np
import pytest

from splatscope.gpu.device import open_device
from splatscope.tracing.checks import find, races_between_groups
from splatscope.tracing.job import KernelJob
from splatscope.tracing.record_and_check import record_and_check
from splatscope.tracing.recording import record

EXCHANGED = """RWStructuredBuffer<uint> data; RWStructuredBuffer<uint> output;
groupshared uint tile[64];
[shader("compute")] [numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex)
{
    MEMORY[lane] = lane;
    BARRIER();
    output[lane] = MEMORY[63 - lane];
}
"""


def race_in(source: str) -> str:
    findings = find(record(open_device(), KernelJob(source, records=400_000)).trace)
    (race,) = [finding for finding in findings if finding.kind == "race"]
    return race.message


@pytest.mark.parametrize(
    ("memory", "barrier", "why"),
    [
        ("data", "GroupMemoryBarrierWithGroupSync", "the barrier on line 7 orders shared memory, not buffers."),
        ("tile", "DeviceMemoryBarrierWithGroupSync", "the barrier on line 7 orders buffers, not shared memory."),
        (
            "tile",
            "GroupMemoryBarrier",
            "GroupMemoryBarrier on line 7 orders each thread's own accesses, and no thread waits there for another.",
        ),
        (
            "data",
            "AllMemoryBarrier",
            "AllMemoryBarrier on line 7 orders each thread's own accesses, and no thread waits there for another.",
        ),
    ],
)
def test_a_barrier_that_does_not_order_them_is_named(memory, barrier, why):
    message = race_in(EXCHANGED.replace("MEMORY", memory).replace("BARRIER", barrier))
    assert message.endswith(f"and nothing orders the two: {why}")


@pytest.mark.parametrize(
    ("memory", "barrier"), [("data", "AllMemoryBarrierWithGroupSync"), ("tile", "GroupMemoryBarrierWithGroupSync")]
)
def test_the_right_barrier_leaves_nothing(memory, barrier):
    source = EXCHANGED.replace("MEMORY", memory).replace("BARRIER", barrier)
    assert find(record(open_device(), KernelJob(source, records=400_000)).trace) == []


COUNTED = """RWStructuredBuffer<uint> output;
groupshared uint count;
[shader("compute")] [numthreads(8, 1, 1)]
void main(uint lane : SV_GroupIndex)
{
    if (lane == 0)
        count = 0;
    GroupMemoryBarrierWithGroupSync();
    InterlockedAdd(count, 1);
    output[lane] = count;
}
"""


def test_an_atomic_beside_a_plain_access_is_named():
    message = race_in(COUNTED)
    assert message.endswith("and nothing orders the two: the barrier on line 8 comes before both, and only one of them is atomic.")
    message = race_in(COUNTED.replace("    GroupMemoryBarrierWithGroupSync();\n", ""))
    assert ": no barrier lies between them, and only one of them is atomic." in message


PLACED = """RWStructuredBuffer<uint> output;
groupshared uint tile[64];
[shader("compute")] [numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex)
{
    BEFORE
    tile[lane] = lane;
    output[lane] = tile[63 - lane];
    AFTER
}
"""
WAIT = "GroupMemoryBarrierWithGroupSync();"


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        (WAIT, "", ": the barrier on line 6 comes before both."),
        ("", WAIT, ": the barrier on line 9 comes after both."),
        (WAIT, WAIT, ": the barrier on line 6 comes before both, that on line 9 after both."),
        ("", "", ": the kernel has no barrier."),
        (f"for (uint i = 0; i < 2; i++) {{ {WAIT}", "}", ": the barrier on line 6 does not come between them."),
    ],
)
def test_a_barrier_in_the_wrong_place_is_named(before, after, why):
    message = race_in(PLACED.replace("BEFORE", before).replace("AFTER", after))
    assert message.partition(" For the same reason")[0].endswith(f"and nothing orders the two{why}")


SCAN = """RWStructuredBuffer<uint> output;
groupshared uint s[32];
[shader("compute")] [numthreads(32, 1, 1)]
void main(uint lane : SV_GroupIndex)
{
    s[lane] = lane;
    for (uint stride = 1; stride < 32; stride *= 2)
    {
        uint at = (lane + 1) * stride * 2 - 1;
        if (at < 32)
            s[at] += s[at - stride];
        BARRIER
    }
    for (uint back = 16; back > 0; back /= 2)
    {
        uint at = (lane + 1) * back * 2 - 1;
        if (at + back < 32)
            s[at + back] += s[at];
        GroupMemoryBarrierWithGroupSync();
    }
    output[lane] = s[lane];
}
"""


def test_the_races_of_one_missing_barrier_are_one_finding():
    message = race_in(SCAN.replace("BARRIER", ""))
    assert message.endswith(" For the same reason line 11 races with itself.")


HANDED_OVER = """globallycoherent RWStructuredBuffer<uint> data; globallycoherent RWStructuredBuffer<uint> flag;
RWStructuredBuffer<uint> output;
[shader("compute")] [numthreads(1, 1, 1)]
void main(uint3 group : SV_GroupID)
{
    uint seen = 0;
    if (group.x == 0)
    {
        data[0] = 42;
        FENCE
        InterlockedAdd(flag[0], 1, seen);
    }
    else
    {
        for (uint n = 0; n < 500 && seen == 0; n++) InterlockedAdd(flag[0], 0, seen);
        FENCE
        if (seen > 0)
            output[group.x] = data[0];
    }
}
"""


RELEASE_MISSING = "DeviceMemoryBarrier() is missing between the write on line 9 and the atomic on line 11"


@pytest.mark.parametrize(("fence", "count"), [("", 1), ("DeviceMemoryBarrier();", 0)])
def test_a_hand_over_between_groups_needs_a_fence(fence, count):
    job = KernelJob(HANDED_OVER.replace("FENCE", fence), groups=(4, 1, 1), all_groups=True, records=400_000)
    recording = record(open_device(), job)
    assert recording.outputs["output"][1:4].any()  # some group saw the flag
    races = [finding for finding in races_between_groups(recording.trace) if finding.name == "data"]
    assert len(races) == count
    assert (
        np.unique([race.message.partition("the two")[2] for race in races]).tolist()
        == [f": {RELEASE_MISSING}, and between the atomic on line 15 and the read on line 18."] * count
    )


LOCKED = """RWStructuredBuffer<uint> lock; globallycoherent RWStructuredBuffer<uint> total;
[shader("compute")] [numthreads(4, 1, 1)]
void main(uint lane : SV_GroupIndex)
{
    bool isDone = false;
    while (!isDone)
    {
        uint old;
        InterlockedCompareExchange(lock[0], 0, 1, old);
        if (old == 0)
        {
            BEHIND
            total[0] = total[0] * 3 + lane;
            BEFORE
            InterlockedExchange(lock[0], 0, old);
            LATE
            isDone = true;
        }
    }
}
"""
FENCE = "DeviceMemoryBarrier();"


@pytest.mark.parametrize(
    ("behind", "before", "late", "where"),
    [
        (FENCE, "", FENCE, "between the {} on line 13 and the atomic on line 15"),
        (FENCE, "", "", "between the {} on line 13 and the atomic on line 15"),
        ("", FENCE, "", "between the atomic on line 9 and the {} on line 13"),
        ("", "", "", "between the {} on line 13 and the atomic on line 15, and between the atomic on line 9 and the {} on line 13"),
        (
            FENCE,
            "GroupMemoryBarrier();",
            "",
            "between the {} on line 13 and the atomic on line 15; GroupMemoryBarrier on line 14 orders shared memory, not buffers",
        ),
        (FENCE, FENCE, "", None),
    ],
)
def test_a_lock_is_told_where_it_lacks_a_fence_and_no_right_one_is_blamed(behind, before, late, where):
    source = LOCKED.replace("BEHIND", behind).replace("BEFORE", before).replace("LATE", late)
    job = KernelJob(source, groups=(3, 1, 1), all_groups=True, records=400_000)
    findings = find(record(open_device(), job).trace)
    assert {found.kind for found in findings} <= {"race", "benign-race"}  # two may have stored the same
    said = [found.message.partition(" For the same")[0].partition("the two: ")[2] for found in findings if found.kind == "race"]
    found = [re.sub("the (read|write) on", "the {} on", words) for words in said]
    assert found == ([] if where is None else [f"DeviceMemoryBarrier() is missing {where}."])


LAST = """RWStructuredBuffer<uint> count; globallycoherent RWStructuredBuffer<uint> partial; RWStructuredBuffer<uint> result;
groupshared uint before;
[shader("compute")] [numthreads(8, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID)
{
    if (lane == 0)
    {
        partial[group.x] = group.x + 5;
        RELEASE
        InterlockedAdd(count[0], 1, before);
    }
    BARRIER();
    if (before != 3)
        return;
    DeviceMemoryBarrier();
    if (lane < 4)
        result[lane] = partial[lane];
}
"""
WRONG_MEMORY = "the barrier on line 12 orders shared memory, not buffers."
NO_RELEASE = "DeviceMemoryBarrier() is missing between the write on line 8 and the atomic on line 10."


@pytest.mark.parametrize(
    ("release", "barrier", "said"),
    [
        ("", "GroupMemoryBarrierWithGroupSync", [NO_RELEASE, WRONG_MEMORY]),
        ("", "AllMemoryBarrierWithGroupSync", [NO_RELEASE]),
        (FENCE, "AllMemoryBarrierWithGroupSync", []),
    ],
)
def test_a_race_between_workgroups_is_told_beside_one_that_a_barrier_would_mend(release, barrier, said):
    job = KernelJob(LAST.replace("RELEASE", release).replace("BARRIER", barrier), groups=(4, 1, 1), records=400_000)
    found = record_and_check(open_device(), job, between_groups=True, follow=True).findings
    assert sorted(finding.message.partition("the two: ")[2] for finding in found if finding.name == "partial") == said


TILES = """RWStructuredBuffer<uint> done; RWStructuredBuffer<uint> head;
groupshared uint tile;
[shader("compute")] [numthreads(32, 1, 1)]
void main(uint lane : SV_GroupIndex)
{
    for (uint turn = 0; turn < 4; turn++)
    {
        if (lane == 0)
            InterlockedAdd(head[0], 1, tile);
        GroupMemoryBarrierWithGroupSync();
        if (tile < 9)
            InterlockedAdd(done[tile], 1);
    }
}
"""


@pytest.mark.parametrize("fence", ["", "GroupMemoryBarrier();"])
def test_an_atomic_that_nobody_asks_and_one_of_the_same_thread_hand_nothing_over(fence):
    message = race_in(TILES.replace("done[tile], 1);", f"done[tile], 1); {fence}"))
    assert ": the barrier on line 10 does not come between them." in message


def test_races_that_one_barrier_would_mend_are_one_finding_unless_one_is_allowed():
    source = EXCHANGED.replace("tile[64];", "tile[64], other[64];").replace("] = lane;", "] = other[lane] = lane;")
    source = source.replace("MEMORY[63 - lane]", "MEMORY[63 - lane] + other[63 - lane]").replace("MEMORY", "tile")
    message = race_in(source.replace("BARRIER();", ""))
    assert message.endswith("the kernel has no barrier. For the same reason tile races on lines 6 and 8.")
    wrong = race_in(source.replace("BARRIER", "DeviceMemoryBarrierWithGroupSync"))
    assert wrong.endswith("line 7 orders buffers, not shared memory. For the same reason tile races on lines 6 and 8.")
    allowed = source.replace("BARRIER();", "").replace("= lane;", "= lane; // splatscope: allow race: in step")
    found = find(record(open_device(), KernelJob(allowed, records=400_000)).trace)
    assert sorted(finding.name for finding in found if finding.kind == "race") == ["other", "tile"]


def test_the_pair_that_is_shown_is_not_one_that_the_hand_over_orders():
    """The first thread of each group has its own fence, and what it wrote is visible to the first thread of the last group."""
    source = LAST.replace("    if (lane == 0)\n    {\n", "").replace("    }\n    BARRIER", "    BARRIER", 1)
    written = "partial[group.x * 8 + lane] = lane; GroupMemoryBarrierWithGroupSync();"
    source = source.replace("partial[group.x] = group.x + 5;", written).replace("if (lane < 4)", "")
    source = source.replace("RELEASE", "if (lane == 0) DeviceMemoryBarrier();").replace("Interlocked", "if (lane == 0) Interlocked")
    source = source.replace("partial[lane];", "partial[lane] + partial[lane + 8] + partial[lane + 16];")
    source = source.replace("BARRIER", "GroupMemoryBarrierWithGroupSync")
    job = KernelJob(source, groups=(4, 1, 1), all_groups=True, records=400_000)
    (race,) = races_between_groups(record(open_device(), job).trace)
    last = race.groups[1][0]  # the group that finished last reads what the first three wrote: of its own nothing races
    assert (race.count, race.threads[0] != 0) == (14 if last < 3 else 21, True)
    barrier = "the barrier on line 6, which orders shared memory, not buffers"
    assert race.message.endswith(f"DeviceMemoryBarrier() is missing between the write on line 6 and {barrier}.")


def test_a_fence_is_named_beside_atomics_that_nobody_asks():
    source = EXCHANGED.replace("BARRIER();", "AllMemoryBarrier(); InterlockedAdd(data[70], 1);").replace("MEMORY", "tile")
    assert "AllMemoryBarrier on line 7 orders each thread's own accesses" in race_in(source)


def test_a_group_that_reads_whatever_the_atomic_returned_races():
    source = HANDED_OVER.replace("FENCE", "DeviceMemoryBarrier();").replace("if (seen > 0)", "if (group.x > 60)")  # after the first
    recording = record(open_device(), KernelJob(source, groups=(64, 1, 1), all_groups=True, records=400_000))
    races = [finding for finding in races_between_groups(recording.trace) if finding.name == "data"]
    assert [race.message.partition("the two")[2] for race in races] == [
        ": no branch after flag on line 15 depends on what it returned."
    ]


READER = "#pragma once\nuint neighbour(uint lane)\n{\n    return tile[63 - lane];\n}\n"
ACROSS = """groupshared uint tile[64];
#include "reader.slangh"
RWStructuredBuffer<uint> output;
[shader("compute")] [numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex)
{
    tile[lane] = lane;
    output[lane] = neighbour(lane);
}
"""


def test_a_race_whose_accesses_stand_in_two_files_names_both(tmp_path):
    (tmp_path / "reader.slangh").write_text(READER)
    findings = find(record(open_device(), KernelJob(ACROSS, "k.slang", include=(tmp_path,), records=400_000)).trace)
    (race,) = [finding for finding in findings if finding.kind == "race"]
    assert sorted(race.places) == [("k.slang", 7), ("reader.slangh", 4)]
    assert "line 7 of k.slang" in race.message
    assert "line 4 of reader.slangh" in race.message
