"""What may follow from another finding says so, and stands below it."""

import numpy as np
import pytest

from splatscope.gpu.device import open_device
from splatscope.tracing.checks import find
from splatscope.tracing.job import KernelJob
from splatscope.tracing.recording import record

KERNEL = """RWStructuredBuffer<uint> count; RWStructuredBuffer<uint> list; RWStructuredBuffer<int> output;
uniform uint zero;
[shader("compute")] [numthreads(16, 1, 1)]
void main(uint lane : SV_GroupIndex)
{
    BODY
}
"""
FILL = """groupshared float old[8192]; RWStructuredBuffer<float> left;
[shader("compute")] [numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex)
{
    for (uint i = lane; i < 8192; i += 64)
        old[i] = asfloat(0x7fc00000u);
    GroupMemoryBarrierWithGroupSync();
    left[lane] = old[lane * 7];
}
"""
UNORDERED = """groupshared float cells[1024]; RWStructuredBuffer<float> left;
[shader("compute")] [numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex)
{
    cells[lane] = 1.0;
    left[lane] = cells[(lane + 1) % 64];
}
"""
INDEX = "uint at = count[0]; count[0] = at + 1; uint slot = at * 1; list[slot] = lane;"
DIVIDED = "uint left = lane % zero; float far = float(left) * 4.0; output[lane] = int(far);"


@pytest.mark.parametrize(
    ("body", "kinds", "cause"),
    [
        (INDEX, ["race", "race"], "the race on count."),
        (DIVIDED, ["integer-division-by-zero", "conversion-out-of-range"], "the division by 0 on line 6."),
    ],
)
def test_what_may_follow_says_so_and_comes_last(body, kinds, cause):
    found = find(record(open_device(), KernelJob(KERNEL.replace("BODY", body), records=400_000)).trace)
    assert [finding.kind for finding in found] == kinds
    assert "may follow" not in found[0].message
    assert found[1].message.endswith(f"This may follow from {cause}")


CHAIN = """groupshared float sums[16]; RWStructuredBuffer<uint> list; RWStructuredBuffer<float> roots;
[shader("compute")] [numthreads(16, 1, 1)]
void main(uint lane : SV_GroupIndex)
{
    sums[lane] = 1.0 + lane;
    float next = sums[(lane + 1) % 16];
    float root = sqrt(ROOT - 100.0);
    roots[lane] = root;
    uint at = root < 4.0 ? lane : 5000 + lane;
    list[at] = lane;
}
"""
UNWRITTEN = """groupshared uint next[16]; RWStructuredBuffer<uint> list;
[shader("compute")] [numthreads(16, 1, 1)]
void main(uint lane : SV_GroupIndex)
{
    if (lane < 8)
        next[lane] = lane;
    GroupMemoryBarrierWithGroupSync();
    uint at = next[lane];
    list[lane < 8 ? at : 5000 + at] = lane;
}
"""


PASSED = """RWStructuredBuffer<uint> count; RWStructuredBuffer<uint> list; RWStructuredBuffer<uint> output;
void keep(uint at, uint number) { list[at] = number; }
[shader("compute")] [numthreads(16, 1, 1)]
void main(uint lane : SV_GroupIndex)
{
    uint before = count[0];
    count[0] = before + 1;
    keep(lane, before);
    output[lane] = 7 / lane;
}
"""


def test_what_is_passed_beside_a_faulty_value_does_not_follow_from_it():
    found = find(record(open_device(), KernelJob(PASSED, records=400_000)).trace)
    assert {finding.kind for finding in found} == {"race", "integer-division-by-zero"}
    assert not any("may follow" in finding.message for finding in found)


def test_a_race_the_nan_that_it_leads_to_and_the_index_made_from_it_are_told_as_one_chain():
    found = find(record(open_device(), KernelJob(CHAIN.replace("ROOT", "next"), records=400_000)).trace)
    assert [(finding.kind, finding.depth) for finding in found] == [("race", 0), ("nan", 1), ("out-of-bounds", 2)]
    assert found[1].message.endswith("This may follow from the race on sums.")
    assert found[2].message.endswith("This may follow from the value on line 7, which is not finite.")


def test_a_race_that_is_told_with_another_is_a_cause_too():
    source = """groupshared uint first; groupshared uint stop; RWStructuredBuffer<uint> list;
[shader("compute")] [numthreads(16, 1, 1)]
void main(uint lane : SV_GroupIndex)
{
    if (lane == 15)
    {
        first = 0;
        stop = 16;
    }
    uint from = stop - 16 + lane;
    list[from] = first;
}
"""
    found = find(record(open_device(), KernelJob(source, inputs={"list": np.zeros(16, np.uint32)})).trace)
    assert [(finding.kind, finding.name, finding.depth) for finding in found] == [
        ("race", "first", 0),
        ("out-of-bounds", "list", 1),
    ]
    assert "For the same reason stop races on lines 8 and 10." in found[0].message
    assert found[1].message.endswith("This may follow from the race on stop.")


