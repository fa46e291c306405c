"""Results over waves are named of which only those of some waves are used: the kernel is made for wider ones."""

import numpy as np
import pytest

from splatscope.gpu.device import adapter_of, open_device
from splatscope.tracing.checks.analysis.partial_results import partly_used
from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.job import KernelJob
from splatscope.tracing.record_and_check import record_and_check
from splatscope.tracing.recording import record

KERNEL = """RWStructuredBuffer<uint> data; StructuredBuffer<uint> given;
groupshared uint s[64]; groupshared uint flag; uniform uint last;
[shader("compute")] [numthreads(64, 1, 1)]
void t(uint l : SV_GroupIndex, uint3 id : SV_DispatchThreadID, uint3 g : SV_GroupID)
{
    BODY
}
"""
GIVEN = np.where(np.arange(64) < 20, np.arange(64) % 7, 0).astype(np.uint32)  # the later waves have nothing but zeros

PARTLY_USED = {
    "any": "bool any = WaveActiveAnyTrue(given[l] > 3); if (l == 0) data[0] = any;",
    "all ternary": "bool all = WaveActiveAllTrue(given[l] > 3); if (l == 0) data[0] = all ? 1 : 2;",
    "count": "uint n = WaveActiveCountBits(given[l] > 3); if (l == 63) data[0] = n;",
    "ballot": "uint4 b = WaveActiveBallot(given[l] > 3); if (l == 0) data[0] = b.x;",
    "ballot counted": "uint n = countbits(WaveActiveBallot(given[l] > 3).x); if (l == 0) data[0] = n;",
    "prefix": "uint p = WavePrefixSum(given[l]); if (l == 63) data[0] = p + given[l];",
    "prefix count": "uint p = WavePrefixCountBits(given[l] > 2); if (l == 63) data[0] = p;",
    "branch inside": "uint n = WaveActiveSum(given[l]); if (l == 0) { if (n > 10) data[0] = 1; }",
    "added by one": "uint n = WaveActiveCountBits(given[l] > 2); if (l == 0) InterlockedAdd(data[0], n);",
    "assigned": "uint n = 0; n = WaveActiveSum(given[l]); if (l == 0) data[g.x] = n;",
    "return": "uint n = WaveActiveCountBits(true); if (l != 0) return; data[0] = n;",
    "uniform": "uint n = WaveActiveSum(given[l]); if (l == last) data[0] = n;",
    "half": "uint n = WaveActiveSum(given[l]); if (l < 32) data[l] = n;",
    "loop": "uint4 b = WaveActiveBallot(given[l] > 3); if (l == 0) for (uint i = 0; i < 4; i++) data[i] = b[i];",
}
WHOLE = {
    "operand guarded": "uint n = WaveActiveSum(l < 8 ? l : 0); if (l == 0) data[0] = n;",
    "every thread": "bool any = WaveActiveAnyTrue(given[l] > 3); data[l] = any;",
    "every wave first lane": "uint n = WaveActiveCountBits(given[l] > 3); if (WaveIsFirstLane()) InterlockedAdd(data[0], n);",
    "direct": "if (WaveActiveAnyTrue(given[l] > 3)) data[l] = 1;",
    "data guard": "uint n = WaveActiveSum(given[l]); if (given[l] == 5) data[l] = n;",
    "compaction": "bool keep = given[l] == 5; uint at = WavePrefixCountBits(keep), n = WaveActiveCountBits(keep), base = 0; "
    "if (WaveIsFirstLane()) InterlockedAdd(data[0], n, base); base = WaveReadLaneFirst(base); if (keep) data[1 "
    "+ base + at] = given[l];",
    "compaction return": "bool keep = given[l] == 5; uint at = WavePrefixCountBits(keep); if (!keep) return; data[l + at - at] = "
    "given[l];",
    "totals": "uint n = WaveActiveSum(given[l]); if (WaveIsFirstLane()) s[l / WaveGetLaneCount()] = n; "
    "GroupMemoryBarrierWithGroupSync(); uint t = WaveActiveSum(l < 64 / WaveGetLaneCount() ? s[l] : 0); if (l "
    "== 0) data[0] = t;",
    "totals local": "uint n = WaveActiveSum(given[l]); if (WaveIsFirstLane()) s[l / WaveGetLaneCount()] = n; "
    "GroupMemoryBarrierWithGroupSync(); uint v = 0; if (l < 64 / WaveGetLaneCount()) v = s[l]; uint t = "
    "WaveActiveSum(v); if (l == 0) data[0] = t;",
    "totals fixed": "uint n = WaveActiveSum(given[l]); if (l % 8 == 0) s[l / 8] = n; GroupMemoryBarrierWithGroupSync(); uint v "
    "= l < 8 ? s[l] : 0; uint t = WaveActiveSum(v); if (l == 0) data[0] = t;",
    "any of waves": "bool any = WaveActiveAnyTrue(given[l] > 3); if (l % 8 == 0) s[l / 8] = any; "
    "GroupMemoryBarrierWithGroupSync(); bool most = WaveActiveAnyTrue(l < 8 && s[l] != 0); if (l == 0) data[0] "
    "= most;",
    "by atomic": "if (l == 0) flag = 0; GroupMemoryBarrierWithGroupSync(); bool any = WaveActiveAnyTrue(given[l] > 3); if "
    "(any) InterlockedOr(flag, 1u); GroupMemoryBarrierWithGroupSync(); if (l == 0) data[0] = flag;",
    "early out": "if (WaveActiveAllTrue(given[l] < 3)) return; data[l] = 1;",
    "while": "uint v = given[l]; while (WaveActiveAnyTrue(v > 0)) { v = v > 0 ? v - 1 : 0; } data[l] = v;",
    "first lanes by number": "uint4 b = WaveActiveBallot(given[l] > 3); if (l % 8 == 0) data[l / 8] = b.x;",
    "scan": "uint p = WavePrefixSum(given[l]); if (l % 8 == 7) s[l / 8] = p + given[l]; "
    "GroupMemoryBarrierWithGroupSync(); for (uint i = 0; i < l / 8; i++) p += s[i]; data[l] = p;",
    "scan kept": "uint p = WavePrefixSum(given[l]); if (l % 8 == 7) s[l / 8] = p + given[l]; "
    "GroupMemoryBarrierWithGroupSync(); uint base = 0; for (uint i = 0; i < l / 8; i++) base += s[i]; data[l] "
    "= p + base;",
    "debug": "bool any = WaveActiveAnyTrue(given[l] > 3); uint found = any ? 1 : 0; data[l] = found;",
    "nested both": "if (WaveActiveAnyTrue(given[l] > 3)) { data[l] = 1; if (l == 0) data[l] = 2; }",
    "bounds": "bool any = WaveActiveAnyTrue(given[l] > 3); if (id.x < 64) data[l] = any;",
    "data first": "bool any = WaveActiveAnyTrue(given[l] > 3); if (given[l] == 5 && any) data[l] = 1;",
}


