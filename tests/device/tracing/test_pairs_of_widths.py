"""Twenty kernels that are wrong on some wave width, and as many right twins: the first are found, the others are clean."""

import pytest

from splatscope import record

HEAD = """
groupshared uint cells[64];
groupshared uint total;
RWStructuredBuffer<uint> output;

[shader("compute")]
[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex)
{
    if (lane == 0)
        total = 0;
    GroupMemoryBarrierWithGroupSync();
"""
# By name: what both begin with, the wrong rest, the right one.
PAIRS = {
    "the leader of eight": (
        "uint sum = WaveActiveSum(lane);",
        "if (lane % 8 == 0) InterlockedAdd(output[0], sum);",
        "if (WaveIsFirstLane()) InterlockedAdd(output[0], sum);",
    ),
    "sums in rows of eight": (
        "uint sum = WaveActiveSum(lane);",
        "if (WaveIsFirstLane()) output[lane / 8] = sum;",
        "if (WaveIsFirstLane()) InterlockedAdd(output[0], sum);",
    ),
    "a first wave that scans the sums of all": (
        "uint waves = 64 / WaveGetLaneCount(); uint sum = WaveActiveSum(lane);"
        "if (WaveIsFirstLane()) cells[lane / WaveGetLaneCount()] = sum; GroupMemoryBarrierWithGroupSync();",
        "uint before = WavePrefixSum(lane < waves ? cells[min(lane, 63)] : 0);"
        "if (lane == waves - 1) output[0] = before + cells[lane];",
        "if (lane == 0) { uint all = 0; for (uint i = 0; i < waves; i++) all += cells[i]; output[0] = all; }",
    ),
    "a bit of the ballot by the thread's number": (
        "uint4 odd = WaveActiveBallot((lane & 1) != 0 || lane == 5);",
        "output[lane] = odd.x >> (lane & 7) & 1;",
        "output[lane] = odd.x >> WaveGetLaneIndex() & 1;",
    ),
    "the first lane's number taken for the group's": (
        "cells[lane] = lane; GroupMemoryBarrierWithGroupSync();",
        "output[lane] = WaveReadLaneFirst(cells[lane]);",
        "output[lane] = WaveReadLaneFirst(cells[0]);",
    ),
    "a tree that leaves eight sums to a wave": (
        "cells[lane] = lane * 3; GroupMemoryBarrierWithGroupSync(); for (uint step = 32; step >= 8; step /= 2)"
        "{ if (lane < step) cells[lane] += cells[lane + step]; GroupMemoryBarrierWithGroupSync(); }",
        "if (lane < 8) { uint sum = WaveActiveSum(cells[lane]); if (lane == 0) output[0] = sum; }",
        "if (lane < 8) { uint sum = WaveActiveSum(cells[lane]); if (WaveIsFirstLane()) InterlockedAdd(output[0], sum); }",
    ),
    "whether all are equal": (
        "uint block = lane / 8;",
        "output[lane] = WaveActiveAllEqual(block) ? 1 : 0;",
        "output[lane] = WaveActiveAllEqual(block / 8) ? 1 : 0;",
    ),
    "a count that one of eight adds": (
        "uint count = WaveActiveCountBits(lane % 3 == 0);",
        "if ((lane & 7) == 0) InterlockedAdd(total, count); GroupMemoryBarrierWithGroupSync(); if (lane == 0) output[0] = total;",
        "if (WaveIsFirstLane()) InterlockedAdd(total, count); GroupMemoryBarrierWithGroupSync(); if (lane == 0) output[0] = total;",
    ),
    "the neighbour in a row of eight": (
        "cells[lane] = lane * lane; GroupMemoryBarrierWithGroupSync(); uint before = 0;",
        "before = WaveReadLaneAt(cells[lane], max(WaveGetLaneIndex(), 1) - 1); output[lane] = lane % 8 == 0 ? 0 : before;",
        "before = cells[max(lane, 1) - 1]; output[lane] = lane % 8 == 0 ? 0 : WaveReadLaneAt(before, WaveGetLaneIndex());",
    ),
    "a vote of one wave": (
        "bool asks = lane == 5;",
        "output[lane] = WaveActiveAnyTrue(asks) ? 1 : 0;",
        "if (WaveActiveAnyTrue(asks) && WaveIsFirstLane()) InterlockedOr(total, 1); GroupMemoryBarrierWithGroupSync();"
        "output[lane] = total;",
    ),
    "the smallest of the first wave": (
        "uint least = WaveActiveMin(100 - lane);",
        "if (lane == 0) output[0] = least;",
        "if (WaveIsFirstLane()) InterlockedMax(output[0], 200 - least);",
    ),
    "places in blocks of eight": (
        "bool keeps = (lane & 1) != 0; uint place = WavePrefixCountBits(keeps);",
        "if (keeps) cells[lane / 8 * 4 + place] = lane;"
        "GroupMemoryBarrierWithGroupSync(); if (lane < 32) output[lane] = cells[lane];",
        "if (keeps) cells[lane / WaveGetLaneCount() * (WaveGetLaneCount() / 2) + place] = lane;"
        "GroupMemoryBarrierWithGroupSync(); if (lane < 32) output[lane] = cells[lane];",
    ),
    "an exchange with the lane four away": (
        "uint square = lane * lane;",
        "output[lane] = square + WaveReadLaneAt(square, WaveGetLaneIndex() ^ 4);",
        "output[lane] = square + WaveReadLaneAt(square, WaveGetLaneIndex() ^ 2);",
    ),
    "eight rotations": (
        "uint sum = 0;",
        "for (uint i = 0; i < 8; i++) sum += WaveReadLaneAt(lane, (WaveGetLaneIndex() + i) % 8);"
        "if (WaveIsFirstLane()) InterlockedAdd(output[0], sum);",
        "for (uint i = 0; i < WaveGetLaneCount(); i++) sum += WaveReadLaneAt(lane, (WaveGetLaneIndex() + i) % WaveGetLaneCount());"
        "if (WaveIsFirstLane()) InterlockedAdd(output[0], sum);",
    ),
    "a row for each wave": (
        "uint wave = lane / WaveGetLaneCount();",
        "output[lane] = wave;",
        "output[lane] = wave * WaveGetLaneCount() + WaveGetLaneIndex();",
    ),
    "a full wave has eight": (
        "uint active = countbits(WaveActiveBallot(true).x);",
        "output[lane] = active == 8 ? 1 : 0;",
        "output[lane] = active == WaveGetLaneCount() ? 1 : 0;",
    ),
    "the last of eight lanes": (
        "uint sum = WavePrefixSum(lane) + lane;",
        "uint whole = WaveReadLaneAt(sum, min(7, WaveGetLaneCount() - 1));if (WaveIsFirstLane()) InterlockedAdd(output[0], whole);",
        "uint whole = WaveReadLaneAt(sum, WaveGetLaneCount() - 1); if (WaveIsFirstLane()) InterlockedAdd(output[0], whole);",
    ),
    "a sum in a branch": (
        "",
        "if (lane < 6) { uint sum = WaveActiveSum(lane); if (lane == 0) output[0] = sum; }",
        "if (lane < 6) { uint sum = WaveActiveSum(lane); if (WaveIsFirstLane()) InterlockedAdd(output[0], sum); }",
    ),
    "a prefix that ends with its wave": (
        "uint before = WavePrefixSum(lane);",
        "output[lane] = before;",
        "uint sum = WaveActiveSum(lane); if (WaveIsFirstLane()) cells[lane / WaveGetLaneCount()] = sum;"
        "GroupMemoryBarrierWithGroupSync(); uint base = 0;"
        "for (uint i = 0; i < lane / WaveGetLaneCount(); i++) base += cells[i]; output[lane] = base + before;",
    ),
    "one element for each wave that is counted": (
        "",
        "if (WaveIsFirstLane()) InterlockedAdd(output[0], 1);",
        "if (WaveIsFirstLane()) InterlockedAdd(output[0], WaveGetLaneCount());",
    ),
}


def kernel(name: str, which: int) -> str:
    start, *rests = PAIRS[name]
    return f"{HEAD}    {start}\n    {rests[which]}\n}}\n"


@pytest.mark.parametrize("name", PAIRS)
def test_a_result_that_hangs_on_the_width_is_found(name):
    assert {finding.kind for finding in record(source=kernel(name, 0), timeout=120).findings} >= {"wave-width"}


@pytest.mark.parametrize("name", PAIRS)
def test_a_result_that_does_not_is_clean(name):
    record(source=kernel(name, 1), timeout=120).assert_clean()
