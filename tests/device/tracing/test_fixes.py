"""Changes that take findings away are suggested, and only such that were tried: what is suggested was recorded again."""

from functools import partial

import numpy as np
import pytest

from helpers.corpus import FINDINGS, said
from splatscope.cli.buffer_option import parse_buffer
from splatscope.gpu.device import open_device
from splatscope.tracing.fixes import Fix, patch_of, suggest
from splatscope.tracing.job import KernelJob
from splatscope.tracing.record_and_check import record_and_check

BARRIER = "GroupMemoryBarrierWithGroupSync();"
# By kernel: the lines that the change adds, without their indentation.
ADDED = {
    "race/missing_barrier": [BARRIER],
    "race/scalar": [BARRIER],  # what stands first in the source did not happen first
    "race/reduction_barrier_outside": [BARRIER],  # at the end of a loop
    "race/zeros": [BARRIER],  # in a loop that ends with one
    "race/optional_in_condition": [BARRIER],
    "race/through_function": [BARRIER],  # the access is inside of a function
    "race/byte_buffer": ["AllMemoryBarrierWithGroupSync();"],
    "race/plain_counter": ["InterlockedAdd(output[0], lane);"],
    "race/wave_leader": ["if (WaveIsFirstLane()) InterlockedAdd(total, sum);"],
    "out-of-bounds/shared_write": ["if (lane + 1 < 64)", "tile[lane + 1] = lane;"],
    "out-of-bounds/negative": ["if (uint(left) < 64)", "output[lane] = tile[left];"],
    "out-of-bounds/buffer_write": [
        "uint outputCount, outputCountStride;",
        "output.GetDimensions(outputCount, outputCountStride);",
        "if (lane < outputCount)",
        "output[lane] = lane;",
    ],
    "uninitialised-read/local_in_loop": ["float x = 0;"],
    "uninitialised-read/local_component": ["float4 v = {};"],
}


def fix_of(source: str, name: str = "kernel.slang", **more) -> Fix | None:
    record = partial(record_and_check, open_device(), between_groups=True, follow=True)
    job = KernelJob(source, name, records=400_000, **more)
    return suggest(job, record(job), record)


@pytest.mark.parametrize("name", ADDED)
def test_a_change_takes_the_finding_away(name):
    source = (FINDINGS / f"{name}.slang").read_text()
    fix = fix_of(source, f"{name}.slang", inputs=dict(parse_buffer(text) for text in said(source, "buffer")))
    assert fix is not None
    assert [line[1:].strip() for line in fix.patch.split("\n") if line.startswith("+") and not line.startswith("+++")] == ADDED[
        name
    ]
    assert (fix.left, fix.verdict) == ([], "Nothing found")
    assert [finding.kind for finding in fix.gone] == [name.partition("/")[0]]


def test_what_no_change_mends_gets_none():
    assert fix_of((FINDINGS / "race/reduction_stride.slang").read_text()) is None


TWO_FAULTS = """groupshared uint tile[64];
RWStructuredBuffer<uint> output;
[shader("compute")] [numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex)
{
    tile[lane] = lane;
    uint neighbour = tile[63 - lane]; // größer
    output[lane + 990] = neighbour;
}
"""


def test_one_change_follows_another_until_nothing_is_left():
    fix = fix_of(TWO_FAULTS)
    assert fix is not None
    assert {finding.kind for finding in fix.gone} == {"race", "out-of-bounds"}
    assert fix.left == []
    assert BARRIER in fix.source
    assert "if (lane + 990 < outputCount)" in fix.source
    assert "// größer\n" in fix.source


def test_a_patch_names_the_file_as_git_does():
    assert (
        patch_of("a\nb\n", "a\nc", "k.slang")
        == """--- a/k.slang
+++ b/k.slang
@@ -1,2 +1,2 @@
 a
-b
+c
\\ No newline at end of file
"""
    )


