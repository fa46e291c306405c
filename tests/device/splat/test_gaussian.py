"""gaussian.slang and obb.slang against their NumPy twins."""

import numpy as np
import pytest

import reference
from helpers.scenes import direct_raw, scene_of

WIDTH, HEIGHT, N = 40, 24, 512

LOAD = """
import gaussian;
import obb;

RWStructuredBuffer<float2> center;
RWStructuredBuffer<float4> shape;
RWStructuredBuffer<float3> color;
RWStructuredBuffer<float2> boxAxis;
RWStructuredBuffer<float2> boxSize;
RWStructuredBuffer<float4> seen;
StructuredBuffer<float2> pixels;

[shader("compute")]
[numthreads(64, 1, 1)]
void test(uint i: SV_DispatchThreadID)
{
    Gaussian2D g = Gaussian2D.load(i, 0);
    center[i] = g.center;
    shape[i] = float4(g.conic, g.opacity);
    color[i] = g.color;
    OBB box = g.bounds();
    boxAxis[i] = box.axis;
    boxSize[i] = box.halfSize;
    seen[i] = eval(i, pixels[i], 0);
}
"""
F2, F3, F4 = (((N, k), np.float32) for k in (2, 3, 4))
OUTPUTS = dict(center=F2, shape=F4, color=F3, boxAxis=F2, boxSize=F2, seen=F4)


@pytest.fixture(scope="module", params=["direct", "shipped"])
def loaded(request, launch):
    rng = np.random.default_rng(3)
    if request.param == "direct":
        raw = direct_raw(rng)
        g = reference.load_direct(raw.astype(float))
    else:
        raw = rng.random((9, N)).astype(np.float32)
        g = reference.load_sample(raw.astype(float), WIDTH, HEIGHT, 5e-3)
    pixels = (g.center + rng.normal(0, 3, (N, 2))).astype(np.float32)
    constants = {"SAMPLE_MODEL": int(request.param == "shipped"), "SAMPLE_SCALE": 5e-3}
    results = launch(LOAD, N, OUTPUTS, constants, scene=scene_of(WIDTH, HEIGHT, N), blobsBuffer=raw.reshape(-1), pixels=pixels)
    return dict(zip(OUTPUTS, results, strict=True)), g, pixels


def test_load(loaded):
    got, g, _ = loaded
    np.testing.assert_allclose(got["center"], g.center, rtol=2e-6)
    largest = np.abs(g.conic).max(axis=1, keepdims=True)
    np.testing.assert_allclose(got["shape"][:, :3] / largest, g.conic / largest, atol=3e-6)
    np.testing.assert_allclose(got["color"], g.color, rtol=2e-6, atol=1e-7)
    np.testing.assert_allclose(got["shape"][:, 3], g.opacity, rtol=2e-6)


def test_eval(loaded):
    got, g, pixels = loaded
    expected = np.stack([reference.evaluate(g, i, pixels[i : i + 1].astype(float))[0] for i in range(N)])
    np.testing.assert_allclose(got["seen"], expected, atol=2e-5)
    assert (expected[:, 3] > 0.01).sum() > N // 4  # the pixels do lie on their Gaussians


def test_bounds_are_the_ellipse_at_four_standard_deviations(loaded):
    got, g, _ = loaded
    axis, across = got["boxAxis"].astype(float), np.stack([-got["boxAxis"][:, 1], got["boxAxis"][:, 0]], -1).astype(float)
    np.testing.assert_allclose(np.linalg.norm(axis, axis=1), 1, rtol=1e-6)
    matrix = np.stack([g.conic[:, :2], g.conic[:, 1:]], axis=1)
    for direction, half in ((axis, got["boxSize"][:, 0]), (across, got["boxSize"][:, 1])):
        distance2 = np.einsum("nc,ncd,nd->n", direction, matrix, direction) * half.astype(float) ** 2
        np.testing.assert_allclose(np.sqrt(distance2), reference.BOX_SIGMAS, rtol=2e-4)


TOUCH = """
import obb;

StructuredBuffer<float2> centers;
StructuredBuffer<float2> axes;
StructuredBuffer<float2> sizes;
RWStructuredBuffer<uint> touches;


[shader("compute")]
[numthreads(64, 1, 1)]
void test(uint i: SV_DispatchThreadID)
{
    OBB a = { centers[2 * i], axes[2 * i], sizes[2 * i] };
    OBB b = { centers[2 * i + 1], axes[2 * i + 1], sizes[2 * i + 1] };
    touches[i] = uint(a.intersects(b)) + 2 * uint(b.intersects(a));
}
"""


def test_intersects(launch):
    rng = np.random.default_rng(5)
    angle = rng.uniform(0, 2 * np.pi, 2 * N)
    boxes = reference.Boxes(
        rng.uniform(-3, 3, (2 * N, 2)), np.stack([np.cos(angle), np.sin(angle)], -1), rng.uniform(0.05, 2, (2 * N, 2))
    )
    got = launch(
        TOUCH.replace("\n", ""),
        N,
        dict(touches=(N, np.uint32)),
        centers=boxes.center.astype(np.float32),
        axes=boxes.axis.astype(np.float32),
        sizes=boxes.half_size.astype(np.float32),
    )
    pair = [reference.Boxes(boxes.center[k::2], boxes.axis[k::2], boxes.half_size[k::2]) for k in (0, 1)]
    expected = reference.intersects(*pair)
    assert 0.2 < expected.mean() < 0.8
    np.testing.assert_array_equal(got, np.where(expected, 3, 0))


def test_two_boxes_with_a_common_point_touch(launch):
    """A second opinion on the twin: points sampled inside both boxes are proof, whatever separating axes say."""
    rng = np.random.default_rng(6)
    angle = rng.uniform(0, np.pi, (2, 200))
    a, b = (
        reference.Boxes(rng.uniform(-2, 2, (200, 2)), np.stack([np.cos(t), np.sin(t)], -1), rng.uniform(0.1, 1.5, (200, 2)))
        for t in angle
    )
    inside = rng.uniform(-1, 1, (200, 4000, 2)) * a.half_size[:, None]
    across = np.stack([-a.axis[:, 1], a.axis[:, 0]], -1)
    points = a.center[:, None] + inside[..., :1] * a.axis[:, None] + inside[..., 1:] * across[:, None]
    local = points - b.center[:, None]
    along = np.abs(np.einsum("nkc,nc->nk", local, b.axis)) <= b.half_size[:, :1]
    beside = np.abs(np.einsum("nkc,nc->nk", local, np.stack([-b.axis[:, 1], b.axis[:, 0]], -1))) <= b.half_size[:, 1:]
    shared = (along & beside).any(axis=1)
    assert shared.sum() > 20
    assert reference.intersects(a, b)[shared].all()
