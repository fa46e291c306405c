"""Bugs as engineers write them, planted one at a time: found on the right line, with the cause in words; and not without them."""

import pytest

from splatscope.gpu.device import open_device
from splatscope.tracing.checks import Finding, find
from splatscope.tracing.job import KernelJob
from splatscope.tracing.recording import record

MATMUL = """StructuredBuffer<float> a, b; RWStructuredBuffer<float> c;
static const uint T = 4;
groupshared float As[T][T + PAD], Bs[T][T];
[shader("compute")] [numthreads(4, 4, 1)]
void main(uint3 t : SV_GroupThreadID)
{
    float sum = 0;
    for (uint tile = 0; tile < 2; tile++)
    {
        As[t.y][t.x] = a[t.y * 8 + tile * T + t.x];
        Bs[t.y][t.x] = b[(tile * T + t.y) * 4 + t.x];
        GroupMemoryBarrierWithGroupSync();
        for (uint k = 0; k < LAST; k++)
            sum += As[t.y][k] * Bs[k][t.x];
        END
    }
    c[t.y * 4 + t.x] = sum;
}
"""
STENCIL = """RWStructuredBuffer<float> data; RWStructuredBuffer<float> output; RWStructuredBuffer<uint> total;
[shader("compute")] [numthreads(8, 1, 1)]
void main(uint3 id : SV_DispatchThreadID)
{
    WRITTEN[id.x] = (data[max(id.x, 1) - 1] + data[id.x] + data[min(id.x + 1, 31)]) / 3;
    ADD
}
"""
LOOK_BACK = """globallycoherent RWStructuredBuffer<uint> flags; RWStructuredBuffer<uint> output;
[shader("compute")] [numthreads(8, 1, 1)]
void main(uint3 t : SV_GroupThreadID, uint3 group : SV_GroupID)
{
    uint seen = 0, old;
    if (t.x == 0 && group.x < 3)
        while (seen == 0)
            InterlockedAdd(flags[group.x + 1], 0, seen);
    output[group.x * 8 + t.x] = seen;
    if (t.x == 0)
        InterlockedExchange(flags[group.x], group.x + 1, old);
}
"""
LOCK = """RWStructuredBuffer<uint> lock; RWStructuredBuffer<uint> total;
[shader("compute")] [numthreads(8, 1, 1)]
void main(uint lane : SV_GroupIndex)
{
    uint old = 1;
    while (old != 0)
        TAKE
    total[0] += lane;
    InterlockedExchange(lock[0], 0, old);
}
"""
SIMPLE = """RWStructuredBuffer<uint> output; RWTexture2D<float> image; RWByteAddressBuffer bytes; StructuredBuffer<uint> counts;
groupshared uint tile[64];
[shader("compute")] [numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID)
{
    uint count = counts[group.x];
    BODY
}
"""


def matmul(pad: str = "0", last: str = "T", end: str = "GroupMemoryBarrierWithGroupSync();") -> str:
    return MATMUL.replace("PAD", pad).replace("LAST", last).replace("END", end)


def found_in(source: str, groups: int = 1, **more) -> list[Finding]:
    job = KernelJob(source, groups=(groups, 1, 1), all_groups=groups > 1, records=1_000_000, loop_budget=2000, **more)
    return find(record(open_device(), job).trace)


def simple(body: str) -> str:
    return SIMPLE.replace("BODY", body)