def test_what_does_not_depend_on_a_race_is_not_in_its_chain():
    found = find(record(open_device(), KernelJob(CHAIN.replace("ROOT", "float(lane)"), records=400_000)).trace)
    assert [(finding.kind, finding.depth) for finding in found] == [("race", 0), ("nan", 0), ("out-of-bounds", 1)]
    assert "may follow" not in found[1].message


def test_an_index_that_was_never_written_leads_out_of_bounds():
    found = find(record(open_device(), KernelJob(UNWRITTEN, records=400_000)).trace)
    assert [(finding.kind, finding.depth) for finding in found] == [("uninitialised-read", 0), ("out-of-bounds", 1)]
    assert found[1].message.endswith("This may follow from the read of next before any write.")


def test_a_race_of_its_own_follows_from_none():
    body = "uint at = count[0]; count[0] = at + 1; list[lane / 2] = lane;"
    found = find(record(open_device(), KernelJob(KERNEL.replace("BODY", body), records=400_000)).trace)
    assert [finding.kind for finding in found] == ["race", "race"]
    assert not any("may follow" in finding.message for finding in found)


def test_an_access_out_of_bounds_comes_before_others_on_its_line():
    body = "list[lane < 15 ? lane / 2 : 5000] = lane;"
    job = KernelJob(KERNEL.replace("BODY", body), records=400_000)
    assert [finding.kind for finding in find(record(open_device(), job).trace)] == ["out-of-bounds", "race"]


def test_a_nan_that_an_earlier_kernel_left_is_told_as_the_race_that_read_it():
    for _ in range(3):
        record(open_device(), KernelJob(FILL, groups=(4, 1, 1), inputs={"left": np.zeros(64, np.float32)}))
        trace = record(open_device(), KernelJob(UNORDERED)).trace
        assert [finding.kind for finding in find(trace)] == ["race"]
        reads = np.flatnonzero(trace.at(lambda site: site.kind == "read" and site.name == "cells"))
        if any(np.isnan(trace.value(event)).any() for event in reads.tolist()):
            return
    pytest.skip("This device clears shared memory.")


BOUNDED = """groupshared uint n; groupshared uint tile[64]; RWStructuredBuffer<uint> left;
[shader("compute")] [numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex)
{
    tile[lane] = lane;
    n = lane + 60;
    GroupMemoryBarrierWithGroupSync();
    uint sum = 0, end = n;
    for (uint k = 0; k < END; k++)
        sum += tile[k];
    left[lane] = sum;
}
"""


@pytest.mark.parametrize("end", ["n", "end"])
def test_what_a_loop_does_follows_from_a_race_on_its_bound(end):
    race, outside = find(record(open_device(), KernelJob(BOUNDED.replace("END", end), records=400_000)).trace)
    assert (race.kind, race.name, outside.kind, outside.depth) == ("race", "n", "out-of-bounds", 1)
    assert outside.message.endswith("This may follow from the race on n.")
    fixed = BOUNDED.replace("END", end).replace("n = lane + 60;", "if (lane == 0) n = 70;")
    (outside,) = find(record(open_device(), KernelJob(fixed, records=400_000)).trace)
    assert (outside.kind, outside.depth) == ("out-of-bounds", 0)


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("uint end; uint i = 1; while (i != end) i += 2;", "end"),
        ("uint end; end |= 1; uint last = end; for (uint i = 0; i != last; i += 2) {}", "end"),
        ("uint end; uint i = 1; for (;;) { if (i == end) break; i += 2; }", "end"),
        ("Limit limit; limit.step = 2; uint i = 1; while (true) { if (lane < 16) { if (i == limit.end) return; } i += 2; }",
         "limit"),
    ],
)  # fmt: skip
def test_a_loop_without_end_follows_from_its_bound(body, name):
    source = KERNEL.replace("BODY", body).replace("uniform", "struct Limit { uint end; uint step; }; uniform")
    found = find(record(open_device(), KernelJob(source, records=400_000, loop_budget=1000)).trace)
    assert [(finding.kind, finding.depth) for finding in found] == [("uninitialised-read", 0), ("timeout", 1)]
    assert found[1].message.endswith(f" This may follow from the read of {name} before any write.")


def test_a_loop_without_end_does_not_follow_from_what_does_not_bound_it():
    body = "uint sum; sum += lane; uint i = 1; for (;;) { if (i == zero) break; i += 2; } output[lane] = int(sum);"
    found = find(record(open_device(), KernelJob(KERNEL.replace("BODY", body), records=400_000, loop_budget=1000)).trace)
    assert [(finding.kind, finding.depth) for finding in found] == [("uninitialised-read", 0), ("timeout", 0)]


OVERWRITTEN = """RWStructuredBuffer<float> left; groupshared float cells[16];
[shader("compute")] [numthreads(16, 1, 1)]
void main(uint lane : SV_GroupIndex)
{
    left[lane] = sqrt(float(lane) - 4.0);
    cells[lane] = float(lane);
    left[lane] += cells[15 - lane];
}
"""


def test_a_value_does_not_follow_from_what_is_later_added_to_it():
    found = find(record(open_device(), KernelJob(OVERWRITTEN, records=400_000)).trace)
    assert {(finding.kind, finding.name, finding.depth) for finding in found} == {("race", "cells", 0), ("nan", "left", 0)}