IN_FUNCTIONS = """groupshared uint tile[64];
RWStructuredBuffer<uint> output;
void put(uint i) { tile[i] = i; }
uint get(uint i) { return tile[63 - i]; }
void stage(uint i) { put(i); }
[shader("compute")] [numthreads(64, 1, 1)]
void main(uint i : SV_GroupIndex)
{
    stage(i);
    output[i] = get(i);
}
"""
COUNTED_BY_PARAMETER = """RWStructuredBuffer<uint> bins;
void count(RWStructuredBuffer<uint> into, uint bin)
{
    into[bin] += 1;
}
[shader("compute")] [numthreads(64, 1, 1)]
void main(uint i : SV_GroupIndex) { count(bins, i % 4); }
"""
READ_BEHIND_THE_END = """groupshared uint tile[64];
RWStructuredBuffer<uint> output;
uint next(uint i)
{
    return tile[i + 1];
}
[shader("compute")] [numthreads(64, 1, 1)]
void main(uint i : SV_GroupIndex)
{
    tile[i] = i;
    GroupMemoryBarrierWithGroupSync();
    output[i] = next(i);
}
"""
HANDED_OVER = """globallycoherent RWStructuredBuffer<uint> data;
globallycoherent RWStructuredBuffer<uint> done;
RWStructuredBuffer<uint> output;
[shader("compute")] [numthreads(1, 1, 1)]
void main(uint3 group : SV_GroupID)
{
    data[group.x] = group.x + 1;
    uint before;
    InterlockedAdd(done[0], 1, before);
    if (before == 3)
    {
        uint sum = 0;
        for (uint i = 0; i < 4; i++)
            sum += data[i];
        output[0] = sum;
    }
}
"""
COHERENT = "globallycoherent RWStructuredBuffer<uint> data;"
INCOHERENT = HANDED_OVER.replace(COHERENT, "// größer\nRWStructuredBuffer<uint> data;")
STORED_IN_BYTES = """RWByteAddressBuffer data;
[shader("compute")] [numthreads(64, 1, 1)]
void main(uint i : SV_GroupIndex)
{
    data.Store(4 * i, i);
}
"""
COUNTED_IN_BYTES = """RWByteAddressBuffer bins;
[shader("compute")] [numthreads(64, 1, 1)]
void main(uint i : SV_GroupIndex)
{
    bins.Store(4 * (i % 4), bins.Load(4 * (i % 4)) + 1);
}
"""
FENCE = "DeviceMemoryBarrier();"


@pytest.mark.parametrize(
    ("source", "groups", "added"),
    [
        (IN_FUNCTIONS, 1, [BARRIER]),
        (COUNTED_BY_PARAMETER, 1, ["InterlockedAdd(into[bin], 1);"]),
        (READ_BEHIND_THE_END, 1, ["if (i + 1 >= 64)", "return uint(0);"]),
        (HANDED_OVER, 4, [FENCE, FENCE]),
        (INCOHERENT, 4, [COHERENT, FENCE, FENCE]),
        (COUNTED_IN_BYTES, 1, ["bins.InterlockedAdd(4 * (i % 4), 1);"]),
    ],
    ids=["barrier for functions", "atomic in a function", "guard in a function", "fences", "coherence", "atomic in bytes"],
)
def test_what_functions_fences_and_raw_buffers_lack_is_added(source, groups, added):
    fix = fix_of(source, groups=(groups, 1, 1))
    assert fix is not None
    assert [line[1:].strip() for line in fix.patch.split("\n") if line.startswith("+") and not line.startswith("+++")] == added
    assert (fix.left, fix.verdict, fix.skips) == ([], "Nothing found", "")


def test_a_guard_says_what_it_leaves_out():
    fix = fix_of(STORED_IN_BYTES, inputs={"data": np.zeros(50, np.uint32)})
    assert fix is not None
    assert "if (uint(4 * i) + 4 <= dataBytes)" in fix.source
    assert fix.skips == "It leaves out 14 of 64 stores in data: see whether they are needed."


def test_a_guard_that_would_hide_half_of_the_stores_is_not_suggested():
    assert fix_of(STORED_IN_BYTES, inputs={"data": np.zeros(32, np.uint32)}) is None
