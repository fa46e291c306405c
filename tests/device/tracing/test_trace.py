"""The table of events: order, epochs, file and export."""

import json
import math

import numpy as np
import pytest

from helpers.traces import with_header
from splatscope.gpu.device import open_device
from splatscope.tracing.checks import find
from splatscope.tracing.instrument.runtime import NO_SLOT
from splatscope.tracing.job import KernelJob
from splatscope.tracing.perfetto import perfetto
from splatscope.tracing.recording import record
from splatscope.tracing.trace import Trace

KERNEL = """
RWStructuredBuffer<float> output;
groupshared float tile[32];
groupshared Atomic<uint> total;

[shader("compute")]
[numthreads(32, 1, 1)]
void computeMain(uint lane : SV_GroupIndex, uint3 group : SV_GroupID)
{
    tile[lane] = float(lane) + group.x;
    if (lane == 0)
        total.store(0);
    AllMemoryBarrierWithGroupSync();
    for (uint stride = 16; stride > 0; stride /= 2)
    {
        if (lane < stride)
            tile[lane] += tile[lane + stride];
        GroupMemoryBarrierWithGroupSync();
    }
    total.add(lane);
    DeviceMemoryBarrierWithGroupSync();
    GroupMemoryBarrier();
    output[group.x * 32 + lane] = tile[0] / float(lane);
}
"""
LONG = """
RWStructuredBuffer<uint> output;
groupshared uint tile[8];

[shader("compute")]
[numthreads(8, 1, 1)]
void computeMain(uint lane : SV_GroupIndex)
{
    if (lane > 3)
        for (uint i = 0; i < 300 * lane; i++)
            output[lane] = i;
    tile[lane] = lane;
    GroupMemoryBarrierWithGroupSync();
    output[lane] = tile[7 - lane];
    GroupMemoryBarrierWithGroupSync();
    tile[lane] = 1;
}
"""
COLUMNS = ("thread", "site", "slot", "index", "words", "flags", "shared_epoch", "device_epoch")


@pytest.fixture(scope="module")
def trace() -> Trace:
    return record(open_device(), KernelJob(KERNEL, groups=(3, 1, 1), group=(1, 0, 0), records=100_000)).trace


def long_trace(records: int) -> Trace:
    return record(open_device(), KernelJob(LONG, records=records)).trace


def test_a_file_gives_back_every_bit(trace):
    again = Trace.load(trace.save())
    assert (again.info, again.verdict) == (trace.info, trace.verdict)
    assert again.sites == trace.sites
    for name in COLUMNS:
        mine, other = getattr(trace, name), getattr(again, name)
        assert mine.dtype == other.dtype
        assert np.array_equal(mine, other)
    assert np.array_equal(again.order, trace.order)


