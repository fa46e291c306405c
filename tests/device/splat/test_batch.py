"""Several pictures in one run: each is fitted as if it were alone."""

import numpy as np
import pytest

from splatscope.gpu.device import open_device
from splatscope.paths import ASSETS
from splatscope.splat.batch import join, most_pictures, split
from splatscope.splat.files.images import crop_picture
from splatscope.splat.initialise import start_state
from splatscope.splat.settings import Settings
from splatscope.splat.trainer import Snapshot, Trainer

COUNT, ITERATIONS = 120, 300
NAMES = ["a", "b", "c"]


def started(target: np.ndarray, **settings):
    return start_state(Settings(blobs=COUNT, iterations=ITERATIONS, **settings), target, "picture")


def trained(state) -> Snapshot:
    trainer = Trainer(open_device(), state)
    trainer.advance(ITERATIONS)
    return trainer.snapshot()


def pictures(width: int, height: int) -> list[np.ndarray]:
    return [crop_picture((ASSETS / f"{name}.jpg").read_bytes(), name, width, height).pixels for name in ("astronaut", "coffee")]


@pytest.mark.parametrize(("width", "height"), [(64, 48), (48, 45)])  # whole tiles; tiles that go over the edge
def test_pictures_of_a_batch_are_fitted_as_well_as_alone(width, height):
    targets = pictures(width, height)
    states = [started(target) for target in (*targets, targets[0])]
    assert most_pictures(states[0]) > 3
    parts = split(trained(join(states)), NAMES[: len(states)])
    for part, state in zip(parts, states, strict=True):
        alone = trained(started(state.target)).look
        assert part.look.psnr == pytest.approx(alone.psnr, abs=1.5)  # as seeds differ
        assert part.look.psnr > 24
        assert part.look.picture.shape == alone.picture.shape
        assert part.look.error.shape == alone.error.shape
        assert part.look.list_lengths.shape == alone.list_lengths.shape
        assert part.look.ellipses.shape == alone.ellipses.shape
        assert (part.look.loss, part.look.psnr) == (part.state.history["loss"][-1], part.state.history["psnr"][-1])


def test_part_of_a_batch_is_a_run_of_its_own():
    states = [started(target) for target in pictures(64, 48)]
    part = split(trained(join(states)), NAMES[: len(states)])[1]
    assert (part.state.settings.blobs, part.state.target_name) == (COUNT, "b")
    np.testing.assert_array_equal(part.state.target, states[1].target)
    assert part.state.step == ITERATIONS
    again = Trainer(open_device(), part.state).look()  # its Gaussians, without those of the other picture
    np.testing.assert_allclose(again.picture, part.look.picture, atol=2e-3)
    np.testing.assert_allclose(again.error, part.look.error, atol=2e-3)
    np.testing.assert_allclose(again.ellipses, part.look.ellipses, rtol=1e-4, atol=1e-3)
    assert again.psnr == pytest.approx(part.look.psnr, abs=0.01)
    assert again.loss == pytest.approx(part.look.loss, rel=0.01)


def test_no_picture_of_a_batch_shows_in_another():
    dark, bright = np.zeros((48, 64, 3), np.uint8), np.full((48, 64, 3), 255, np.uint8)
    states = [started(target) for target in (dark, bright, dark)]
    state = join(states)
    state.splats.raw[2:4] = 3.0  # sizes of 20 pixels, far beyond the edge
    state.splats.raw[8] = 3.0
    parts = split(Trainer(open_device(), state).snapshot(), NAMES)
    assert parts[1].look.picture.min() > 0.999
    assert all(parts[index].look.picture.max() < 0.1 for index in (0, 2))


@pytest.mark.parametrize(
    ("size", "settings", "most"),
    [
        ((64, 48), {}, 131_072 // COUNT),
        ((512, 512), {}, 32),
        ((512, 341), {}, 46),
        ((2048, 2048), {}, 2),
        ((4096, 2048), {}, 1),
        ((61, 40), {}, 1),  # blocks would take 256 rows
        ((64, 48), {"reproducible": True}, 1),
        ((64, 48), {"kernels": "tiled"}, 1),
        ((64, 48), {"model": "shipped"}, 1),
        ((64, 48), {"loss": "l1"}, 131_072 // COUNT),
        ((64, 48), {"loss": "l1+ssim"}, 1),  # its windows reach beyond a picture
    ],
)
def test_batch_is_as_large_as_keeps_a_device_busy(size, settings, most):
    width, height = size
    assert most_pictures(started(np.zeros((height, width, 3), np.uint8), **settings)) == most


def test_padding_of_a_batch_weighs_nothing():
    targets = pictures(48, 45)
    state = join([started(target) for target in targets])
    assert state.target.shape == (96, 48, 4)
    assert not state.target.reshape(2, 48, 48, 4)[:, 45:].any()
    snapshot = Trainer(open_device(), state).snapshot()
    assert not snapshot.look.error.reshape(2, 48, 48)[:, 45:].any()
    pixels = state.target[..., 3].any(axis=1)
    error = (snapshot.look.picture - state.target[..., :3] / 255.0)[pixels]
    assert snapshot.look.loss == pytest.approx(np.sum(error**2) / (96 * 48), rel=1e-4)


def test_run_that_has_begun_is_alone():
    state = started(np.zeros((48, 64, 3), np.uint8))
    state.step = 1
    assert most_pictures(state) == 1


def test_one_picture_is_no_batch():
    state = started(np.zeros((48, 64, 3), np.uint8))
    assert join([state]) is state
    snapshot = Trainer(open_device(), state).snapshot()
    assert split(snapshot, NAMES[:1]) == [snapshot]
