"""gradients.slang: sums over a wave and over a workgroup, the clamp before them, and the compare-and-swap addition."""

import numpy as np
import pytest

from helpers.scenes import scene_of
from splatscope.gpu.buffers import download, upload
from splatscope.gpu.kernel import compile_kernel, submit

REDUCE = """
import gradients;
import workgroup;

StructuredBuffer<float> values;

[shader("compute")]
[numthreads(WG_X, WG_Y, 1)]
void test(uint2 pixel: SV_DispatchThreadID, uint2 group: SV_GroupID, uint localIdx: SV_GroupIndex)
{
    for (uint slot = 0; slot < 3; slot++)
        bwd_diff(loadFloat)(slot, localIdx, values[slot * 1024 + group.x * WG_SIZE + localIdx]);
}
"""

WAVE, TREE = 1, 0


def total(launch, values, sum_by, workgroup=(8, 4)):
    """Σ over 1,024 threads of each of three rows of `values`, as the kernels add gradients up."""
    width, height = workgroup
    constants = {"WG_X": width, "WG_Y": height, "WAVE_SUM": sum_by}
    threads = (1024 // height, height)
    bits = launch(REDUCE, threads, dict(derivBuffer=(4, np.uint32)), constants, values=values.astype(np.float32).reshape(-1))
    return bits.view(np.float32)[:3]


@pytest.mark.parametrize("sum_by", [WAVE, TREE])
@pytest.mark.parametrize("workgroup", [(8, 4), (16, 16), (4, 4)])
def test_sum(launch, sum_by, workgroup):
    values = np.random.default_rng(1).normal(size=(3, 1024)).astype(np.float32)
    np.testing.assert_allclose(total(launch, values, sum_by, workgroup), values.sum(1, dtype=float), rtol=0, atol=2e-4)


@pytest.mark.parametrize("sum_by", [WAVE, TREE])
def test_whole_numbers_sum_exactly(launch, sum_by):
    """No addition may be lost, however many threads contend for the slot."""
    values = np.random.default_rng(2).integers(-9, 10, (3, 1024))
    np.testing.assert_array_equal(total(launch, values, sum_by), values.sum(1))


@pytest.mark.parametrize("sum_by", [WAVE, TREE])
def test_each_thread_is_clamped_before_the_sum(launch, sum_by):
    """Claim 15: the clamp bounds each thread, not the workgroup's sum."""
    values = np.stack([np.full(1024, 25.0), np.full(1024, -1e6), np.where(np.arange(1024) % 2, 50.0, 3.0)])
    np.testing.assert_array_equal(total(launch, values, sum_by), [10 * 1024, -10 * 1024, 512 * 13])


ADD = """
import gradients;

StructuredBuffer<float> values;

[shader("compute")]
[numthreads(64, 1, 1)]
void test(uint i: SV_DispatchThreadID)
{
    atomicAccumulate(values[i], i % 2);
}
"""


def test_atomic_accumulate_loses_nothing(launch):
    values = np.random.default_rng(3).integers(-50, 51, 4096).astype(np.float32)
    bits = launch(ADD, 4096, dict(derivBuffer=(2, np.uint32)), values=values)
    np.testing.assert_array_equal(bits.view(np.float32), [values[0::2].sum(), values[1::2].sum()])


def test_clear_sets_every_gradient_to_zero(device):
    count = 37
    buffer = upload(device, np.full(9 * count + 5, 3.0, np.float32))
    bound = compile_kernel(device, "training", "clearDerivativesMain").bind(
        (9 * count, 1, 1), scene=scene_of(8, 8, count), derivBuffer=buffer
    )
    submit(device, [bound])
    got = download(buffer, np.float32, (9 * count + 5,))
    np.testing.assert_array_equal(got, np.r_[np.zeros(9 * count), np.full(5, 3.0)])
