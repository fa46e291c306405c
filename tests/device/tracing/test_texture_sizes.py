"""Textures that are given by their size alone, and the sizes of those that are not given."""

import numpy as np
import pytest

from splatscope.api.recording import Recording
from splatscope.gpu.device import open_device
from splatscope.tracing.inputs import flat
from splatscope.tracing.job import KernelJob
from splatscope.tracing.record_and_check import record_and_check


@pytest.fixture(scope="module")
def device():
    """A device, opened by tests of this process once."""
    return open_device()


WRITES = """
RWTexture2D<float> dst;
RWTexture2DArray<float4> layers;
RWTexture1D<uint> line;
RWTexture3D<int2> block;
TextureCube<float4> sky;
RWStructuredBuffer<float> o;
cbuffer P { uint2 size; }
[shader("compute")]
[numthreads(8, 1, 1)]
void main(uint3 id : SV_DispatchThreadID)
{
    if (id.x >= size.x)
        return;
    dst[id.xy] = id.x;
    layers[uint3(id.x, 0, 2)] = 2;
    line[id.x] = 3;
    block[uint3(id.x, 1, 2)] = 4;
    uint width, height;
    sky.GetDimensions(width, height);
    o[id.x] = width;
}
"""
SIZES = {
    "dst": {"size": [100, 60]},
    "layers": {"size": [100, 2, 3]},
    "line": {"size": 100},
    "block": {"size": [100, 2, 3]},
    "sky": {"size": [16, 16]},
}


def test_a_texture_has_the_size_that_an_input_states(device):
    given = flat({"size": [100, 1], "o": {"count": 100}, **SIZES})
    checked = Recording(record_and_check(device, KernelJob(WRITES, groups=(13, 1, 1), group=(12, 0, 0), inputs=given)))
    assert (checked.findings, checked.not_given) == ([], [])
    shapes = {name: array.shape for name, array in checked.recorded.arrays.items()}
    assert shapes["dst"] == (60, 100)
    assert shapes["line"] == (100,)
    assert shapes["block"] == (3, 2, 100, 2)
    assert np.array_equal(checked.recorded.arrays["dst"][0], np.arange(100))
    assert (checked.recorded.arrays["o"] == 16).all()


def test_the_size_of_a_texture_that_is_not_given_is_told(device):
    checked = Recording(
        record_and_check(device, KernelJob(WRITES, groups=(13, 1, 1), group=(4, 0, 0), inputs=flat({"size": [100, 1]})))
    )
    assert {finding.kind for finding in checked.findings} == {"out-of-bounds"}
    assert checked.notes[0] == (
        "Not given, so zeros: o (1,024), dst (32 × 32), layers (2 layers of 32 × 32), line (1024), block (8 × 8 × 8), "
        "sky (32 × 32). Accesses are judged by the assumed sizes in brackets; "
        '{"count": N} gives a buffer its own, {"size": [WIDTH, HEIGHT]} gives a 2D texture its own, '
        '{"size": [WIDTH, HEIGHT, LAYERS]} gives an array of 2D textures its own, {"size": [WIDTH]} gives a 1D texture its own, '
        '{"size": [WIDTH, HEIGHT, DEPTH]} gives a 3D texture its own, {"size": [WIDTH, HEIGHT]} gives a cube its own.'
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"dst": {"size": [100]}}, r"dst\.size is \[width, height\], whole numbers from 1 to 16,384\."),
        ({"dst": {"size": [0, 4]}}, r"dst\.size is"),
        ({"dst": {"size": [1.5, 4]}}, r"dst\.size is"),
        ({"layers": {"size": [4, 4]}}, r"layers\.size is \[width, height, layers\]"),
        ({"block": {"size": [9000, 9000, 9000]}}, r"block\.size: the texture would have more than"),
        ({"o": {"size": [4]}}, "no parameter o.size"),
    ],
)
def test_a_size_that_does_not_fit_is_refused(device, given, words):
    with pytest.raises(ValueError, match=words):
        Recording(record_and_check(device, KernelJob(WRITES, inputs=flat(given))))