def test_a_damaged_file_is_refused_in_one_line(trace):
    data = trace.save()
    for damaged in (
        b"",
        b"PK",
        b"no recording",
        data[: len(data) // 2],
        data[:-30],
        b"\0" * 400,
        data[:200] + b"\xff" * 60 + data[260:],
    ):
        with pytest.raises(ValueError, match=r"^This is not a Splatscope recording of this version, or it is cut short\.$"):
            Trace.load(damaged)


def test_a_file_of_another_version_is_refused(trace):
    with pytest.raises(ValueError, match="version"):
        Trace.load(with_header(trace.save(), {"version": 99}))


def test_every_thread_is_there_in_its_program_order(trace):
    assert trace.info.threads == 32
    assert np.array_equal(np.unique(trace.thread), np.arange(32))
    assert (np.diff(trace.thread.astype(int)) >= 0).all()
    lines = [trace.sites[s].line for s in trace.site[trace.thread == 5]]
    assert lines[0] < lines[-1]
    assert next(trace.sites[s].kind for s in trace.site[trace.thread == 5]) == "call"
    assert [trace.sites[s].kind for s in trace.site[trace.thread == 5]][-1] == "return"


def test_order_keeps_slots_and_each_threads_own(trace):
    order = trace.order
    assert np.array_equal(np.sort(order), np.arange(len(trace)))
    slots = trace.slot[order]
    assert (np.diff(slots[slots != NO_SLOT].astype(np.int64)) > 0).all()
    for thread in range(32):
        assert (np.diff(order[trace.thread[order] == thread]) > 0).all()


def test_accesses_atomics_and_barriers_have_slots(trace):
    slotted = {site.kind for number, site in enumerate(trace.sites) if (trace.slot[trace.site == number] != NO_SLOT).any()}
    assert slotted == {"read", "write", "atomic", "arrive", "resume"}


def test_epochs_count_the_barriers_of_each_memory(trace):
    for thread in (0, 31):
        mine = np.flatnonzero(trace.thread == thread)
        assert trace.shared_epoch[mine[0]] == trace.device_epoch[mine[0]] == 0
        # One for all memory, five in the loop, one for the device; a barrier at which nobody waits counts nothing.
        assert trace.shared_epoch[mine[-1]] == 6
        assert trace.device_epoch[mine[-1]] == 2
        for epochs in (trace.shared_epoch[mine], trace.device_epoch[mine]):
            assert set(np.diff(epochs.astype(int)).tolist()) <= {0, 1}


def test_values_are_what_the_kernel_computed(trace):
    writes = [e for e in np.flatnonzero(trace.kinds == "write") if trace.sites[trace.site[e]].name == "tile"]
    first = {int(trace.thread[e]): trace.value(e) for e in reversed(writes)}
    assert first == {lane: [lane + 1.0] for lane in range(32)}
    added = [e for e in np.flatnonzero(trace.kinds == "atomic") if trace.sites[trace.site[e]].operation == "add"]
    assert sorted(trace.value(e)[0] for e in added)[-1] <= sum(range(32))


@pytest.mark.parametrize("records", [160, 200, 800, 3000])
def test_a_full_recording_says_so_and_accuses_nobody(records):
    """Threads 4 to 7 fill their part in the loop; what they do later is unknown, not missing."""
    trace = long_trace(records)
    assert trace.info.truncated
    assert set(trace.info.cut_threads) >= {4, 5, 6, 7}
    assert find(trace) == []
    assert len(trace) <= records


def test_a_full_recording_keeps_the_beginning():
    whole, part = long_trace(400_000), long_trace(3000)
    assert not whole.info.truncated
    for thread in range(8):
        few, all_of_it = part.site[part.thread == thread], whole.site[whole.thread == thread]
        assert len(few) > 10
        assert np.array_equal(few, all_of_it[: len(few)])


def test_an_endless_loop_is_found_though_its_record_is_full():
    source = LONG.replace("i < 300 * lane", "true")
    trace = record(open_device(), KernelJob(source, records=800, loop_budget=5000)).trace
    assert [(f.kind, f.lines) for f in find(trace)] == [("timeout", [10])]


def test_perfetto_has_a_process_a_group_and_a_track_a_thread(trace):
    exported = json.loads(perfetto(trace), parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    slices = [event for event in exported["traceEvents"] if event["ph"] == "X"]
    names = [event for event in exported["traceEvents"] if event["ph"] == "M"]
    assert len(slices) == len(trace)
    assert {event["pid"] for event in slices} == {1}
    assert [event["args"]["name"] for event in names] == ["workgroup 1, 0, 0"]
    assert [event["tid"] for event in slices] == trace.thread.tolist()
    assert sorted(event["ts"] for event in slices) == list(range(len(trace)))
    assert all(math.isfinite(event["ts"]) and event["dur"] == 1 for event in slices)
    assert any(event["args"]["value"] == ["inf"] for event in slices)  # lane 0 divides by zero


def test_all_groups_are_processes_of_their_own():
    trace = record(open_device(), KernelJob(KERNEL, groups=(3, 1, 1), records=100_000, all_groups=True)).trace
    assert trace.info.threads == 96
    group, lane = trace.group_and_lane
    assert np.array_equal(np.unique(group), [0, 1, 2])
    assert np.array_equal(np.unique(lane), np.arange(32))
    exported = json.loads(perfetto(trace))["traceEvents"]
    assert {(event["pid"], event["tid"]) for event in exported if event["ph"] == "X"} == {
        (g, t) for g in range(3) for t in range(32)
    }
