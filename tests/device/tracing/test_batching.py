"""Records written together contain the same as records written one by one."""

import numpy as np
import pytest

from splatscope.gpu.device import open_device
from splatscope.tracing import recording as record
from splatscope.tracing.instrument import instrumenter as instrument

KERNEL = """
struct Ray { float3 origin; float2x2 turn; uint64_t id; }
RWStructuredBuffer<float> output;
groupshared uint tile[8];

float bent(Ray ray, float by, bool twice)
{
    if (twice)
        return by * 2;
    // Nothing stands between this and the next but words.
    { return ray.origin.y + by; }
}

[shader("compute")]
[numthreads(8, 1, 1)]
void computeMain(uint lane : SV_GroupIndex)
{
    Ray ray = { float3(lane, 2, 3), float2x2(1, 2, 3, lane), uint64_t(lane) << 33 };
    float a = 1, b = lane;
    let inferred = lane * 2.5;
    int2 other = int2(lane, -1);
    for (int i = 0; i < 3; i++)
        a += bent(ray, b, i == 1);
    tile[lane] = uint(a);
    GroupMemoryBarrierWithGroupSync();
    output[lane] = tile[7 - lane] + inferred * other.x;
}
"""
COLUMNS = ("thread", "site", "slot", "index", "words", "flags", "shared_epoch")


@pytest.mark.parametrize("records", [100_000, 8 * 24])  # enough for all, and not
def test_what_is_joined_is_what_was_recorded_apart(monkeypatch, records):
    device, job = open_device(), record.KernelJob(KERNEL, records=records)
    together = record.record(device, job).trace
    monkeypatch.setattr(instrument, "join", lambda text, sites: (text, {}))
    record._builds.clear()
    apart = record.record(device, job).trace
    assert together.info.truncated == apart.info.truncated == (records < 1000)
    if not together.info.truncated:
        assert together.sites == apart.sites
        for column in COLUMNS:
            np.testing.assert_array_equal(getattr(together, column), getattr(apart, column))
        return
    for thread in range(8):
        ours, theirs = ([t.sites[s] for s in t.site[t.thread == thread]] for t in (together, apart))
        both = min(len(ours), len(theirs))
        assert both > 5
        assert ours[:both] == theirs[:both]


def test_runs_are_written_in_fewer_places(monkeypatch):
    texts = []
    joined = instrument.join
    monkeypatch.setattr(instrument, "join", lambda text, sites: texts.append((text, joined(text, sites)[0])) or joined(text, sites))
    record._builds.clear()
    record.record(open_device(), record.KernelJob(KERNEL))
    before, after = ("".join(part) for part in zip(*texts, strict=True))
    assert after.count("_rec_") <= before.count("_rec_") - 10
    assert [(after.count(one), one) for one in "\n{}"] == [(before.count(one), one) for one in "\n{}"]
