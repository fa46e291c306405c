"""Whole pictures: imageMain and simpleImageMain against the twin, for every model, tile and background, at awkward sizes."""

import numpy as np
import pytest

import reference
from helpers.scenes import direct_raw, scattered
from splatscope.splat.settings import TILES, Settings
from splatscope.splat.state import AdamState, TrainingState
from splatscope.splat.trainer import Trainer

WIDTH, HEIGHT = 43, 29


def look_at(device, raw, target=None, kernels="tiled", **chosen):
    settings = Settings(blobs=raw.shape[1], kernels=kernels, **chosen)
    target = np.zeros((HEIGHT, WIDTH, 3), np.uint8) if target is None else target
    state = TrainingState(settings, target, "", AdamState.start(raw.astype(np.float32)), np.random.default_rng(0))
    return Trainer(device, state).look()


def pixel_grid(width=WIDTH, height=HEIGHT):
    return np.stack(np.meshgrid(np.arange(width), np.arange(height)), -1).reshape(-1, 2).astype(float)


def expected_picture(g, count, **options):
    return reference.render_list(g, np.arange(count), pixel_grid(), **options).reshape(HEIGHT, WIDTH, 3)


@pytest.mark.parametrize("tile", list(TILES))
@pytest.mark.parametrize("background", ["correct", "shipped"])
def test_tiled_direct(device, tile, background):
    raw = scattered(120, np.random.default_rng(1), log_size=(0.0, 2.0)).astype(np.float32)
    look = look_at(device, raw, tile=tile, background=background)
    expected = expected_picture(reference.load_direct(raw.astype(float)), 120, sample_background=background == "shipped")
    # What a box at four standard deviations cuts off is up to 3.4e-4 a Gaussian.
    np.testing.assert_allclose(look.picture, expected, atol=2e-3)
    assert np.abs(look.picture - expected).mean() < 1e-4
    assert look.overflowed_tiles == 0


def test_tiled_shipped(device):
    raw = np.random.default_rng(2).random((9, 150)).astype(np.float32)
    look = look_at(device, raw, model="shipped")
    expected = expected_picture(reference.load_sample(raw.astype(float), WIDTH, HEIGHT, 1e-4), 150)
    np.testing.assert_allclose(look.picture, expected, atol=2e-3)


@pytest.mark.parametrize("model", ["direct", "shipped"])
def test_simple(device, model):
    rng = np.random.default_rng(3)
    raw = direct_raw(rng, 32) if model == "direct" else rng.random((9, 32)).astype(np.float32)
    look = look_at(device, raw, kernels="simple", model=model)
    load = (
        reference.load_direct(raw.astype(float))
        if model == "direct"
        else reference.load_sample(raw.astype(float), WIDTH, HEIGHT, 5e-3)
    )
    np.testing.assert_allclose(look.picture, expected_picture(load, 32, guard=False), atol=3e-5)
    assert look.list_lengths.size == 0


def test_simple_and_tiled_draw_the_same_picture(device):
    raw = scattered(32, np.random.default_rng(4), log_size=(0.5, 2.0))
    pictures = [look_at(device, raw, kernels=kernels).picture for kernels in ("simple", "tiled")]
    np.testing.assert_allclose(*pictures, atol=1 / 255)  # the guard leaves out less than one 8-bit step


def test_a_white_gaussian_on_white_is_white(device):
    """Claim 2: the shipped formula weights the light twice and gives .75 at α = ½."""
    raw = np.zeros((9, 1), np.float32)
    raw[0], raw[1], raw[2:4], raw[5:8] = 20, 14, 9.0, 1.0  # so wide that it is flat; logit 0 is opacity ½
    for background, expected in (("correct", 1.0), ("shipped", 0.75)):
        picture = look_at(device, raw, background=background).picture
        np.testing.assert_allclose(picture[14, 20], expected, atol=1e-4)


def test_measures(device):
    rng = np.random.default_rng(5)
    target = rng.integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)
    raw = scattered(80, rng, log_size=(0.5, 2.0))
    raw[5:8] = rng.uniform(-0.5, 2.0, (3, 80))  # so that the picture leaves 0…1
    look = look_at(device, raw, target)
    difference = look.picture.astype(float) - target / 255
    visible = np.clip(look.picture, 0, 1).astype(float) - target / 255
    assert np.abs(difference - visible).max() > 0.1
    assert look.loss == pytest.approx((difference**2).sum(2).mean(), rel=1e-5)
    assert look.psnr == pytest.approx(-10 * np.log10((visible**2).mean()), abs=1e-4)
    np.testing.assert_allclose(look.error, np.sqrt((visible**2).mean(2)), atol=1e-5)


def test_overflow_is_counted_and_the_picture_stays_sound(device):
    raw = scattered(700, np.random.default_rng(6), log_size=(3.0, 3.5))
    look = look_at(device, raw)
    assert (look.list_lengths == 700).all()
    assert look.overflowed_tiles == look.list_lengths.size
    assert np.isfinite(look.picture).all()


def test_ellipses_are_the_gaussians_at_two_standard_deviations(device):
    raw = direct_raw(np.random.default_rng(7), 50)
    got = look_at(device, raw).ellipses
    g = reference.load_direct(raw.astype(float))
    np.testing.assert_allclose(got[:, :2], g.center, rtol=1e-6)
    np.testing.assert_allclose(np.sort(got[:, 4:6]), np.sort(2 / np.sqrt(np.linalg.eigvalsh(conic_matrix(g)))), rtol=1e-3)
    np.testing.assert_allclose(got[:, 6], g.opacity, rtol=1e-5)
    np.testing.assert_allclose(got[:, 7:], g.color, rtol=1e-6)


def conic_matrix(g):
    return np.stack([g.conic[:, :2], g.conic[:, 1:]], axis=1)
