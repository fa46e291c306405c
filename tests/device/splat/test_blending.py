"""blending.slang against its NumPy twin, and the laws that front-to-back blending obeys."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import reference

SOURCE = """
import blending;

StructuredBuffer<float4> pixels;
StructuredBuffer<float4> layers;
StructuredBuffer<uint> counts;
StructuredBuffer<uint> indices;
RWStructuredBuffer<float4> multiplied;
RWStructuredBuffer<float4> blended;
RWStructuredBuffer<float4> undone;
RWStructuredBuffer<float4> next;
RWStructuredBuffer<uint> nextCount;
RWStructuredBuffer<float4> previous;
RWStructuredBuffer<uint> previousCount;

[shader("compute")]
[numthreads(64, 1, 1)]
void test(uint i: SV_DispatchThreadID)
{
    multiplied[i] = preMult(layers[i]);
    blended[i] = alphaBlend(pixels[i], layers[i]);
    undone[i] = undoAlphaBlend(blended[i], layers[i]);
    PixelState after = transformPixelState({ pixels[i], counts[i] }, layers[i]);
    next[i] = after.value;
    nextCount[i] = after.finalCount;
    PixelState before = undoPixelState({ pixels[i], counts[i] }, indices[i], layers[i]);
    previous[i] = before.value;
    previousCount[i] = before.finalCount;
}
"""
N = 256
FLOAT4, UINT = ((N, 4), np.float32), (N, np.uint32)
OUTPUTS = dict(multiplied=FLOAT4, blended=FLOAT4, undone=FLOAT4, next=FLOAT4, nextCount=UINT, previous=FLOAT4, previousCount=UINT)

unit = st.floats(0, 1, width=32)
PIXELS = arrays(np.float32, (16, 4), elements=unit).map(lambda few: np.tile(few, (N // 16, 1)))
relaxed = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def blend(launch):
    def run(pixels, layers, counts=None, indices=None):
        zeros = np.zeros(N, np.uint32)
        counts, indices = (zeros if a is None else a.astype(np.uint32) for a in (counts, indices))
        results = launch(SOURCE, N, OUTPUTS, pixels=pixels, layers=layers, counts=counts, indices=indices)
        return dict(zip(OUTPUTS, results, strict=True))

    return run


def random_case(seed):
    rng = np.random.default_rng(seed)
    pixels, layers = rng.random((2, N, 4)).astype(np.float32)
    layers[:, 3] *= 0.99
    pixels[: N // 4, 3] *= 2 / 255  # around the guard
    return pixels, layers, rng.integers(0, 9, N), rng.integers(1, 10, N)


def test_every_function_agrees_with_its_twin(blend):
    pixels, layers, counts, indices = random_case(1)
    got = blend(pixels, layers, counts, indices)
    p, g = pixels.astype(float), layers.astype(float)
    np.testing.assert_allclose(got["multiplied"], reference.pre_mult(g), rtol=2e-7)
    np.testing.assert_allclose(got["blended"], reference.alpha_blend(p, g), rtol=4e-7)
    value, count = reference.transform_pixel_state(p, counts, g)
    np.testing.assert_allclose(got["next"], value, rtol=4e-7)
    np.testing.assert_array_equal(got["nextCount"], count)
    value, count = reference.undo_pixel_state(p, counts, indices, g)
    np.testing.assert_allclose(got["previous"], value, rtol=1e-6, atol=2e-5)
    np.testing.assert_array_equal(got["previousCount"], count)


@relaxed
@given(pixels=PIXELS, layers=PIXELS)
def test_undo_returns_to_the_pixel_before(blend, pixels, layers):
    layers[:, 3] = np.minimum(layers[:, 3], np.float32(0.99))
    undone = blend(pixels, layers)["undone"]
    np.testing.assert_allclose(undone[:, 3], pixels[:, 3], rtol=2e-5, atol=1e-37)
    np.testing.assert_allclose(undone[:, :3], pixels[:, :3], atol=2e-5)


@relaxed
@given(pixels=PIXELS, layers=PIXELS)
def test_blending_only_darkens_the_way_and_adds_light(blend, pixels, layers):
    blended = blend(pixels, layers)["blended"]
    assert (blended[:, 3] <= pixels[:, 3]).all()
    assert (blended[:, :3] >= pixels[:, :3]).all()


def test_the_first_layer_is_the_nearest(blend):
    red, blue = np.array([1, 0, 0, 0.5]), np.array([0, 0, 1, 0.5])

    def stack(*layers):
        pixel = np.tile(np.float32([0, 0, 0, 1]), (N, 1))
        for layer in layers:
            pixel = blend(pixel, np.tile(layer.astype(np.float32), (N, 1)))["blended"]
        return pixel[0, :3]

    np.testing.assert_array_equal(stack(red, blue), [0.5, 0, 0.25])
    np.testing.assert_array_equal(stack(blue, red), [0.25, 0, 0.5])


def test_an_opaque_pixel_is_left_alone_and_not_undone(blend):
    pixels = np.tile(np.float32([0.3, 0.2, 0.1, 1 / 256]), (N, 1))
    layers = np.full((N, 4), 0.5, np.float32)
    got = blend(pixels, layers, counts=np.full(N, 7), indices=np.full(N, 8))
    np.testing.assert_array_equal(got["next"], pixels)
    np.testing.assert_array_equal(got["nextCount"], 7)
    np.testing.assert_array_equal(got["previous"], pixels)
    np.testing.assert_array_equal(got["previousCount"], 7)


def test_the_guard_does_not_stop_a_layer_of_alpha_one(blend):
    """Claim 4: the guard looks at the pixel before the blend, so T = 1 takes α = 1, and the undo divides nothing by nothing."""
    pixels = np.tile(np.float32([0, 0, 0, 1]), (N, 1))
    undone = blend(pixels, np.ones((N, 4), np.float32))["undone"]
    assert np.isnan(undone).all()