ANY = "bool any = WaveActiveAnyTrue(l == 40); if (l == 0) data[0] = any;"  # the same on waves of 4, 8 and 16, but not of 64


def job(body: str) -> KernelJob:
    if adapter_of(open_device()).wave_size != 8:
        pytest.skip("These kernels are written for waves of 8.")
    return KernelJob(KERNEL.replace("BODY", body), inputs={"data": np.zeros(128, np.uint32), "given": GIVEN}, records=100_000)


def named(body: str) -> list[str]:
    trace = record(open_device(), job(body)).trace
    return partly_used(trace, Sources.of(trace))


@pytest.mark.parametrize("body", [*PARTLY_USED.values(), ANY], ids=[*PARTLY_USED, "any of a later wave"])
def test_a_result_that_only_some_waves_use_is_named(body: str):
    (sentence,) = named(body)
    assert "of the 8 waves of 8 in a workgroup those of " in sentence


@pytest.mark.parametrize("body", WHOLE.values(), ids=WHOLE)
def test_a_result_that_all_waves_use_or_that_data_decide_on_is_not_named(body: str):
    assert named(body) == []


def test_a_kernel_for_wider_waves_that_leaves_the_same_on_narrow_ones_is_not_called_clean():
    recording = record_and_check(open_device(), job(ANY), other_widths=True)
    assert not recording.findings
    assert recording.verdict.missed == (
        "kernel.slang, line 6: WaveActiveAnyTrue has a result for each wave, and of the 8 waves of 8 in a workgroup those of 7 are "
        "not used. What wider waves leave was not looked at.",
    )
