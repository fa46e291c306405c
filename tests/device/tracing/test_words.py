"""What findings say: the group, the cell, the count, and whether a value was given."""

import numpy as np
import pytest

from splatscope.gpu.device import open_device
from splatscope.tracing.checks import Finding, find
from splatscope.tracing.job import KernelJob
from splatscope.tracing.recording import record

KERNEL = """RWStructuredBuffer<uint> x; RWStructuredBuffer<float> y; StructuredBuffer<float> given;
[shader("compute")] [numthreads(64, 1, 1)]
void t(uniform float a, uint l : SV_GroupIndex, uint3 group : SV_GroupID)
{
BODY
}
"""
NAN = np.full(64, np.nan, np.float32)


def found(body: str, **more) -> Finding:
    (finding,) = find(record(open_device(), KernelJob(KERNEL.replace("BODY", body), records=100_000, **more)).trace)
    return finding


def test_a_race_is_counted_by_the_cells_that_it_is_on():
    assert found("x[0] += l;").count == 1
    assert found("x[l / 16] += l;").count == 4


def test_what_is_not_finite_is_counted_where_it_arises():
    assert found("float inv = 1.0 / float(l % 4);\nfor (int i = 0; i < 3; i++) { float z = inv + i; y[l] += z; }").count == 16


def test_a_thread_of_another_group_than_the_first_is_named_with_it():
    outside = "if (group.x == 1 && l == 8) x[4096] = l;"
    assert found(outside, groups=(2, 1, 1), group=(1, 0, 0)).message.startswith(
        "Thread 8 of group 1 (thread 72 of all) writes x[4096]"
    )
    assert found("if (l == 8) x[4096] = l;", groups=(2, 1, 1)).message.startswith("Thread 8 writes x[4096]")
    in_a_plane = found("if (group.y == 1 && l == 8) x[4096] = l;", groups=(1, 2, 1), group=(0, 1, 0)).message
    assert in_a_plane.startswith("Thread 8 of group 0,1,0 writes x[4096]")


def test_an_atomic_access_is_told_in_order():
    message = found("uint o; if (l == 1) InterlockedAdd(x[0], 1, o); else if (l == 0) x[0] = 2;").message
    assert "changes x[0] atomically on line 5" in message or "changes it atomically on line 5" in message


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("y[l] = given[l];", "given[0] is NaN in thread 0 on line 5, as it was given."),
        ("if (l == 7) y[3] = log(-1.0 - l);", "y[3] becomes NaN in thread 7 on line 5."),
        ("float b = log(-1.0 - l); y[l] = b;", "b becomes NaN in thread 0 on line 5."),
    ],
)
def test_a_nan_is_told_with_its_cell_and_whether_it_was_given(body, message):
    assert found(body, inputs={"given": NAN}).message == message


def test_a_uniform_that_is_not_a_number_was_given_so():
    assert found("y[l] = a;", inputs={"a": NAN[:1]}).message == "a is NaN in thread 0 on line 4, as it was given."


SHARED = """groupshared uint bins[64]; groupshared uint rest[64]; RWStructuredBuffer<uint> x;
[shader("compute")] [numthreads(64, 1, 1)]
void t(uint l : SV_GroupIndex)
{
    if (l < 32) bins[l] = 0;
    GroupMemoryBarrierWithGroupSync();
    InterlockedAdd(bins[l], 1);
    InterlockedAdd(bins[63 - l], 1);
    InterlockedAdd(bins[l ^ 1], 1);
    GroupMemoryBarrierWithGroupSync();
    x[l] = bins[l]LAST;
}
"""


def test_reads_of_a_shared_array_that_nobody_wrote_are_one_finding_that_names_their_lines():
    device = open_device()
    (bins,) = find(record(device, KernelJob(SHARED.replace("LAST", ""), records=100_000)).trace)
    assert (bins.kind, bins.name, len(bins.lines)) == ("uninitialised-read", "bins", 1)
    named = {7, 8, 9} - set(bins.lines)
    assert bins.message.endswith(f" So do reads on lines {', '.join(map(str, sorted(named)))}.")
    two = find(record(device, KernelJob(SHARED.replace("LAST", " + rest[l]"), records=100_000)).trace)
    assert sorted(finding.name for finding in two) == ["bins", "rest"]
