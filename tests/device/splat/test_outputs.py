"""A .ply file holds what the kernels blend."""

import numpy as np
import pytest

import reference
from helpers.ply import read_ply
from splatscope.splat.files.ply import SH_C0, to_ply
from splatscope.splat.initialise import start_state
from splatscope.splat.settings import Settings
from splatscope.splat.trainer import Trainer

WIDTH, HEIGHT = 48, 32


def pixels() -> np.ndarray:
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    return np.stack([255 * x / WIDTH, 255 * y / HEIGHT, 128 + 0 * x], axis=-1).astype(np.uint8)


@pytest.fixture(params=["direct", "shipped"])
def trained(device, request):
    trainer = Trainer(device, start_state(Settings(model=request.param, blobs=40, size=48, iterations=60), pixels(), "ramp"))
    trainer.advance(60)
    return trainer


def test_a_ply_holds_the_gaussians_that_the_kernels_blend(trained):
    _, v = read_ply(to_ply(trained.snapshot().raw, (WIDTH, HEIGHT)))
    raw = trained.save().splats.raw.astype(np.float64)
    shipped = trained.state.settings.model == "shipped"
    g = reference.load_sample(raw, WIDTH, HEIGHT, 1e-4) if shipped else reference.load_direct(raw)
    side = max(WIDTH, HEIGHT)
    back = np.stack([(v["x"] * side + WIDTH - 1) / 2, (v["y"] * side + HEIGHT - 1) / 2], -1)
    assert np.allclose(back, g.center, atol=1e-3)
    assert np.allclose(0.5 + SH_C0 * np.stack([v[f"f_dc_{c}"] for c in range(3)], -1), g.color, atol=1e-5)
    assert np.allclose(1 / (1 + np.exp(-v["opacity"].astype(float))), g.opacity, atol=1e-5)

    # The covariance as a viewer makes it: R S Sᵀ Rᵀ, R from the quaternion.
    w, z = v["rot_0"].astype(float), v["rot_3"].astype(float)
    assert np.allclose(w**2 + z**2, 1, atol=1e-6)
    assert not np.any([v["rot_1"], v["rot_2"]])
    cos, sin = w * w - z * z, 2 * w * z
    turn = np.stack([np.stack([cos, -sin], -1), np.stack([sin, cos], -1)], -2)
    sigma = np.exp(np.stack([v["scale_0"], v["scale_1"]], -1).astype(float)) * side / 2
    covariance = turn @ (sigma[..., None] ** 2 * turn.swapaxes(-1, -2))
    conic = np.stack([np.stack([g.conic[:, 0], g.conic[:, 1]], -1), np.stack([g.conic[:, 1], g.conic[:, 2]], -1)], -2)
    variances, axes = np.linalg.eigh(np.linalg.inv(conic))
    variances = np.maximum(variances, reference.MIN_SIZE**2)  # the sample's may be thinner
    np.testing.assert_allclose(covariance, axes @ (variances[..., None] * axes.swapaxes(-1, -2)), rtol=5e-3, atol=5e-4)
