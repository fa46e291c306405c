"""Which accesses a hand-over orders, where the device numbered its two atomics the wrong way round."""

import numpy as np
import pytest

from helpers.traces import run_info
from splatscope.tracing.checks import races_between_groups
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace

SOURCE = """globallycoherent RWStructuredBuffer<uint> m; globallycoherent RWStructuredBuffer<uint> flag;
void main()
{
    InterlockedCompareExchange(flag[0], 0, 1, seen);
    if (seen == 0)
    {
        DeviceMemoryBarrier();
        m[0] = m[0] + 1;
        DeviceMemoryBarrier();
        InterlockedExchange(flag[0], 0, old);
    }
}
"""
SITES = [
    Site("k.slang", line, column, kind, name, "main", "uint", "", space, (), kind == "atomic", access)
    for line, column, kind, name, space, access in (
        (4, 5, "atomic", "flag", "device", "InterlockedCompareExchange"),
        (5, 9, "branch", "", "", ""),
        (7, 9, "resume", "DeviceMemoryBarrier", "device", ""),
        (8, 16, "read", "m", "device", ""),
        (8, 9, "write", "m", "device", ""),
        (9, 9, "resume", "DeviceMemoryBarrier", "device", ""),
        (10, 9, "atomic", "flag", "device", "InterlockedExchange"),
    )
]
LOCK, ASK, FENCE, READ, WRITE, LAST_FENCE, UNLOCK = range(len(SITES))


def lock(second_locks_at: int) -> Trace:
    """Return a trace of two workgroups of one thread that take a lock, in the order of the slots 0, 2, 4, …

    The first thread gives it back at slot 10, with what it did before at slot 8; the second takes it at the given slot.
    """
    steps = (LOCK, ASK, FENCE, READ, WRITE, LAST_FENCE, UNLOCK)
    first = {LOCK: 0, FENCE: 2, READ: 4, WRITE: 6, LAST_FENCE: 8, UNLOCK: 10}
    second = {LOCK: second_locks_at, FENCE: 12, READ: 14, WRITE: 16, LAST_FENCE: 18, UNLOCK: 20}
    slots = [given.get(step, 0xFFFFFFFF) for given in (first, second) for step in steps]
    words = np.zeros((len(slots), 3), np.uint32)
    info = run_info(SOURCE, group_size=(1, 1, 1), groups=(2, 1, 1), threads=2, all_groups=True)
    thread = np.repeat(np.arange(2, dtype=np.uint32), len(steps))
    zeros = np.zeros(len(slots), np.uint32)
    return Trace(info, SITES, thread, np.tile(np.array(steps, np.uint32), 2), np.array(slots, np.uint32), zeros, words, zeros)


@pytest.mark.parametrize(("slot", "races"), [(11, False), (9, False), (7, True), (5, True)])
def test_an_atomic_may_be_numbered_late(slot, races):
    """It was done at some time after what its thread recorded before it, at slot 8."""
    assert bool(races_between_groups(lock(slot))) == races


SPIN = """globallycoherent RWStructuredBuffer<uint> m; globallycoherent RWStructuredBuffer<uint> flag;
void main(uint3 group : SV_GroupID)
{
    if (group.x == 0)
    {
        m[0] = 7;
        DeviceMemoryBarrier();
        InterlockedExchange(flag[0], 1, was);
        return;
    }
    do
    {
        InterlockedOr(flag[0], 0, seen);
    } while (seen == 0);
    DeviceMemoryBarrier();
    got[0] = m[0];
}
"""


def spin(source: str) -> Trace:
    """Return a trace of two workgroups of one thread: the first hands a value over, which the second finds in its first turn."""
    parts = (
        (6, 9, "write", "m", "device", "", 0),
        (7, 9, "resume", "DeviceMemoryBarrier", "device", "", 1),
        (8, 9, "atomic", "flag", "device", "InterlockedExchange", 2),
        (11, 5, "loop", "", "", "", 0xFFFFFFFF),
        (13, 9, "atomic", "flag", "device", "InterlockedOr", 3),
        (15, 5, "resume", "DeviceMemoryBarrier", "device", "", 4),
        (16, 14, "read", "m", "device", "", 5),
    )
    sites = [
        Site("k.slang", line, column, kind, name, "main", "uint", "", space, (), kind == "atomic", access)
        for line, column, kind, name, space, access, _ in parts
    ]
    info = run_info(source, group_size=(1, 1, 1), groups=(2, 1, 1), threads=2, all_groups=True)
    thread, slot = np.array([0, 0, 0, 1, 1, 1, 1], np.uint32), np.array([part[-1] for part in parts], np.uint32)
    zeros, words = np.zeros(len(parts), np.uint32), np.zeros((len(parts), 3), np.uint32)
    return Trace(info, sites, thread, np.arange(len(parts), dtype=np.uint32), slot, zeros, words, zeros)


@pytest.mark.parametrize(
    ("condition", "races"),
    [("seen == 0", False), ("!was(seen)", False), ("false", True)],
)
def test_the_condition_at_the_end_of_a_loop_decides(condition, races):
    assert bool(races_between_groups(spin(SPIN.replace("seen == 0", condition)))) == races


LEFT = """globallycoherent RWStructuredBuffer<uint> m; globallycoherent RWStructuredBuffer<uint> flag;
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID)
{
    if (group.x == 0)
    {
        if (lane == 0) { m[0] = 7; return; }
        GroupMemoryBarrierWithGroupSync();
        InterlockedExchange(flag[0], 1, was);
        return;
    }
    InterlockedOr(flag[0], 0, seen);
    DeviceMemoryBarrier();
    if (seen == 1)
        got[0] = m[0];
    last[0] = 5;
}
"""


def test_the_gap_behind_a_write_ends_at_the_release_if_its_thread_never_reaches_the_barrier():
    """Of two workgroups of two threads, thread 0 writes and returns, thread 1 releases, and the others acquire."""
    parts = (
        (0, 6, 26, "write", "m", "device", "", 0),
        (1, 7, 9, "resume", "GroupMemoryBarrierWithGroupSync", "shared", "", 1),
        (1, 8, 9, "atomic", "flag", "device", "InterlockedExchange", 2),
        (2, 11, 5, "atomic", "flag", "device", "InterlockedOr", 3),
        (2, 12, 5, "resume", "DeviceMemoryBarrier", "device", "", 4),
        (2, 13, 9, "branch", "", "", "", 0xFFFFFFFF),
        (2, 14, 18, "read", "m", "device", "", 5),
        (3, 15, 5, "write", "last", "device", "", 6),
    )
    sites = [
        Site("k.slang", line, column, kind, name, "main", "uint", "", space, (), kind == "atomic", access)
        for _, line, column, kind, name, space, access, _ in parts
    ]
    info = run_info(LEFT, group_size=(2, 1, 1), groups=(2, 1, 1), threads=4, all_groups=True)
    thread, slot = (np.array([part[at] for part in parts], np.uint32) for at in (0, -1))
    zeros, words = np.zeros(len(parts), np.uint32), np.zeros((len(parts), 3), np.uint32)
    trace = Trace(info, sites, thread, np.arange(len(parts), dtype=np.uint32), slot, zeros, words, zeros)
    (race,) = races_between_groups(trace)
    assert race.message.endswith("DeviceMemoryBarrier() is missing between the write on line 6 and the atomic on line 8.")
