"""Loops that are rolled up for a recording give the same recording as the unrolled loops."""

import numpy as np

from splatscope.gpu.device import open_device
from splatscope.tracing import recording as record
from splatscope.tracing.instrument import build

KERNEL = """
RWStructuredBuffer<float> input;
RWStructuredBuffer<float> gradient;
RWStructuredBuffer<float> output;

struct Raw : IDifferentiable { float v[5]; }

[BackwardDerivative(load_bwd)]
float load(uint at) { return input[at]; }
void load_bwd(uint at, float d) { gradient[at] = d; }

uint place(uint field, uint blob) { return blob * 5 + field; }

[Differentiable]
float length2(uint blob)
{
    Raw raw = {};
    [ForceUnroll]
    for (uint field = 0; field < 5; field++)
        raw.v[field] = load(place(field, blob));
    return raw.v[0] * raw.v[1] + sin(raw.v[2]) * raw.v[3] / raw.v[4];
}

[shader("compute")]
[numthreads(8, 1, 1)]
void computeMain(uint lane : SV_GroupIndex)
{
    output[lane] = length2(lane);
    bwd_diff(length2)(lane, 1.5);
}
"""


def test_it_is_recorded_as_if_it_were_unrolled(monkeypatch):
    device, job = open_device(), record.KernelJob(KERNEL, inputs={"input": np.linspace(0.1, 7, 40, dtype=np.float32)})
    loop = record.record(device, job)
    monkeypatch.setattr(build, "roll", lambda text: text)
    record._builds.clear()
    copies = record.record(device, job)
    assert loop.same_as_plain
    assert copies.same_as_plain
    assert np.count_nonzero(loop.outputs["gradient"]) == 40
    assert [loop.trace.sites[s] for s in loop.trace.site] == [copies.trace.sites[s] for s in copies.trace.site]
    np.testing.assert_array_equal(loop.trace.words, copies.trace.words)
    np.testing.assert_array_equal(loop.trace.flags, copies.trace.flags)


def test_what_the_compiler_does_not_take_rolled_stays_as_it_is(monkeypatch):
    monkeypatch.setattr(build, "roll", lambda text: text.replace("[ForceUnroll]", "[MaxIters(unheard_of)]"))
    record._builds.clear()
    recording = record.record(open_device(), record.KernelJob(KERNEL))
    assert recording.same_as_plain
    assert "length2" in recording.functions
    assert "loop" in recording.trace.kinds
