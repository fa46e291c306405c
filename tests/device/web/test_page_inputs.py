"""What the debugger page's widgets give reaches the kernel: textures, samplers, matrices, arrays."""

import asyncio

import numpy as np
import pytest

from splatscope.gpu.device import open_device
from splatscope.recordings.untrusted import open_file
from splatscope.recordings.wire import head_of
from splatscope.services.drafts.array_files import ArrayFile
from splatscope.services.drafts.draft import DraftJob, job_of, kernel_of, public
from splatscope.services.record_and_pack import record_and_pack
from splatscope.services.recordings import open_recording
from splatscope.services.sandbox_jobs import Checked, Open, check_job, record_job
from splatscope.splat.files.images import encode
from splatscope.tracing.interface import read_interface
from splatscope.web.debugger.draft import is_trusted
from splatscope.workers import worker_pool
from splatscope.workers.sandbox.source_filter import refuse_job

SOURCE = """
Texture2D<float4> picture;
SamplerState sampling;
RWTexture2D<float4> drawn;
cbuffer Look { float4x4 turn; float gains[3]; int16_t shift; };
RWStructuredBuffer<float> seen;
[numthreads(8, 8, 1)]
void drawMain(uint2 at : SV_DispatchThreadID)
{
    float4 colour = picture.SampleLevel(sampling, (at + 0.5) / 8.0, 0);
    drawn[at] = colour * gains[1];
    if (all(at == 0))
    {
        seen[0] = turn[1][2];
        seen[1] = gains[2];
        seen[2] = shift;
        seen[3] = picture.SampleLevel(sampling, float2(0.5, 0.5), 3).x;
    }
}
"""


@pytest.fixture(scope="module")
def draft() -> dict:
    pixels = np.random.default_rng(2).integers(0, 256, (8, 8, 3)).astype(np.uint8)
    inputs = {
        "picture": {"fill": "picture", "array": "noise", "file": "noise.png", "mips": True},
        "sampling": {"filter": "point", "address": "clamp"},
        "drawn": {"fill": "zeros", "size": [8, 8]},
        "Look.turn": {"values": " ".join(map(str, range(16)))},
        "Look.gains": {"values": "1 0.5 7"},
        "Look.shift": {"values": "-3"},
    }
    return {"source": SOURCE, "inputs": inputs, "pixels": pixels}


@pytest.fixture(scope="module")
def files(draft) -> dict[str, ArrayFile]:
    return {"noise": ArrayFile("noise.png", encode(draft["pixels"], "PNG"))}


def test_what_is_typed_and_chosen_is_what_the_kernel_reads(draft, files):
    device = open_device()
    kernel = kernel_of(draft)
    interface = read_interface(device, kernel)
    assert list(interface.textures) == ["picture", "drawn"]
    assert interface.samplers == ["sampling"]
    assert interface.unfit == {}
    job = job_of(draft, kernel, interface, files)
    recording, _, packed = record_and_pack(device, job, with_uniforms=True)
    seen = recording.arrays["seen"].reshape(-1)
    pixels = draft["pixels"] / 255
    np.testing.assert_allclose(seen[:3], [6, 7, -3])
    assert seen[3] == pytest.approx(pixels[..., 0].mean(), abs=0.02)
    np.testing.assert_allclose(recording.arrays["drawn"][..., :3], pixels * 0.5, atol=0.01)
    output = next(one for one in head_of(packed.data)["outputs"] if one["name"] == "drawn")
    assert output["picture"] == [8, 8, 4]
    widgets = public(interface, SOURCE, draft, [], files)
    assert [(one["name"], bool(one["preview"])) for one in widgets["textures"]] == [("picture", True), ("drawn", False)]


def test_a_recording_with_textures_opens_with_its_pictures_and_uniforms(draft, files):
    kernel = kernel_of(draft)
    meta, (_, file) = record_job(job_of(draft, kernel, read_interface(open_device(), kernel), files))
    opened = open_file("drawn.npz", file)
    np.testing.assert_array_equal(opened.job.inputs["picture"][..., :3], draft["pixels"])
    assert list(opened.recording.pictures["drawn"]) == [8, 8, 4]

    async def reopened():
        try:
            return await open_recording(worker_pool, "drawn.npz", file)
        finally:
            await worker_pool.close()

    packed, job, _, sizes = asyncio.run(reopened())
    assert (job["entry"], sizes["picture"]) == ("drawMain", 8 * 8 * 4)
    head = head_of(packed.data)
    assert meta["events"] == packed.meta["events"]
    assert {one["name"]: one["type"] for one in head["uniforms"]}["Look.turn"] == "float4x4"


