"""A recording of all workgroups shows every kind of finding, wherever it is: the one bad group and its thread are named."""

import pytest

from splatscope.api.recording import Recording
from splatscope.gpu.device import open_device
from splatscope.tracing.checks import Finding, find
from splatscope.tracing.job import KernelJob
from splatscope.tracing.record_and_check import record_and_check
from splatscope.tracing.recording import record

HEAD = """RWStructuredBuffer<float> output; RWStructuredBuffer<uint> counts; RWTexture2D<float> image;
groupshared float tile[8]; groupshared Atomic<uint> lock;
[shader("compute")] [numthreads(8, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID)
{
    bool isBad = group.x == 2;
    tile[lane] = lane;
    if (lane == 0) lock.store(isBad ? 1 : 0);
    GroupMemoryBarrierWithGroupSync();
    uint at = group.x * 8 + lane;
"""
FAULTS = {  # by kind of finding: the statement on line 11, and the first thread that does it
    "out-of-bounds": ("output[isBad ? at + 4000 : at] = 1;", 0),
    "nan": ("output[at] = sqrt(isBad ? -1.0 - lane : 1.0);", 0),
    "race": ("tile[isBad ? 0 : lane] = lane; output[at] = tile[lane];", 0),
    "barrier-divergence": ("if (isBad && lane == 3) return; GroupMemoryBarrierWithGroupSync(); output[at] = 1;", 0),
    "integer-division-by-zero": ("counts[at] = 8 / (isBad ? lane : 1);", 0),
    "shift-out-of-range": ("counts[at] = 1u << (isBad ? lane * 8 : 3);", 4),
    "conversion-out-of-range": ("counts[at] = uint(isBad ? 3.0 - lane : 1.0);", 4),
    "inactive-lane": ("if (!isBad || lane % 2 == 0) output[at] = WaveReadLaneAt(lane, WaveGetLaneIndex() ^ 1);", 0),
    "assertion": ("assert(!isBad || lane < 5);", 5),
    "livelock": ("if (lane == 6) while (lock.compareExchange(0, 1) != 0) {}", 6),
    "timeout": ("uint n = 1; if (lane == 6) while (n != 0) n = isBad ? n + 2 : 0;", 6),
}


def found_in(body: str, bad: int = 2) -> list[Finding]:
    source = f"{HEAD}    {body}\n}}\n".replace("group.x == 2", f"group.x == {bad}")
    job = KernelJob(source, groups=(4, 1, 1), all_groups=True, loop_budget=2000)
    return find(record(open_device(), job).trace)


@pytest.mark.parametrize("kind", FAULTS)
def test_the_one_bad_group_is_named(kind):
    body, lane = FAULTS[kind]
    (finding,) = found_in(body)
    assert (finding.kind, finding.lines[-1]) == (kind, 11), finding.message
    assert set(finding.groups) == {(2, 0, 0)}
    assert lane in finding.threads, finding.message
    assert "of group 2 (thread " in finding.message


@pytest.mark.parametrize("kind", FAULTS)
def test_without_a_bad_group_nothing_is_found(kind):
    assert found_in(FAULTS[kind][0], bad=9) == []


def test_shared_memory_that_one_group_has_not_written():
    source = """RWStructuredBuffer<float> output;
groupshared float tile[8];
[shader("compute")] [numthreads(8, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID)
{
    if (group.x != 1)
        tile[lane] = lane;
    GroupMemoryBarrierWithGroupSync();
    output[group.x * 8 + lane] = tile[lane];
}
"""
    (finding,) = find(record(open_device(), KernelJob(source, groups=(3, 1, 1), all_groups=True)).trace)
    assert finding.kind == "uninitialised-read"
    assert finding.message == "Thread 0 of group 1 (thread 8 of all) reads tile[0] on line 9, which no thread has written yet."


def test_groups_that_pass_barriers_differently_do_not_diverge():
    body = "for (uint i = 0; i < group.x; i++) { GroupMemoryBarrierWithGroupSync(); } output[at] = 1;"
    assert found_in(body) == []


def test_each_group_has_its_own_device_epochs():
    """A group may pass more barriers than another before both touch a cell: still nothing orders them."""
    body = "for (uint i = 0; i < group.x; i++) { DeviceMemoryBarrierWithGroupSync(); } output[0] = at;"
    kinds = {finding.kind for finding in found_in(body)}
    assert kinds == {"race"}


def test_a_race_within_groups_and_between_them_is_told_once():
    (finding,) = found_in("output[0] += 1;")
    assert finding.kind == "race"
    assert finding.count > 1


def test_many_groups_are_checked_in_reasonable_room():
    job = KernelJob(f"{HEAD}    output[at & 511] = 1;\n}}\n", groups=(512, 1, 1), all_groups=True)
    assert {finding.kind for finding in find(record(open_device(), job).trace)} <= {"benign-race"}


@pytest.mark.parametrize("follow", [False, True])
@pytest.mark.parametrize(("at", "is_run"), [("lane", True), ("isBad ? lane + 40 : lane", False)])
def test_the_plain_kernel_runs_only_if_no_workgroup_writes_outside(at, is_run, follow):
    """The recorded kernel keeps such a write inside; the plain one would write over whatever lies behind shared memory."""
    body = f"tile[{at}] = 1; GroupMemoryBarrierWithGroupSync(); output[at] = tile[lane];"
    job = KernelJob(f"{HEAD}    {body}\n}}\n", groups=(4, 1, 1), records=100_000)
    checked = Recording(record_and_check(open_device(), job, between_groups=True, follow=follow))
    assert [finding.kind for finding in checked.findings if finding.kind != "race"] == ([] if is_run else ["out-of-bounds"])
    assert checked.recorded.same_as_plain is (True if is_run else None)


def test_a_lock_that_its_own_wave_waits_for_is_told_alike_in_every_run():
    source = """RWStructuredBuffer<uint> lock; RWStructuredBuffer<uint> sum;
[shader("compute")] [numthreads(32, 1, 1)]
void main()
{
    uint old = 1;
    while (old != 0) InterlockedCompareExchange(lock[0], 0, 1, old);
    sum[0] += 1;
    InterlockedExchange(lock[0], 0, old);
}
"""
    job = KernelJob(source, groups=(4, 1, 1))
    recordings = [Recording(record_and_check(open_device(), job, between_groups=True, follow=True)) for _ in range(2)]
    (first,), (second,) = (recording.findings for recording in recordings)
    assert (first.kind, first.message, first.count) == ("livelock", second.message, second.count)
    assert first.message.endswith("is in the same wave, which goes on only when all its lanes have left the loop.")
