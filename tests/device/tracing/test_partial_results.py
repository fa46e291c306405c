"""Of results over waves that some waves alone make something of it is said what wider waves leave, or that it is not known."""

import numpy as np
import pytest

from splatscope.api.recording import Recording
from splatscope.gpu.device import adapter_of, open_device
from splatscope.tracing.job import KernelJob
from splatscope.tracing.record_and_check import record_and_check

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
    "in condition": "if (WaveActiveAnyTrue(given[l] > 3) && l == 0) data[0] = 1;",
    "condition of local": "bool any = WaveActiveAnyTrue(given[l] > 3); if (l == 0 && any) data[0] = 1;",
    "condition nested": "if (WaveActiveAnyTrue(given[l] > 3)) { if (l == 0) data[0] = 1; }",
    "condition nested local": "bool any = WaveActiveAnyTrue(given[l] > 3); if (!any) { if (l == 0) data[0] = 1; }",
    "branch inside": "uint n = WaveActiveSum(given[l]); if (l == 0) { if (n > 10) data[0] = 1; }",
    "added by one": "uint n = WaveActiveCountBits(given[l] > 2); if (l == 0) InterlockedAdd(data[0], n);",
    "assigned": "uint n = 0; n = WaveActiveSum(given[l]); if (l == 0) data[g.x] = n;",
    "return": "uint n = WaveActiveCountBits(true); if (l != 0) return; data[0] = n;",
    "uniform": "uint n = WaveActiveSum(given[l]); if (l == last) data[0] = n;",
    "half": "uint n = WaveActiveSum(given[l]); if (l < 32) data[l] = n;",
    "loop": "uint4 b = WaveActiveBallot(given[l] > 3); if (l == 0) for (uint i = 0; i < 4; i++) data[i] = b[i];",
    "or": "bool all = WaveActiveAllTrue(given[l] > 3); if (l != 0 || all) {} else data[0] = 1;",
}
WHOLE = {
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


FIXED = {  # and what is said of it
    "sum": (
        "uint n = WaveActiveSum(l + 1); if (l == 0) data[0] = n;",
        ("36", "n", 64, "2,080"),
    ),
    "assigned": (
        "uint n; n = WaveActiveMax(l + 1); if (l == 0) data[0] = n;",
        ("8", "n", 64, "64"),
    ),
    "sums of 32": (
        "uint n = WaveActiveSum(l + 1); if (l % 32 == 0) s[l / 32] = n; GroupMemoryBarrierWithGroupSync(); "
        "if (l == 0) data[0] = s[0] + s[1];",
        ("36", "n", 32, "528"),
    ),
    "any": (
        "bool any = WaveActiveAnyTrue(l == 40); if (l == 0) data[0] = any;",
        ("0", "any", 64, "1"),
    ),
    "float": (
        "float n = WaveActiveSum(l * 0.25); if (l == 0) data[0] = uint(n);",
        ("7", "n", 64, "504"),
    ),
}
SAME = {
    "largest of equals": "uint n = WaveActiveMax(last + 3); if (l == 0) data[0] = n;",
    "lanes": "uint n = WaveActiveCountBits(true); if (l == 0) data[0] = n;",
    "zeros": "uint n = WaveActiveSum(l < 5 ? l : given[min(l + 20, 63)]); if (l == 0) data[0] = n;",
}


def checked(body: str) -> Recording:
    device = open_device()
    if adapter_of(device).wave_size != 8:
        pytest.skip("These kernels are written for waves of 8.")
    given = {"data": np.zeros(128, np.uint32), "given": GIVEN}
    return Recording(record_and_check(device, KernelJob(KERNEL.replace("BODY", body), records=100_000, inputs=given)))


def said_of(body: str) -> list[str]:
    """Return what is said of results over waves, whether it is a finding, a note, or what was not looked at."""
    found = checked(body)
    findings = [finding.message for finding in found.findings if finding.message.startswith("On these waves of 8,")]
    assert len(findings) == len(found.findings)
    return findings + [words for words in [*found.notes, *found.missed] if "has a result for each wave" in words]


@pytest.mark.parametrize("body", PARTLY_USED.values(), ids=PARTLY_USED)
def test_a_result_that_only_some_waves_use_is_named(body):
    assert len(said_of(body)) == 1


@pytest.mark.parametrize("body", WHOLE.values(), ids=WHOLE)
def test_a_result_that_all_waves_use_or_that_data_decide_on_is_not_named(body):
    assert said_of(body) == []


@pytest.mark.parametrize(("body", "numbers"), FIXED.values(), ids=FIXED)
def test_what_wider_waves_would_leave_is_a_finding(body, numbers):
    part, name, width, whole = numbers
    (finding,) = checked(body).findings
    assert (finding.kind, finding.message) == (
        "wave-width",
        f"On these waves of 8, thread 0 gets {part} as {name} on line 6, a result for 8 threads of 64, and nobody uses that of all "
        f"others: on waves of {width}, it is {whole}.",
    )


@pytest.mark.parametrize("body", SAME.values(), ids=SAME)
def test_where_wider_waves_would_leave_the_same_it_is_a_note(body):
    found = checked(body)
    assert (found.findings, found.missed) == ([], [])
    assert "has a result for each wave" in " ".join(found.notes)


@pytest.mark.parametrize("name", ["ballot", "prefix", "in condition"])
def test_where_it_is_not_known_what_wider_waves_leave_the_kernel_was_not_looked_at_in_full(name):
    found = checked(PARTLY_USED[name])
    assert (found.findings, len(found.missed)) == ([], 1)
    assert found.missed[0].endswith("What wider waves leave was not judged: name a device that has them.")