PLANTED = {  # by name: source, workgroups, and (kind, lines, what the message says) of the findings
    "a tile one step too long": (
        matmul(last="T + 1"),
        1,
        [
            ("out-of-bounds", [14], "reads Bs[4][0] on line 14"),
            ("out-of-bounds", [14], "behind a row of As on line 14, in As[1][0]"),
        ],
    ),
    "the last barrier of a tile is missing": (
        matmul(end=""),
        1,
        [("race", [10, 14], "For the same reason Bs races on lines 11 and 14.")],
    ),
    "a padding that nobody fills": (
        matmul(pad="1", last="T + 1").replace("Bs[k]", "Bs[min(k, 3)]"),
        1,
        [("uninitialised-read", [14], "reads As[0][4] on line 14")],
    ),
    "an early return before a barrier": (
        simple("if (lane >= 40) return; tile[lane] = lane; GroupMemoryBarrierWithGroupSync(); output[lane] = tile[lane];"),
        1,
        [("barrier-divergence", [7], "thread 40 ends without it (24 of 64 threads do)")],
    ),
    "a stencil in place": (
        STENCIL.replace("WRITTEN", "data").replace("ADD", ""),
        4,
        [("race", [5, 5], "data[")],
    ),
    "a total without an atomic": (
        STENCIL.replace("WRITTEN", "output").replace("ADD", "total[0] += 1;"),
        4,
        [("race", [6, 6], "total[0]")],
    ),
    "outside in the last group alone": (
        simple("output[group.x * 350 + lane] = count;"),
        4,
        [("out-of-bounds", [7], "which is outside: its size is 1,024.")],
    ),
    "a lock by compare-exchange": (
        LOCK.replace("TAKE", "InterlockedCompareExchange(lock[0], 0, 1, old);"),
        1,
        [("livelock", [7, 6], "waits in the loop on line 6 for lock[0] (looked at on line 7), which stays 1: thread 0 changed")],
    ),
    "a lock by exchange": (
        LOCK.replace("TAKE", "InterlockedExchange(lock[0], 1, old);"),
        1,
        [("livelock", [7, 6], "is in the same wave, which goes on only when all its lanes have left the loop")],
    ),
    "a group waits for one that comes later": (
        LOOK_BACK,
        4,
        [("livelock", [7], "Thread 0 of group 0 (thread 0 of all) waits in the loop on line 7 for flags[1]")],
    ),
    "a place is read where the next round already writes": (
        simple(
            "for (uint k = 0; k < 2; k++) { tile[lane] = k; GroupMemoryBarrierWithGroupSync();\noutput[tile[lane ^ 1]] = lane; }"
        ),
        1,
        [("race", [7, 8], "tile["), ("race", [8, 8], "This may follow from the race on tile.")],
    ),
    "an integer divided by zero": (
        simple("output[lane] = lane / count;"),
        1,
        [("integer-division-by-zero", [7], "divides on line 7 by count, which is 0")],
    ),
    "a count that wraps around": (
        simple("output[lane] = tile[0] = counts[count - 1];"),
        1,
        [("benign-race", [7, 7], "tile[0]"), ("out-of-bounds", [7], "wraps around, here to 4,294,967,295")],
    ),
    "ints beyond the largest": (
        simple("int big = 2147483600 + int(count); output[lane] = uint(max(0, big + int(lane)));"),
        1,
        [("integer-overflow", [7], "big + int(lane) on line 7, which is 2,147,483,600 + 48: an int cannot hold that")],
    ),
    "bytes between two words": (
        simple("output[lane] = bytes.Load(lane * 2);"),
        1,
        [("misaligned-access", [7], "reads bytes at byte 2 on line 7, which is not a multiple of 4")],
    ),
    "a shift by 32": (simple("output[lane] = 1u << lane;"), 1, [("shift-out-of-range", [7], "Thread 32 shifts by lane = 32")]),
    "a float below 0 becomes a uint": (
        simple("output[lane] = uint(10.0 - lane);"),
        1,
        [("conversion-out-of-range", [7], "Thread 11 converts -1 to uint on line 7")],
    ),
    "an idle lane is read": (
        simple("if (lane % 2 == 0) output[lane] = WaveReadLaneAt(lane, WaveGetLaneIndex() + 1);"),
        1,
        [("inactive-lane", [7], "reads lane 1 on line 7, which is not active there: only lanes 0, 2")],
    ),
    "a sum over a part of the wave": (
        simple("uint sum = 0; if (lane % 2 == 0) sum = WaveActiveSum(1u); output[lane] = sum;"),
        1,
        [("inactive-lane", [7], "gets WaveActiveSum of a part of its wave on line 7: only lanes 0, 2")],
    ),
    "not a number": (simple("float x = log(-1.0 - lane); output[lane] = asuint(x);"), 1, [("nan", [7], "x becomes NaN")]),
    "a texel below the image": (
        simple("image[uint2(lane % 32, 40)] = 1;"),
        1,
        [("out-of-bounds", [7], "writes image[0, 40] on line 7, which is outside of its 32 × 32 texels")],
    ),
    "bytes behind the buffer": (
        simple("bytes.Store(lane * 100, lane);"),
        1,
        [("out-of-bounds", [7], "writes bytes at byte 4,100 of 4,096 on line 7")],
    ),
}
SOUND = {
    "a tile": (matmul(), 1),
    "a stencil to another buffer": (STENCIL.replace("WRITTEN", "output").replace("ADD", "InterlockedAdd(total[0], 1);"), 4),
    "a group that waits for none": (LOOK_BACK.replace("group.x < 3", "group.x > 8"), 4),
    "guards": (
        simple(
            "if (count > 0) output[lane] = counts[count - 1] + lane / count; image[uint2(lane % 32, 2 * group.x + lane / 32)] = 1;"
        ),
        4,
    ),
    "a sum over the wave": (simple("output[lane] = WaveActiveSum(1u) + WaveReadLaneAt(lane, 0);"), 1),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_is_found(name):
    source, groups, expected = PLANTED[name]
    findings = found_in(source, groups)
    shown = [(finding.kind, finding.lines, finding.message) for finding in findings]
    assert [finding[0] for finding in sorted(shown)] == [kind for kind, *_ in expected], shown
    for (kind, lines, message), (_, expected_lines, words) in zip(sorted(shown), expected, strict=True):
        assert sorted(lines) == sorted(expected_lines), (kind, message)
        assert words in message, message


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_twin_of_a_planted_bug_has_no_findings(name):
    assert [finding.message for finding in found_in(*SOUND[name])] == []
