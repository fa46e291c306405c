"""Densification: where new Gaussians go, computed by NumPy alone."""

import numpy as np
import pytest

from splatscope.paths import ASSETS
from splatscope.splat import densify
from splatscope.splat.files.images import crop_picture
from splatscope.splat.initialise import start_state
from splatscope.splat.settings import Settings


def state_of(side=48, **chosen):
    picture = crop_picture((ASSETS / "astronaut.jpg").read_bytes(), "astronaut.jpg", side, side)
    return start_state(Settings(**{"blobs": 201, "iterations": 80} | chosen), picture.pixels, picture.name)


def seen(splats) -> int:
    return int((splats.raw[8] > -4.5).sum())


@pytest.mark.parametrize("chosen", [{"growth": False}, {"kernels": "tiled"}, {"model": "shipped"}])
def test_other_runs_have_all_from_the_start(chosen):
    state = state_of(**chosen)
    assert seen(state.splats) == 201
    assert densify.next_stage(state.settings, 0) is None


def test_new_ones_go_where_the_error_is_in_the_targets_colour():
    state = state_of()
    error = np.zeros((48, 48), np.float32)
    error[10:14, 30:40] = 0.5
    before = state.splats.raw.copy()
    added = densify.add(state.splats, state.target, error, state.settings, 40, state.generator)
    raw, new = state.splats.raw, np.arange(201) < 150
    assert added == 150
    assert np.array_equal(raw[:, ~new], before[:, ~new])
    x, y = np.rint(raw[:2, new]).astype(int)
    assert ((x >= 29) & (x <= 40) & (y >= 9) & (y <= 14)).all()
    assert np.ptp(x) > 5
    near = state.target[9:15, 29:41].reshape(-1, 3) / 255
    assert np.abs(raw[5:8, new].T[:, None] - near).max(axis=2).min(axis=1).max() < 1e-6


def test_useless_ones_are_moved_and_begin_anew():
    state = state_of()
    error = np.full((48, 48), 0.1, np.float32)
    densify.add(state.splats, state.target, error, state.settings, 40, state.generator)
    splats = state.splats
    splats.first_moment[:] = splats.second_moment[:] = 1
    splats.raw[8, 7] = -6
    splats.raw[0, 190] = 48 + 4 * np.exp(splats.raw[2:4, 190].max())
    before = splats.raw.copy()
    assert densify.add(splats, state.target, error, state.settings, 40, state.generator) == 2
    assert np.flatnonzero((splats.raw != before).any(axis=0)).tolist() == [7, 190]
    assert np.flatnonzero((splats.second_moment == 0).all(axis=0)).tolist() == [7, 190]
    assert densify.add(splats, state.target, error, state.settings, 40, state.generator) == 0