SETTINGS = """
interface IScale { float of(float x); }
struct Twice : IScale { float of(float x) { return x * 2; } }
struct Thrice : IScale { float of(float x) { return x * 3; } }
extern static const uint COUNT;
extern static const float GAIN = 1.5;
#ifndef SHIFT
#define SHIFT 0
#endif
RWStructuredBuffer<float> seen;
[shader("compute")]
[numthreads(COUNT, 1, 1)]
void settingMain<S : IScale>(uint i : SV_DispatchThreadID)
{
    S scale;
    seen[i] = scale.of(i) * GAIN + SHIFT;
}
"""


def test_constants_macros_and_types_are_asked_for_and_reach_the_kernel():
    asked = Checked.of(check_job(kernel_of({"source": SETTINGS}))[0])
    assert asked.interface is None
    assert asked.error == "The entry point is generic (S : IScale): name its types under “Compile with”."
    assert asked.open == Open(constants={"COUNT": "uint", "GAIN": "float"}, missing=["COUNT"], generic="S : IScale")
    draft = {"source": SETTINGS, "arguments": "Thrice", "defines": "SHIFT=100\nUNUSED", "constants": {"GAIN": "0.5", "COUNT": ""}}
    known = Checked.of(check_job(kernel_of(draft))[0])
    assert known.interface.group_size == (1, 1, 1)  # until it has a value
    draft["constants"] = {"GAIN": "0.5", "COUNT": "4"}
    kernel = kernel_of(draft)
    assert not is_trusted(DraftJob(draft))
    checked = Checked.of(check_job(kernel)[0])
    assert (checked.open["missing"], checked.interface.group_size) == ([], (4, 1, 1))
    recording, _, packed = record_and_pack(open_device(), job_of(draft, kernel, checked.interface), with_uniforms=True)
    assert recording.arrays["seen"].reshape(-1)[:4].tolist() == [100, 101.5, 103, 104.5]
    assert head_of(packed.data)["constants"] == {"COUNT": "4", "GAIN": "0.5", "SHIFT": "100", "UNUSED": "1"}


HLSL = """
#define GROUP 4
#define KERNEL [numthreads(GROUP, 1, 1)]
cbuffer Frame : register(b0) { float4 scale : packoffset(c0); uint offset : packoffset(c1.x); };
Buffer<uint> indices : register(t0);
RWBuffer<float4> colours : register(u0);
RWByteAddressBuffer raw : register(u1, space1);
KERNEL
void CSMain(uint3 id : SV_DispatchThreadID)
{
    colours[id.x] = scale * indices[id.x];
    raw.Store(4 * id.x, offset + id.x);
}
"""


def test_hlsl_with_registers_texel_buffers_and_a_macro_for_its_threads_runs_from_the_page():
    draft = {
        "source": HLSL,
        "file": "frame.hlsl",
        "inputs": {
            "indices": {"fill": "ramp", "count": 4},
            "colours": {"fill": "zeros", "count": 4},
            "raw": {"fill": "zeros", "count": 4},
            "Frame.scale": {"values": "1 2 3 4"},
            "Frame.offset": {"values": "7"},
        },
    }
    kernel = kernel_of(draft)
    assert refuse_job(kernel) == ""
    checked = Checked.of(check_job(kernel)[0])
    assert checked.error == ""
    assert checked.interface.entries == ("CSMain",)
    recording, _, packed = record_and_pack(open_device(), job_of(draft, kernel, checked.interface), with_uniforms=True)
    assert recording.outputs["colours"].view(np.float32).reshape(4, 4).tolist() == [[i, 2 * i, 3 * i, 4 * i] for i in range(4)]
    assert recording.outputs["raw"][:4].tolist() == [7, 8, 9, 10]
    output = next(one for one in head_of(packed.data)["outputs"] if one["name"] == "colours")
    assert (output["stride"], [name for name, *_ in output["parts"]]) == (4, [".x", ".y", ".z", ".w"])
