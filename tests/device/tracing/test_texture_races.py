"""Texels are memory like a buffer's elements: their races are found within a workgroup and between workgroups, and only those."""

import pytest

from splatscope.api.recording import Recording
from splatscope.gpu.device import open_device
from splatscope.tracing.job import KernelJob
from splatscope.tracing.record_and_check import record_and_check

HEAD = """RWTexture2D<float4> image; RWTexture2D<uint> counts; RWTexture1D<uint> row; RWTexture3D<float> fog;
RWTexture2DArray<float2> layers; RWTexture2D<unorm float4> shown; Texture2D<float4> given; RWStructuredBuffer<float4> output;
void mirror(RWTexture2D<float4> picture, uint2 at) { picture[at] = picture[at.yx]; }
[shader("compute")] [numthreads(8, 8, 1)]
void main(uint3 id : SV_DispatchThreadID, uint3 local : SV_GroupThreadID, uint lane : SV_GroupIndex, uint3 group : SV_GroupID)
{
"""
STORE = "image[id.xy] = float4(id, lane); "
SWAP = "output[lane] = image[id.yx];"
DEVICE = "DeviceMemoryBarrierWithGroupSync(); "
RACY = {  # by name: what threads do on line 7, the workgroups, and what the message says
    "the mirrored texel": (STORE + SWAP, 1, "image["),
    "a barrier of the other memory": (
        STORE + "GroupMemoryBarrierWithGroupSync(); " + SWAP,
        1,
        "orders shared memory, not textures",
    ),
    "a barrier at which nobody waits": (STORE + "DeviceMemoryBarrier(); " + SWAP, 1, "no thread waits there for another"),
    "a count without an atomic": ("counts[uint2(lane % 4, 0)] += 1;", 1, "counts["),
    "a count with one atomic": (
        "InterlockedAdd(counts[uint2(lane % 4, 0)], 1); row[lane] = counts[uint2(0, 0)];",
        1,
        "one of them is atomic",
    ),
    "a blur in place": ("image[id.xy] = image[id.xy] + image[id.xy + uint2(1, 0)];", 1, "image["),
    "by methods": ("image.Store(id.xy, lane); output[lane] = image.Load(int2(id.yx));", 1, "image["),
    "two components of a texel": (
        "if (lane % 2 == 0) image[uint2(lane / 2, 0)].x = 1; else image[uint2(lane / 2, 0)].y = 1;",
        1,
        "image[",
    ),
    "a line": ("row[lane] = lane; output[lane] = row[63 - lane];", 1, "row["),
    "a volume": ("fog[uint3(local.xy, 2)] = lane; output[lane] = fog[uint3(local.yx, 2)];", 1, "fog["),
    "a layer": ("layers[uint3(id.xy, 1)] = lane; output[lane].xy = layers[uint3(id.yx, 1)];", 1, "layers["),
    "a format of 8 bits": ("shown[id.xy] = lane / 64.0; output[lane] = shown[id.yx];", 1, "shown["),
    "in a function": ("image[id.xy] = lane; mirror(image, id.xy);", 1, "image["),
    "another group's texel": (STORE + DEVICE + "output[lane] = image[uint2(id.x ^ 8, id.y)];", 2, "of group "),
    "a total of all groups": ("if (lane == 0) counts[uint2(0, 0)] += 1;", 2, "counts[0, 0]"),
}
CLEAN = {
    "each its own": (STORE + "output[group.x * 64 + lane] = image[id.xy];", 2),
    "a barrier of device memory": (STORE + DEVICE + SWAP, 1),
    "a barrier of all memory": (STORE + "AllMemoryBarrierWithGroupSync(); " + SWAP, 1),
    "a count with atomics": ("InterlockedAdd(counts[uint2(lane % 4, 0)], 1);", 2),
    "reads alone": ("output[lane] = image[id.yx] + given[id.yx];", 1),
    "a layer each": ("layers[uint3(0, 0, lane % 2)] = 1; if (lane > 1) return; layers[uint3(1, 0, lane)] = lane;", 1),
    "in a function": ("image[id.xy] = lane; AllMemoryBarrierWithGroupSync(); if (lane == 9) mirror(image, id.xy);", 1),
    "its size": ("uint w, h; image.GetDimensions(w, h); if (lane == 0) image[uint2(w - 1, h - 1)] = 1;", 1),
}


def checked(body: str, groups: int = 1) -> Recording:
    job = KernelJob(f"{HEAD}    {body}\n}}\n", groups=(groups, 1, 1), records=200_000)
    return Recording(record_and_check(open_device(), job, between_groups=True))


@pytest.mark.parametrize("name", RACY)
def test_a_race_of_texels_is_found(name):
    body, groups, words = RACY[name]
    found = checked(body, groups)
    assert found.missed == []
    assert "race" in {finding.kind for finding in found.findings}
    assert any(words in finding.message for finding in found.findings), [finding.message for finding in found.findings]
    assert {line for finding in found.findings for line in finding.lines} <= {3, 7}


@pytest.mark.parametrize("name", CLEAN)
def test_threads_that_are_ordered_or_touch_other_texels_do_not_race(name):
    found = checked(*CLEAN[name])
    assert [finding.message for finding in found.findings if finding.kind != "benign-race"] == []
    assert found.missed == []


def test_a_texel_is_named_by_its_coordinates():
    (finding,) = checked("if (lane < 2) image[uint2(5, 3)] = lane;").findings
    assert "image[5, 3] on line 7" in finding.message


def test_an_access_that_is_not_recorded_is_missed():
    source = f"RWTexture2D<float4> images[2];\n{HEAD}    images[1][id.xy] = 1;\n}}\n"
    found = Recording(record_and_check(open_device(), KernelJob(source, records=200_000)))
    assert found.missed == ["kernel.slang, line 8: this access to images is not recorded: no race with it is looked for."]


@pytest.mark.parametrize(
    "declared",
    [
        '[format("r32ui")] RWTexture2D<uint> seen;',
        "[[vk::binding(3, 0)]] RWStructuredBuffer<uint> seen;",
        "[Note] RWBuffer<uint> seen;",
    ],
)
def test_attributes_in_front_of_a_memory_hide_no_race(declared):
    at = "uint2(0, 0)" if "Texture" in declared else "0"
    note = "[__AttributeUsage(_AttributeTargets.Var)] struct NoteAttribute {}\n"
    source = f'{note}{declared}\n[shader("compute")] [numthreads(64, 1, 1)] void main(uint i : SV_GroupIndex) {{ seen[{at}] = i; }}'
    found = record_and_check(open_device(), KernelJob(source))
    assert [(finding.kind, finding.name) for finding in found.findings] == [("race", "seen")]
