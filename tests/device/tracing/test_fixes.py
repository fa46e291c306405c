"""Changes that take findings away are suggested, and only such that were tried: what is suggested was recorded again."""

from functools import partial

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
    output[lane + 1000] = neighbour;
}
"""


def test_one_change_follows_another_until_nothing_is_left():
    fix = fix_of(TWO_FAULTS)
    assert fix is not None
    assert {finding.kind for finding in fix.gone} == {"race", "out-of-bounds"}
    assert fix.left == []
    assert BARRIER in fix.source
    assert "if (lane + 1000 < outputCount)" in fix.source
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
